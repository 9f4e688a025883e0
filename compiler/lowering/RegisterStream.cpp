#include "compiler/lowering/RegisterStream.h"

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

RegisterStream::RegisterStream(KernelFrame &frame, const Source &source)
    : TileStream(frame, source) {
  Emitter &e = frame.emit();
  write_ = e.add(e.laneMap(image_.write.wave, frame.groupWave()),
                 e.laneMap(image_.write.lane, frame.lane()));
}

StreamState RegisterStream::emitFirstTiles() {
  Emitter &e = frame_.emit();
  // Both tiles are on their way before the first is waited for.
  StreamState first = requestTile({.cursor = begin(), .staged = {}}, {});
  StreamState second = requestTile(first, {});
  publish(first, e.constant(image_.offset));
  e.waitLds(0);
  return second;
}

void RegisterStream::transfer(int index, TileRequest &request) {
  Emitter &e = frame_.emit();
  request.loaded.push_back(e.bufferLoad(e.i32(), request.descriptor, laneOffset(index)));
}

void RegisterStream::publish(const StreamState &state, Value buffer) {
  Emitter &e = frame_.emit();
  const std::size_t elements = image_.writeImmediate.size();
  SmallVector<SmallVector<Value>> wordsOf(elements);
  for (std::size_t row = 0; row < state.staged.size(); row += elements) {
    ArrayRef<Value> rows = ArrayRef<Value>(state.staged).slice(row, elements);
    for (auto [words, word] : llvm::zip(wordsOf, transposed(e, rows)))
      words.push_back(word);
  }
  Value base = e.offset(frame_.lds(), e.add(write_, buffer));
  for (auto [words, immediate] : llvm::zip(wordsOf, image_.writeImmediate))
    e.storeLds(words.size() == 1 ? words.front() : e.packVector(words), e.offset(base, immediate),
               image_.writeBytes);
}

void RegisterStream::waitPublished(bool readAhead) {
  // LDS answers in order, so the stores before the reads are done.
  frame_.emit().waitLds(readAhead ? waits_.lds : 0);
}

} // namespace wavesmith::compiler
