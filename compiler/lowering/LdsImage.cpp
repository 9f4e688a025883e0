#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler {
namespace {

constexpr int kLanes = 64;
constexpr int kGroupWaves = 4;
/// Rows of an A operand: keys of K, columns of V.
constexpr int kBlock = 32;
/// What one DMA instruction fills: a dword of each lane.
constexpr int kLineDataBytes = 256;
/// Bytes of a row that the lanes fetch together; what is left of a row makes a smaller piece.
constexpr int kSegmentBytes = 128;
/// Keeps 16-byte reads of consecutive lines off each other's banks.
constexpr int kPadBytes = 16;
constexpr int kFragmentBytes = 16;

int evaluateFields(const std::vector<BitField> &fields, int x) {
  int sum = 0;
  for (const BitField &field : fields)
    sum += ((x >> field.shift) & ((1 << field.bits) - 1)) * field.scale;
  return sum;
}

/// Lanes that one LDS cycle serves together (32 banks).
std::vector<std::vector<int>> lanePhases(int bytes, bool write) {
  std::vector<std::vector<int>> phases;
  auto consecutive = [&](int size) {
    for (int first = 0; first < kLanes; first += size) {
      std::vector<int> phase;
      for (int lane = 0; lane < size; ++lane)
        phase.push_back(first + lane);
      phases.push_back(phase);
    }
  };
  if (bytes == 8)
    consecutive(16);
  else if (write)
    consecutive(8);
  else
    for (int half : {0, 32})
      for (auto [low, high] : {std::pair{0, 20}, {4, 16}, {8, 28}, {12, 24}}) {
        std::vector<int> phase;
        for (int lane = 0; lane < 4; ++lane)
          phase.push_back(half + low + lane);
        for (int lane = 0; lane < 4; ++lane)
          phase.push_back(half + high + lane);
        phases.push_back(phase);
      }
  return phases;
}

/// Cycles beyond one in the worst phase: the most distinct dwords that meet in one bank.
template <typename ByteOf>
int worstConflict(const TargetFacts &target, int bytes, bool write, ByteOf byteOf) {
  int worst = 0;
  for (const std::vector<int> &phase : lanePhases(bytes, write)) {
    std::map<int, std::set<int>> dwordsOfBank;
    for (int lane : phase)
      for (int byte = 0; byte < bytes; byte += 4) {
        int dword = (byteOf(lane) + byte) / 4;
        dwordsOfBank[dword % target.ldsBanks].insert(dword);
      }
    for (const auto &[bank, dwords] : dwordsOfBank)
      worst = std::max(worst, static_cast<int>(dwords.size()) - 1);
  }
  return worst;
}

} // namespace

int LaneMap::evaluate(int laneId, int waveId) const {
  return evaluateFields(lane, laneId) + evaluateFields(wave, waveId);
}

LdsImage keyImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                  const TargetFacts &target) {
  assert(atom.m == kBlock && schedule.blockN % kBlock == 0 && target.maxDmaBytes == 4 &&
         "dword DMA image");
  LdsImage image;
  image.kind = LdsImage::Kind::RowLines;
  image.rows = schedule.blockN;
  image.rowBytes = headDim * bytesOf(atom.input);
  image.buffers = schedule.kBuffers;
  image.lineBytes = kLineDataBytes + kPadBytes;
  image.waveBytes = image.lineBytes;
  const int blocks = image.rows / kBlock;
  std::vector<std::vector<Fragment>> fragmentsOfBlock(blocks);
  int line = 0; // the next free one
  for (int column = 0, width; column < image.rowBytes; column += width) {
    width = std::min(kSegmentBytes, image.rowBytes - column);
    // A line holds this piece of several rows: of every block, and of its upper half when there
    // are more pieces than blocks.
    const int lines = image.rows * width / kLineDataBytes;
    const int halves = kBlock / lines, laneBits = __builtin_ctz(width / 4);
    assert(lines * halves == kBlock && halves * blocks * width == kLineDataBytes);
    const int blockBits = __builtin_ctz(blocks), lineBits = __builtin_ctz(lines);
    const int segment = static_cast<int>(image.segments.size());
    image.segments.push_back({.globalRow = {.lane = {{laneBits, blockBits, kBlock},
                                                     {laneBits + blockBits, 5 - lineBits, lines}},
                                            .wave = {{0, 2, 1}}},
                              .globalColumn = {.lane = {{0, laneBits, 4}}, .wave = {}},
                              .read = {.lane = {{0, lineBits, image.lineBytes},
                                                {lineBits, 5 - lineBits, width * blocks},
                                                {5, 1, kFragmentBytes}},
                                       .wave = {}}});
    for (int first = 0; first < lines; first += kGroupWaves)
      image.transfers.push_back({.segment = segment,
                                 .row = first,
                                 .column = column,
                                 .lds = (line + first) * image.lineBytes});
    for (int block = 0; block < blocks; ++block)
      for (int chunk = 0; chunk < width; chunk += 2 * kFragmentBytes)
        fragmentsOfBlock[block].push_back(
            {.segment = segment, .immediate = line * image.lineBytes + block * width + chunk});
    line += lines;
  }
  for (const std::vector<Fragment> &fragments : fragmentsOfBlock)
    image.fragments.insert(image.fragments.end(), fragments.begin(), fragments.end());
  image.bufferBytes = line * image.lineBytes;
  return image;
}

