#pragma once
// Tiles by LDS DMA: one transfer fills one padded line with pieces of rows, and nothing passes
// through registers.

#include "compiler/lowering/TileStream.h"

namespace wavesmith::compiler {

class DmaStream : public TileStream {
public:
  DmaStream(KernelFrame &frame, const Source &source);

  StreamState emitFirstTiles() override;
  void transfer(int index, TileRequest &request) override;
  void publish(StreamState &, Value) override {}
  void waitPublished(bool readAhead) override;
  void drain() override;
  Value target(Value buffer) override;

private:
  Value waveOffset_;
};

} // namespace wavesmith::compiler
