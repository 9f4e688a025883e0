#include "compiler/lowering/DmaStream.h"

namespace wavesmith::compiler {

using namespace mlir;

DmaStream::DmaStream(KernelFrame &frame, const Source &source) : TileStream(frame, source) {
  waveOffset_ = frame.emit().mul(frame.groupWave(), image_.lineBytes);
}

Value DmaStream::target(Value buffer) { return frame_.emit().add(waveOffset_, buffer); }

StreamState DmaStream::emitFirstTiles() {
  Emitter &e = frame_.emit();
  StreamState state{.cursor = begin(), .staged = {}};
  const int tiles = image_.firstTiles();
  for (int buffer = 0; buffer < tiles; ++buffer)
    state = requestTile(state, e.constant(image_.offset + buffer * image_.bufferBytes));
  e.waitVectorMemory(transfers() * (tiles - 1));
  return state;
}

void DmaStream::transfer(int index, TileRequest &request) {
  Emitter &e = frame_.emit();
  const Transfer &piece = image_.transfers[index];
  // The instruction adds its immediate to both addresses, so the LDS side takes it off again.
  Value lds = e.offset(frame_.lds(), e.add(request.target, piece.lds - piece.column));
  e.bufferLoadToLds(request.descriptors.lookup(piece.base), lds, image_.transferBytes,
                    laneOffset(index), piece.column);
}

void DmaStream::waitPublished(bool) { frame_.emit().waitVectorMemory(waits_.vmem); }

void DmaStream::drain() { frame_.emit().waitVectorMemory(0); }

} // namespace wavesmith::compiler
