#pragma once
// Q of one wave, straight from memory to registers: lane (c, h) holds of its query row c the bytes
// 32 x + 16 h of every 32-byte chunk x. K fragments are cut the same way, so any order of k serves.

#include "compiler/lowering/KernelFrame.h"

namespace wavesmith::compiler {

class QueryFragments {
public:
  /// Requests the rows; rows past the sequence's end read 0. First use waits.
  explicit QueryFragments(KernelFrame &frame);
  /// Splits the loaded chunks into operands; emit it where the values may be waited for.
  void emitOperands();
  /// Operand of k step `step`.
  mlir::Value operand(int step) const { return operands_[step]; }

private:
  KernelFrame &frame_;
  mlir::SmallVector<mlir::Value> chunks_, operands_;
};

} // namespace wavesmith::compiler
