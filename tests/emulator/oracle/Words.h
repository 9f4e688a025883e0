#pragma once
// Draws instruction words: every opcode of every format with several operand mixes, and random
// words. The same seed gives the same words. Plain values.

#include <vector>

#include "tests/emulator/oracle/LlvmMc.h"

namespace wavesmith::emulator::oracle {

/// `rounds` inputs for each opcode of each format.
std::vector<Words> systematicWords(std::uint64_t seed, int rounds);
std::vector<Words> randomWords(std::uint64_t seed, std::size_t count);

} // namespace wavesmith::emulator::oracle
