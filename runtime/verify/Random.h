#pragma once
// Test data that is the same on every host and in any order of evaluation: a counter-based
// generator, value i of stream s depends on (seed, s, i) only. Pure functions.

#include <cstdint>

namespace wavesmith {

/// 64 random bits of a counter.
std::uint64_t randomBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// Two independent standard-normal values (Box-Muller in double).
struct NormalPair {
  double first, second;
};
NormalPair randomNormals(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

} // namespace wavesmith
