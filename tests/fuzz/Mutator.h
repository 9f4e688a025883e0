#pragma once
// Deterministic damage to inputs, for the replay without libFuzzer: flipped bits, interesting
// bytes, length fields, truncation, moved and spliced ranges. Owns only its random state.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith::fuzz {

class Mutator {
public:
  explicit Mutator(std::uint64_t seed) : state_(seed) {}

  /// One to four kinds of damage to `input`; `other` is spliced in.
  std::string mutate(std::string input, const std::string &other) {
    for (std::uint64_t n = 1 + below(4); n != 0; --n)
      damage(input, other);
    return input;
  }
  /// Uniform in [0, limit); 0 for limit 0.
  std::size_t below(std::uint64_t limit) {
    // splitmix64: the same sequence with every standard library.
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return limit == 0 ? 0 : static_cast<std::size_t>((z ^ (z >> 31)) % limit);
  }

private:
  void damage(std::string &input, const std::string &other) {
    const std::size_t at = below(input.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(input.size() - at, 32));
    switch (input.empty() ? 7 : below(9)) {
    case 0:
      input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
      break;
    case 1:
      input[at] = "\0\xff\x7f\x80\x01 \"0-,:{[\n"[below(14)];
      break;
    case 2:
      field(input, at, 4);
      break;
    case 3:
      field(input, at, std::size_t{2} << (2 * below(2)));
      break;
    case 4:
      input.resize(at);
      break;
    case 5:
      input.erase(at, length);
      break;
    case 6:
      input.insert(below(input.size()), input.substr(at, length));
      break;
    case 7: {
      const std::size_t from = below(other.size());
      input.insert(at, other.substr(from, 1 + below(64)));
      break;
    }
    default: {
      const std::size_t from = below(other.size());
      input = input.substr(0, at) + other.substr(from);
    }
    }
    if (input.size() > kMaxBytes)
      input.resize(kMaxBytes);
  }

  /// A little-endian number of `bytes` bytes, as a length or an offset may be, changed.
  void field(std::string &input, std::size_t at, std::size_t bytes) {
    at &= ~(bytes - 1);
    if (input.size() < at + bytes)
      return;
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(input[at + i]);
    const std::uint64_t choices[] = {value + 1,
                                     value - 1,
                                     0,
                                     ~std::uint64_t{0},
                                     input.size(),
                                     input.size() - at,
                                     std::uint64_t{1} << below(8 * bytes),
                                     value << 1,
                                     (~std::uint64_t{0} >> 1) - below(16)};
    value = choices[below(std::size(choices))];
    for (std::size_t i = 0; i < bytes; ++i)
      input[at + i] = static_cast<char>(value >> (8 * i));
  }

  static constexpr std::size_t kMaxBytes = 1 << 16;
  std::uint64_t state_;
};

} // namespace wavesmith::fuzz
