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
/// Bytes of a row that 32 lanes fetch with one dword each.
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
  assert(atom.m == 32 && schedule.blockN == 32 && target.maxDmaBytes == 4 && "dword DMA image");
  LdsImage image;
  image.kind = LdsImage::Kind::RowLines;
  image.rows = schedule.blockN;
  image.rowBytes = headDim * 2;
  image.buffers = schedule.kBuffers;
  const int segments = image.rowBytes / kSegmentBytes;
  // A line holds one segment of rows r and r + 16, so 16 lines a segment.
  const int linesPerSegment = image.rows / 2;
  image.lineBytes = 2 * kSegmentBytes + kPadBytes;
  image.bufferBytes = segments * linesPerSegment * image.lineBytes;

  image.globalRow = {.lane = {{5, 1, linesPerSegment}}, .wave = {{0, 2, 1}}};
  image.globalColumn = {.lane = {{0, 5, 4}}, .wave = {}};
  image.waveBytes = image.lineBytes;
  for (int segment = 0; segment < segments; ++segment)
    for (int line = 0; line < linesPerSegment; line += kGroupWaves)
      image.transfers.push_back({.row = line,
                                 .column = segment * kSegmentBytes,
                                 .lds = (segment * linesPerSegment + line) * image.lineBytes});

  image.read = {.lane = {{0, 4, image.lineBytes}, {4, 1, kSegmentBytes}, {5, 1, kFragmentBytes}},
                .wave = {}};
  const int chunksPerSegment = kSegmentBytes / (2 * kFragmentBytes);
  for (int chunk = 0; chunk < segments * chunksPerSegment; ++chunk)
    image.readImmediate.push_back(chunk / chunksPerSegment * linesPerSegment * image.lineBytes +
                                  chunk % chunksPerSegment * 2 * kFragmentBytes);
  return image;
}

LdsImage valueImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                    const TargetFacts &target) {
  assert(atom.m == 32 && schedule.blockN == 32 && !target.transposeReads && "register transpose");
  LdsImage image;
  image.kind = LdsImage::Kind::TransposedPairs;
  image.rows = schedule.blockN;
  image.rowBytes = headDim * 2;
  image.buffers = schedule.vBuffers;
  const int blocks = headDim / atom.m;
  // Four key groups g: keys 16 (g / 2) + 4 (g % 2) + {0..3, 8..11}, which is one fragment's half of
  // two k steps; one group per wave.
  const int keysPerGroup = 8;
  const int groupBytes = headDim / 2 * keysPerGroup * 2;
  image.lineBytes = groupBytes + kPadBytes;
  image.oddImage = kGroupWaves * image.lineBytes;
  image.bufferBytes = 2 * image.oddImage;

  const int lanesPerRow = image.rowBytes / 4;
  image.globalRow.wave = {{1, 1, 16}, {0, 1, 4}};
  if (lanesPerRow == kLanes) {
    image.globalColumn.lane = {{0, 6, 4}};
    for (int row : {0, 1, 2, 3, 8, 9, 10, 11})
      image.transfers.push_back({.row = row, .column = 0, .lds = 0});
    image.writeBytes = 16;
  } else {
    // Neighbouring lanes take the two key quads of one column pair: their 8-byte stores then fill
    // consecutive bytes, which 16 lanes write without a conflict.
    assert(lanesPerRow == kLanes / 2);
    image.globalRow.lane = {{0, 1, 8}};
    image.globalColumn.lane = {{1, 5, 4}};
    for (int row : {0, 1, 2, 3})
      image.transfers.push_back({.row = row, .column = 0, .lds = 0});
    image.writeBytes = 8;
  }
  image.write = {.lane = {{0, 6, image.writeBytes}}, .wave = {{0, 2, image.lineBytes}}};

  image.read = {.lane = {{0, 5, kFragmentBytes}, {5, 1, image.lineBytes}}, .wave = {}};
  for (int half = 0; half < image.rows / 16; ++half)
    for (int block = 0; block < blocks; ++block)
      image.readImmediate.push_back(half * 2 * image.lineBytes + block % 2 * image.oddImage +
                                    block / 2 * atom.m * kFragmentBytes);
  return image;
}

BankConflicts bankConflicts(const LdsImage &image, const TargetFacts &target) {
  BankConflicts conflicts;
  for (int immediate : image.readImmediate)
    conflicts.reads =
        std::max(conflicts.reads, worstConflict(target, kFragmentBytes, false, [&](int lane) {
                   return image.read.evaluate(lane, 0) + immediate;
                 }));
  // A DMA instruction fills consecutive bytes and cannot conflict with itself.
  if (image.kind == LdsImage::Kind::TransposedPairs)
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
