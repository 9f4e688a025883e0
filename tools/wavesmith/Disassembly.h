#pragma once
// A kernel's code as text, with the emulator's own table, and what kinds of instruction it has.
// Values; any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/codeobject/CodeObject.h"

namespace wavesmith::cli {

struct Instruction {
  std::uint64_t pc = 0; ///< relative to the kernel's entry
  std::vector<std::uint32_t> words;
  std::string text;
  std::string source; ///< "dir/file.cl:12:5" where the object has debug information
};

struct Disassembly {
  std::vector<Instruction> instructions;
  std::vector<std::pair<std::string, std::uint64_t>> mix; ///< kind and count, fixed order
  std::uint64_t unknown = 0;                              ///< words that the table does not know
};

/// A line that names the source of what follows, or nothing where it is that of `before`.
std::string sourceHeading(const Instruction *before, const Instruction &instruction);

/// An encoding that the table does not know becomes a ".long" line and is counted.
Disassembly disassembleKernel(const CodeObject &object, const KernelInfo &kernel);

/// "mfma", "valu", "transcendental", "lds", "vector memory", "scalar memory", "scalar", "branch",
/// "wait and barrier".
std::string_view instructionKind(std::string_view mnemonic);

} // namespace wavesmith::cli
