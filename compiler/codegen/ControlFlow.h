#pragma once
// Blocks and natural loops of a disassembled kernel. A block that dominates every latch of its loop
// runs in each iteration; the others (a rarely taken rescale, wherever it is laid out) are the
// loop's cold part. Values; any thread.

#include <cstdint>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>

#include "compiler/codegen/Disassembly.h"

namespace wavesmith::compiler {

struct BasicBlock {
  unsigned begin = 0, end = 0; ///< half-open range of instruction indices
  llvm::SmallVector<unsigned, 2> successors, predecessors;
};

struct Loop {
  unsigned header = 0;             ///< block index
  std::vector<unsigned> blocks;    ///< all, ascending
  std::vector<unsigned> latches;   ///< blocks with the edge back to the header
  std::vector<unsigned> everyTime; ///< blocks that each iteration runs, in execution order
};

class ControlFlow {
public:
  /// An error names a branch that leaves the kernel.
  static llvm::Expected<ControlFlow> build(const std::vector<Instruction> &instructions);

  const std::vector<BasicBlock> &blocks() const { return blocks_; }
  /// By header address.
  const std::vector<Loop> &loops() const { return loops_; }

private:
  llvm::Error findBlocks(const std::vector<Instruction> &instructions);
  void findDominators();
  void findLoops();
  bool dominates(unsigned a, unsigned b) const;

  std::vector<BasicBlock> blocks_;
  std::vector<int> immediateDominator_; ///< -1: unreachable
  std::vector<Loop> loops_;
};

} // namespace wavesmith::compiler
