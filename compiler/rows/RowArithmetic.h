#pragma once
// Arithmetic on what a lane holds of a row: conversions and the Hadamard transform. Pure emission.

#include "compiler/rows/LaneOps.h"
#include "compiler/rows/RowMemory.h"

namespace wavesmith::compiler {

/// Converts elements; null elements when no conversion from one type to the other exists.
RowElements convertRow(mlir::ImplicitLocOpBuilder &builder, const RowElements &elements,
                       mlir::Type from, mlir::Type to);

/// The orthonormal transform of a row of `size` float32.
RowElements hadamardRow(mlir::ImplicitLocOpBuilder &builder, LaneOps &lanes, RowElements elements,
                        int size, const RowLayout &layout, mlir::Value laneInRow);

} // namespace wavesmith::compiler
