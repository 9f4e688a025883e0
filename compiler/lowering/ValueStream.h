#pragma once
// V tiles, memory to registers to LDS; group B does both. v_perm gathers the elements of one column
// from neighbouring keys, so that LDS holds V transposed: 16 bytes of keys of a column contiguous.

#include "compiler/lowering/TileStream.h"

namespace wavesmith::compiler {

class ValueStream : public TileStream {
public:
  explicit ValueStream(KernelFrame &frame);
  /// One dword per lane of the tile; issue all transfers, then store().
  Value load(int transfer, Value descriptor);
  /// A whole tile at once, where no matrix phase hides it.
  mlir::SmallVector<Value> loadTile(StreamCursor cursor);
  /// Transposes a loaded tile into the buffer at that byte offset.
  void store(mlir::ArrayRef<Value> loaded, Value bufferOffset);

private:
  Value write_;
};

} // namespace wavesmith::compiler
