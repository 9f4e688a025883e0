#pragma once
// Arithmetic on what a lane holds of a row: conversions and the rotation. Pure emission.

#include "compiler/rows/LaneOps.h"
#include "compiler/rows/RowMemory.h"

namespace wavesmith::compiler {

/// Converts elements; null elements when no conversion from one type to the other exists.
RowElements convertRow(mlir::ImplicitLocOpBuilder &builder, const RowElements &elements,
                       mlir::Type from, mlir::Type to);

/// tile.rotate of a row of `size` float32 whose first element is column `first`.
RowElements rotateRow(mlir::ImplicitLocOpBuilder &builder, LaneOps &lanes, RowElements elements,
                      int size, const RowLayout &layout, mlir::Value laneInRow, std::uint32_t seed,
                      int first);

} // namespace wavesmith::compiler
