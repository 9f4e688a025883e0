#include "compiler/lowering/KeyStream.h"

namespace wavesmith::compiler {

using namespace mlir;

KeyStream::KeyStream(KernelFrame &frame)
    : TileStream(frame, frame.keys(), frame.arguments().k, frame.arguments().kRowStride,
                 frame.arguments().kHeadStride) {
  waveOffset_ = frame.emit().mul(frame.groupWave(), image_.waveBytes);
}

Value KeyStream::dmaBase(Value bufferOffset) {
  return frame_.emit().add(waveOffset_, bufferOffset);
}

void KeyStream::emitDma(int transfer, Value descriptor, Value dmaBase) {
  Emitter &e = frame_.emit();
  const Transfer &piece = image_.transfers[transfer];
  // The instruction adds its immediate to both addresses, so the LDS side takes it off again.
  Value target = e.offset(frame_.lds(), e.add(dmaBase, piece.lds - piece.column));
  e.bufferLoadToLds(descriptor, target, laneOffset(transfer), piece.column);
}

void KeyStream::emitTile(StreamCursor cursor, Value bufferOffset) {
  Value resource = descriptor(cursor), base = dmaBase(bufferOffset);
  for (int transfer = 0; transfer < transfers(); ++transfer)
    emitDma(transfer, resource, base);
}

} // namespace wavesmith::compiler
