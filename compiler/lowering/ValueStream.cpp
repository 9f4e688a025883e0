#include "compiler/lowering/ValueStream.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {
/// v_perm_b32 selectors: the low (even column) or high (odd column) halves of two dwords.
constexpr std::uint32_t kLowHalves = 0x05040100;
constexpr std::uint32_t kHighHalves = 0x07060302;
} // namespace

ValueStream::ValueStream(KernelFrame &frame)
    : TileStream(frame, frame.values(), frame.arguments().v, frame.arguments().vRowStride,
                 frame.arguments().vHeadStride) {
  Emitter &e = frame.emit();
  write_ = e.add(e.laneMap(image_.write.wave, frame.groupWave()),
                 e.laneMap(image_.write.lane, frame.lane()));
}

Value ValueStream::load(int transfer, Value descriptor) {
  Emitter &e = frame_.emit();
  return e.bufferLoad(e.i32(), descriptor, laneOffset(transfer));
}

SmallVector<Value> ValueStream::loadTile(StreamCursor cursor) {
  Value resource = descriptor(cursor);
  SmallVector<Value> loaded;
  for (int transfer = 0; transfer < transfers(); ++transfer)
    loaded.push_back(load(transfer, resource));
  return loaded;
}

void ValueStream::store(ArrayRef<Value> loaded, Value bufferOffset) {
  Emitter &e = frame_.emit();
  Value even = e.offset(frame_.lds(), e.add(write_, bufferOffset));
  for (auto [selector, target] :
       {std::pair{kLowHalves, even}, std::pair{kHighHalves, e.offset(even, image_.oddImage)}}) {
    SmallVector<Value> words;
    for (std::size_t row = 0; row < loaded.size(); row += 2)
      words.push_back(e.perm(loaded[row + 1], loaded[row], selector));
    e.storeLds(e.packVector(words), target, image_.writeBytes);
  }
}

} // namespace wavesmith::compiler
