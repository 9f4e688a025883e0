#pragma once
// llvm-mc as an oracle: what it prints for instruction words. Runs in child processes, since it
// crashes on some words; a crash is narrowed down to the words that cause it. Any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wavesmith::emulator::oracle {

struct Words {
  std::uint32_t word[4] = {};
  int count = 1;
};

struct Answer {
  bool crashed = false;
  bool marked = false;             ///< decoded, with an operand that llvm-mc calls invalid
  std::optional<std::string> text; ///< none: not an instruction
};

/// One answer per input, for the first instruction in it.
std::vector<Answer> askLlvm(const std::vector<Words> &inputs, const std::string &target);

} // namespace wavesmith::emulator::oracle
