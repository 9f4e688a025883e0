#pragma once
// The signs of the rotation that quantisers apply to queries and keys before a Hadamard transform:
// a function of seed and column alone, so every kernel, host and test has the same. Pure.

#include <cstdint>

namespace wavesmith {

/// Mixes all bits (the finaliser "lowbias32" of C. Wellons, public domain).
constexpr std::uint32_t mixBits(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  x ^= x >> 16;
  return x;
}

/// Whether the rotation of `seed` changes the sign of a column.
constexpr bool rotationNegates(std::uint32_t seed, std::uint32_t column) {
  return (mixBits(mixBits(seed) + column) >> 31) != 0;
}

} // namespace wavesmith
