#pragma once
// Reads a scheduled tile kernel: which op is what in the two-phase loop, and the figures that
// earlier passes decided. Anything that the emitters of compiler/lowering cannot carry out is an
// error at the op that asks for it, so nothing of the IR is ever ignored.

#include <mlir/Support/LogicalResult.h>

#include "compiler/lowering/KernelFrame.h"
#include "compiler/passes/MaskLimit.h"
#include "dialects/tile/Tile.h"

namespace wavesmith::compiler {

struct ScheduledKernel {
  struct Mask {
    MaskLimit limit;
    llvm::SmallVector<mlir::Value KernelArguments::*> values; ///< that the function is given
  };

  tile::KernelOp kernel;
  const TargetFacts *target = nullptr;
  KernelShape shape;
  Schedule schedule;
  llvm::SmallVector<Mask> masks; ///< in the order of application

  static mlir::FailureOr<ScheduledKernel> read(tile::KernelOp kernel);
};

} // namespace wavesmith::compiler