LdsImage valueImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                    const TargetFacts &target) {
  const int bytes = bytesOf(atom.input), dwordElements = 4 / bytes;
  assert(atom.m == kBlock && schedule.blockN * bytes == kGroupWaves * kFragmentBytes &&
         !target.transposeReads && "register transpose");
  LdsImage image;
  image.kind = LdsImage::Kind::Transposed;
  image.rows = schedule.blockN;
  image.rowBytes = headDim * bytes;
  image.buffers = schedule.vBuffers;
  // Columns in the order of LDS: first those of every dword's element 0, then of element 1, ...
  // A wave writes one group of keys of all columns: those of the 16 bytes of a fragment that the
  // lanes of one half read, which are quads of keys `quadStride` apart.
  const int dwords = image.rowBytes / 4, imageColumns = std::max(dwords, kBlock);
  const int quadStride = 8, quads = kFragmentBytes / (4 * bytes);
  image.lineBytes = imageColumns * kFragmentBytes + kPadBytes;
  auto columnBytes = [&](int column) {
    return column / imageColumns * kGroupWaves * image.lineBytes +
           column % imageColumns * kFragmentBytes;
  };
  image.bufferBytes = headDim / imageColumns * kGroupWaves * image.lineBytes;

  // Neighbouring lanes take the quads of one dword column if there are more lanes than columns:
  // the lanes' stores then fill consecutive bytes, without a conflict.
  const int lanesPerColumn = kLanes / dwords, sharedBits = __builtin_ctz(lanesPerColumn);
  assert(lanesPerColumn * dwords == kLanes && lanesPerColumn <= quads);
  const int quadsPerLane = quads / lanesPerColumn;
  image.segments.push_back(
      {.globalRow = {.lane = {{0, sharedBits, quadStride * quadsPerLane}},
                     .wave = {{1, 1, image.rows / 2}, {0, 1, 4}}},
       .globalColumn = {.lane = {{sharedBits, 6 - sharedBits, 4}}, .wave = {}},
       .read = {.lane = {{0, 5, kFragmentBytes}, {5, 1, image.lineBytes}}, .wave = {}}});
  for (int quad = 0; quad < quadsPerLane; ++quad)
    for (int row = 0; row < 4; ++row)
      image.transfers.push_back(
          {.segment = 0, .row = quad * quadStride + row, .column = 0, .lds = 0});
  image.writeBytes = kFragmentBytes / lanesPerColumn;
  image.write = {.lane = {{0, 6, image.writeBytes}}, .wave = {{0, 2, image.lineBytes}}};
  for (int element = 0; element < dwordElements; ++element)
    image.writeImmediate.push_back(columnBytes(element * dwords));

  for (int half : {0, 1})
    for (int block = 0; block < headDim / kBlock; ++block)
      image.fragments.push_back(
          {.segment = 0, .immediate = half * 2 * image.lineBytes + columnBytes(block * kBlock)});
  // Column number n in the order of LDS is element n / dwords of dword n % dwords.
  const int dwordBits = __builtin_ctz(dwords);
  image.column = {.lane = {{0, std::min(5, dwordBits), dwordElements}}, .wave = {}};
  if (dwordBits < 5)
    image.column.lane.push_back({dwordBits, 5 - dwordBits, 1});
  if (dwordBits > 5)
    image.column.wave.push_back({0, dwordBits - 5, kBlock * dwordElements});
  image.column.wave.push_back({std::max(0, dwordBits - 5), 5, std::max(1, kBlock / dwords)});
  return image;
}

