#pragma once
// A stream of K or V tiles from memory to LDS, and the reads of operand fragments from there: a
// cursor over the unit's key rows that advances on the scalar unit with a 64-bit base, a descriptor
// that covers just the rows left of one tile, and the way a tile travels (DmaStream or
// RegisterStream, as the image says). One wave group brings a stream, both read it. Rows past kv1
// read as zeros and never touch memory.

#include <memory>

#include "compiler/lowering/KernelFrame.h"

namespace wavesmith::compiler {

/// Where the next tile starts; both uniform and carried by the loop.
struct StreamCursor {
  mlir::Value pointer;  ///< its first row
  mlir::Value rowsLeft; ///< rows up to kv1; may be negative
};

/// What the group that brings a stream carries from tile to tile.
struct StreamState {
  StreamCursor cursor; ///< of the tile that is requested next
  mlir::SmallVector<mlir::Value>
      staged; ///< the tile that waits in registers, if the way leads there
};

/// A tile that is being requested.
struct TileRequest {
  llvm::SmallDenseMap<int, mlir::Value> descriptors; ///< by Transfer::base
  mlir::Value target;                                ///< of DMA: LDS byte of the wave's first line
  mlir::SmallVector<mlir::Value> loaded;             ///< otherwise: one value for each transfer
};

class TileStream {
public:
  using Value = mlir::Value;

  static std::unique_ptr<TileStream> keys(KernelFrame &frame);
  static std::unique_ptr<TileStream> values(KernelFrame &frame);
  virtual ~TileStream() = default;

  bool throughRegisters() const { return image_.throughRegisters(); }
  int transfers() const { return static_cast<int>(image_.transfers.size()); }
  int fragments() const { return static_cast<int>(image_.fragments.size()); }
  int operandsPerFragment() const;

  /// Whether a tile is requested as a softmax phase starts, not in a matrix phase.
  virtual bool requestsInSoftmax() const { return false; }
  /// Requests the tiles that must be on their way before the first matrix phase and waits for the
  /// first one; a barrier then publishes it.
  virtual StreamState emitFirstTiles() = 0;

  // The next tile: its parts in this order, one TileRequest through all of them.
  /// Where the wave's first line goes in the buffer at that LDS byte, which nobody reads.
  virtual Value target(Value buffer) = 0;
  /// The rows at which the tile's descriptors begin.
  mlir::SmallVector<int> descriptorRows() const;
  void describe(const StreamState &state, int firstRow, TileRequest &request);
  virtual void transfer(int index, TileRequest &request) = 0;
  StreamState close(const StreamState &state, TileRequest request);
  /// All of it at once, where no matrix phase hides it.
  StreamState requestTile(const StreamState &state, Value buffer);

  /// At the end of a softmax phase: what waits in registers goes to LDS.
  virtual void publish(StreamState &state, Value buffer) = 0;
  /// Before the barrier that ends a softmax phase: the tile that is read next has landed.
  /// `readAhead`: the matrix phase's first fragments are requested already.
  virtual void waitPublished(bool readAhead) = 0;
  /// Before the workgroup ends: no transfer may still write to its LDS.
  virtual void drain() = 0;

  /// LDS addresses from which this lane reads the fragments of each segment in the buffer at that
  /// byte offset.
  mlir::SmallVector<Value> fragmentBases(Value bufferOffset);
  /// Fragment `index` as matrix operands.
  mlir::SmallVector<Value> readFragment(mlir::ArrayRef<Value> fragmentBases, int index);

protected:
  /// K or V as arguments and schedule describe it.
  struct Source {
    const LdsImage &image;
    const StreamWaits &waits;
    Value base, rowStride, headStride;
  };
  TileStream(KernelFrame &frame, const Source &source);

  StreamCursor begin() const { return begin_; }
  /// This lane's byte offset of a transfer within the tile, column immediate excluded.
  Value laneOffset(int transfer);

  KernelFrame &frame_;
  const LdsImage &image_;
  const StreamWaits &waits_;

private:
  static std::unique_ptr<TileStream> create(KernelFrame &frame, const Source &source);
  StreamCursor advance(StreamCursor cursor);

  Value rowStride_;                                        ///< i64
  Value stride_;                                           ///< i32 row stride
  Value gap_;                                              ///< stride - rowBytes
  Value step_;                                             ///< i64 bytes of a tile
  mlir::SmallVector<Value> reads_;                         ///< by segment
  mlir::DenseMap<std::pair<int, int>, Value> offsetOfRow_; ///< by segment and Transfer::row
  StreamCursor begin_;
};

} // namespace wavesmith::compiler
