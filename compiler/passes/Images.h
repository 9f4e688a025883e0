#pragma once
// Between the LDS images of compiler/lowering and the attributes that show them in the IR.

#include "compiler/lowering/Schedule.h"
#include "dialects/tile/Tile.h"

namespace wavesmith::compiler {

inline tile::LdsKind kindOf(const LdsImage &image) {
  switch (image.kind) {
  case LdsImage::Kind::RowLines:
    return tile::LdsKind::Rows;
  case LdsImage::Kind::Transposed:
    return tile::LdsKind::Transposed;
  case LdsImage::Kind::TransposeReads:
    return tile::LdsKind::TransposeReads;
  }
  llvm_unreachable("all kinds are above");
}

/// Whether a tile of that kind travels by LDS DMA; else it passes through registers.
inline bool isDma(tile::LdsKind kind) { return kind != tile::LdsKind::Transposed; }

} // namespace wavesmith::compiler
