#include "compiler/lowering/ValueStream.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {

/// The elements of 2 or 4 dwords of as many elements: result i has element i of each.
SmallVector<Value> transposed(Emitter &e, ArrayRef<Value> rows) {
  // v_perm_b32 selectors: the low or high halves of two dwords, and their bytes in turn.
  constexpr std::uint32_t kLowHalves = 0x05040100, kHighHalves = 0x07060302;
  constexpr std::uint32_t kLowBytes = 0x05010400, kHighBytes = 0x07030602;
  auto pairs = [&](Value first, Value second, std::uint32_t low, std::uint32_t high) {
    return std::pair{e.perm(second, first, low), e.perm(second, first, high)};
  };
  if (rows.size() == 2) {
    auto [low, high] = pairs(rows[0], rows[1], kLowHalves, kHighHalves);
    return {low, high};
  }
  auto [low01, high01] = pairs(rows[0], rows[1], kLowBytes, kHighBytes);
  auto [low23, high23] = pairs(rows[2], rows[3], kLowBytes, kHighBytes);
  auto [first, second] = pairs(low01, low23, kLowHalves, kHighHalves);
  auto [third, fourth] = pairs(high01, high23, kLowHalves, kHighHalves);
  return {first, second, third, fourth};
}

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
  const std::size_t elements = image_.writeImmediate.size();
  SmallVector<SmallVector<Value>> wordsOf(elements);
  for (std::size_t row = 0; row < loaded.size(); row += elements)
    for (auto [words, word] : llvm::zip(wordsOf, transposed(e, loaded.slice(row, elements))))
      words.push_back(word);
  Value base = e.offset(frame_.lds(), e.add(write_, bufferOffset));
  for (auto [words, immediate] : llvm::zip(wordsOf, image_.writeImmediate))
    e.storeLds(words.size() == 1 ? words.front() : e.packVector(words), e.offset(base, immediate),
               image_.writeBytes);
}

} // namespace wavesmith::compiler
