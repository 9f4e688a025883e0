#pragma once
// The random numbers of the generator: the same from a seed with every standard library.

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>

namespace wavesmith::differential {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() { // SplitMix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); } ///< both included
  bool chance(int percent) { return below(100) < percent; }
  /// An index, each as likely as its weight says.
  int weighted(std::span<const int> weights) {
    int total = 0;
    for (int weight : weights)
      total += weight;
    int at = below(total), index = 0;
    while (at >= weights[static_cast<std::size_t>(index)])
      at -= weights[static_cast<std::size_t>(index++)];
    return index;
  }
  int weighted(std::initializer_list<int> weights) {
    return weighted(std::span<const int>(weights.begin(), weights.size()));
  }
  template <class C> auto &among(C &values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(std::size(values))))];
  }
  template <class T> T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }

private:
  std::uint64_t state_;
};

} // namespace wavesmith::differential
