#pragma once
// A whole attention kernel from shape and schedule: the emitters of this folder in their order.
// Thin on purpose; it is the shortest complete use of them and what their tests run.

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>

#include "compiler/lowering/KernelFrame.h"
#include "compiler/lowering/Schedule.h"
#include "compiler/target/TargetFacts.h"

namespace wavesmith::compiler {

/// Appends kernel `name` to the module; `limits` says which keys a query sees (shape.causal is not
/// asked). `unsupportedReason` must be empty for the combination.
void emitAttention(mlir::ModuleOp module, llvm::StringRef name, const KernelShape &shape,
                   const Schedule &schedule, const TargetFacts &target, const KeyLimits &limits);
/// A module of that one kernel, with the causal limit if shape.causal, in the LLVM and ROCDL
/// dialects, alias scopes attached; null with a diagnostic when the combination is unsupported.
mlir::OwningOpRef<mlir::ModuleOp> emitAttention(const KernelShape &shape, const Schedule &schedule,
                                                const TargetFacts &target, llvm::StringRef name,
                                                mlir::MLIRContext &context);

} // namespace wavesmith::compiler
