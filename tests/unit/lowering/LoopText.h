#pragma once
// Reads llc's assembly back: the main loops of a kernel with their instructions in order, so that
// tests can state what a loop may contain.

#include <string>
#include <vector>

namespace wavesmith::compiler::testing {

struct Instruction {
  std::string mnemonic; ///< without _e32 / _e64
  std::string operands;
};

/// One trip through a main loop (two barriers) along its common path.
struct MainLoop {
  std::vector<Instruction> body;

  int count(const std::string &prefix) const; ///< mnemonics that start with it
  int vectorAlu() const;                      ///< v_*, MFMA excluded
  /// Index of the n-th instruction whose mnemonic starts with the prefix; -1 if there is none.
  int find(const std::string &prefix, int n = 0) const;
  int findLast(const std::string &prefix) const;
  /// All counts "vmcnt" or "lgkmcnt" waits ask for, in order.
  std::vector<int> waits(const std::string &counter) const;
};

std::vector<MainLoop> mainLoops(const std::string &assembly);

} // namespace wavesmith::compiler::testing
