#include "runtime/verify/Random.h"

#include <cmath>
#include <numbers>

namespace wavesmith {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;

} // namespace

std::uint64_t randomBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return mix(mix(mix(seed + kStep) + stream * kStep) + (index + 1) * kStep);
}

NormalPair randomNormals(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  // Uniform in (0, 1]: 53 bits, never 0, so the logarithm is finite.
  const auto uniform = [&](std::uint64_t which) {
    return static_cast<double>((randomBits(seed, stream, 2 * index + which) >> 11) + 1) * 0x1p-53;
  };
  const double radius = std::sqrt(-2 * std::log(uniform(0)));
  const double angle = 2 * std::numbers::pi * uniform(1);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace wavesmith
