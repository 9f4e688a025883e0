#pragma once
// What the K and the V stream share: a cursor over the unit's key rows that advances on the scalar
// unit with a 64-bit base, a descriptor that covers just the rows left of one tile, and the reads
// of operand fragments from LDS. Rows past kv1 read as zeros and never touch memory.

#include "compiler/lowering/KernelFrame.h"

namespace wavesmith::compiler {

/// Where the next tile starts; both uniform and carried by the loop.
struct StreamCursor {
  mlir::Value pointer;  ///< its first row
  mlir::Value rowsLeft; ///< rows up to kv1; may be negative
};

class TileStream {
public:
  using Value = mlir::Value;

  TileStream(KernelFrame &frame, const LdsImage &image, Value base, Value rowStride,
             Value headStride);

  StreamCursor begin() const { return begin_; }
  StreamCursor advance(StreamCursor cursor);
  Value descriptor(StreamCursor cursor);

  const LdsImage &image() const { return image_; }
  int transfers() const { return static_cast<int>(image_.transfers.size()); }
  int fragments() const { return static_cast<int>(image_.fragments.size()); }
  int operandsPerFragment() const;

  /// LDS addresses from which this lane reads the fragments of each segment in the buffer at that
  /// byte offset.
  mlir::SmallVector<Value> fragmentBases(Value bufferOffset);
  /// Fragment `index` as matrix operands.
  mlir::SmallVector<Value> readFragment(mlir::ArrayRef<Value> fragmentBases, int index);

protected:
  /// This lane's byte offset of a transfer within the tile, column immediate excluded.
  Value laneOffset(int transfer);

  KernelFrame &frame_;
  const LdsImage &image_;

private:
  Value stride_;                                           ///< i32 row stride
  Value gap_;                                              ///< stride - rowBytes
  Value step_;                                             ///< i64 bytes of a tile
  mlir::SmallVector<Value> reads_;                         ///< by segment
  mlir::DenseMap<std::pair<int, int>, Value> offsetOfRow_; ///< by segment and Transfer::row
  StreamCursor begin_;
};

} // namespace wavesmith::compiler
