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
                 e.laneMap(image_.write.lane, frame.ids().lane));
}

bool RegisterStream::requestsInSoftmax() const { return frame_.schedule().registerAhead == 1; }

StreamState RegisterStream::emitFirstTiles() {
  Emitter &e = frame_.emit();
  StreamState first = requestTile({.cursor = begin(), .staged = {}}, {});
  // The second tile is on its way before the first is waited for.
  StreamState second;
  if (!requestsInSoftmax())
    second = requestTile(first, {});
  publish(first, e.constant(image_.offset));
  e.waitLds(0);
  return requestsInSoftmax() ? first : second;
}

void RegisterStream::transfer(int index, TileRequest &request) {
  Emitter &e = frame_.emit();
  const Transfer &piece = image_.transfers[index];
  request.loaded.push_back(e.bufferLoad(e.i32(), request.descriptors.lookup(piece.base),
                                        e.add(laneOffset(index), piece.column)));
}

void RegisterStream::publish(StreamState &state, Value buffer) {
  Emitter &e = frame_.emit();
  const std::size_t elements = 4 / bytesOf(frame_.shape().element);
  const std::size_t parts = image_.writeImmediate.size() / elements;
  const std::size_t rowsOfPart = state.staged.size() / parts;
  Value base = e.offset(frame_.lds(), e.add(write_, buffer));
  for (std::size_t part = 0; part < parts; ++part) {
    SmallVector<SmallVector<Value>> wordsOf(elements);
    for (std::size_t row = 0; row < rowsOfPart; row += elements) {
      auto rows = ArrayRef<Value>(state.staged).slice(part * rowsOfPart + row, elements);
      for (auto [words, word] : llvm::zip(wordsOf, transposed(e, rows)))
        words.push_back(word);
    }
    for (auto [element, words] : llvm::enumerate(wordsOf))
      e.storeLds(words.size() == 1 ? words.front() : e.packVector(words),
                 e.offset(base, image_.writeImmediate[part * elements + element]),
                 image_.writeBytes);
  }
  state.staged.clear();
}

void RegisterStream::waitPublished(bool readAhead) {
  // LDS answers in order, so the stores before the reads are done.
  frame_.emit().waitLds(readAhead ? waits_.lds : 0);
}

} // namespace wavesmith::compiler