BankConflicts bankConflicts(const LdsImage &image, const TargetFacts &target) {
  BankConflicts conflicts;
  for (const Fragment &fragment : image.fragments)
    conflicts.reads = std::max(
        conflicts.reads, worstConflict(target, image.fragmentBytes, false, [&](int lane) {
          return image.segments[fragment.segment].read.evaluate(lane, 0) + fragment.immediate;
        }));
  // A DMA instruction fills consecutive bytes and cannot conflict with itself.
  if (image.kind == LdsImage::Kind::Transposed)
    for (int wave = 0; wave < kGroupWaves; ++wave)
      conflicts.writes =
          std::max(conflicts.writes, worstConflict(target, image.writeBytes, true, [&](int lane) {
                     return image.write.evaluate(lane, wave);
                   }));
  return conflicts;
}

std::string unsupportedReason(const KernelShape &shape, const Schedule &schedule,
                              const TargetFacts &target) {
  if (target.maxDmaBytes != 4 || target.transposeReads)
    return fmt::format("target {} has no lowering: want gfx942", target.name);
  if (shape.element != ElementType::BF16)
    return "input type is not bf16: only bf16 is lowered for this target";
  constexpr std::array<std::pair<int, int>, 3> kDims{{{192, 128}, {128, 128}, {64, 64}}};
  if (std::find(kDims.begin(), kDims.end(), std::pair{shape.headDimQk, shape.headDimV}) ==
      kDims.end())
    return fmt::format("head dims {}x{}: want 192x128, 128x128 or 64x64", shape.headDimQk,
                       shape.headDimV);
  if (schedule.blockM != 256 || schedule.blockN != 32 || schedule.waves != 8)
    return fmt::format("tile {}x{} on {} waves: want 256x32 on 8", schedule.blockM, schedule.blockN,
                       schedule.waves);
  if (schedule.kBuffers < 2 || schedule.vBuffers != 2)
    return fmt::format("{} K and {} V buffers: want at least 2 and exactly 2", schedule.kBuffers,
                       schedule.vBuffers);
  if (schedule.pre < 1 || schedule.ring < schedule.pre)
    return fmt::format("ring {} with {} requested ahead: want 1 <= pre <= ring", schedule.ring,
                       schedule.pre);
  if (schedule.pipelineDistance < 1 || schedule.maxChains < 1 || schedule.sumChains < 1 ||
      schedule.maxChains > 8 || schedule.sumChains > 8)
    return "softmax pipeline distance and chains: want 1..8";
  const MfmaAtom &atom = atoms(target, shape.element).front();
  const LdsImage keys = keyImage(atom, schedule, shape.headDimQk, target);
  const int keyWait = static_cast<int>(keys.transfers.size()) * (schedule.kBuffers - 2);
  if (schedule.keyWait < 0 || schedule.keyWait > keyWait || schedule.valueWait < 0 ||
      schedule.valueWait > schedule.pre)
    return fmt::format("waits of {} for K and {} for V: want 0..{} and 0..{}, or tiles are read "
                       "before they are there",
                       schedule.keyWait, schedule.valueWait, keyWait, schedule.pre);
  const int lds =
      keys.totalBytes() + valueImage(atom, schedule, shape.headDimV, target).totalBytes();
  if (lds > target.ldsBytes)
    return fmt::format("{} bytes of LDS with {} K buffers: {} has {}", lds, schedule.kBuffers,
                       target.name, target.ldsBytes);
  return {};
}

} // namespace wavesmith::compiler
