#pragma once
// Tiles through registers: loaded in a matrix phase, transposed and stored at the end of the
// softmax phase behind it. v_perm gathers the elements of one column from neighbouring keys, so
// that LDS holds the tile transposed: 16 bytes of keys of a column contiguous.

#include "compiler/lowering/TileStream.h"

namespace wavesmith::compiler {

class RegisterStream : public TileStream {
public:
  RegisterStream(KernelFrame &frame, const Source &source);

  bool requestsInSoftmax() const override;
  StreamState emitFirstTiles() override;
  void transfer(int index, TileRequest &request) override;
  void publish(StreamState &state, Value buffer) override;
  void waitPublished(bool readAhead) override;
  void drain() override {}
  Value target(Value) override { return {}; }

private:
  Value write_;
};

} // namespace wavesmith::compiler
