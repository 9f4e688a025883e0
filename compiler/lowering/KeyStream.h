#pragma once
// K tiles, memory to LDS by DMA; group A issues it. One transfer = 64 dwords into one padded line.

#include "compiler/lowering/TileStream.h"

namespace wavesmith::compiler {

class KeyStream : public TileStream {
public:
  explicit KeyStream(KernelFrame &frame);
  /// The wave's DMA target in the buffer at that byte offset; uniform.
  Value dmaBase(Value bufferOffset);
  void emitDma(int transfer, Value descriptor, Value dmaBase);
  /// A whole tile at once, where no matrix phase hides it.
  void emitTile(StreamCursor cursor, Value bufferOffset);

private:
  Value waveOffset_;
};

} // namespace wavesmith::compiler
