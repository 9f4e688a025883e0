#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler {
namespace {

constexpr int kGroupWaves = 4;
/// Rows of an A operand: keys of K, columns of V.
constexpr int kBlock = 32;
/// Bytes of a row that the lanes fetch together; what is left of a row makes a smaller piece.
constexpr int kSegmentBytes = 128;
/// Keeps 16-byte reads of consecutive lines off each other's banks.
constexpr int kPadBytes = 16;
/// Keeps transposing reads of four consecutive lines off each other's banks: 64 bytes of each.
constexpr int kTransposePadBytes = 64;
/// The same of eight lines: 32 bytes of each.
constexpr int kTransposeBytesPadBytes = 32;
constexpr int kFragmentBytes = 16;
constexpr int kMostInFlight = 15; ///< LDS operations of a wave that lgkmcnt can count

int log2(int powerOfTwo) { return __builtin_ctz(static_cast<unsigned>(powerOfTwo)); }

int evaluateFields(const std::vector<BitField> &fields, int x) {
  int sum = 0;
  for (const BitField &field : fields)
    sum += ((x >> field.shift) & ((1 << field.bits) - 1)) * field.scale;
  return sum;
}

using Phases = std::vector<std::vector<int>>;

/// Phases of `size` consecutive lanes.
Phases consecutiveLanes(int size) {
  Phases phases;
  for (int first = 0; first < kWaveLanes; first += size) {
    phases.emplace_back(size);
    std::iota(phases.back().begin(), phases.back().end(), first);
  }
  return phases;
}

/// Phases of lane quads, given for the lower half of the wave and repeated for the upper.
Phases laneQuads(const std::vector<std::vector<int>> &lower) {
  Phases phases;
  for (int half : {0, kWaveLanes / 2})
    for (const std::vector<int> &quads : lower) {
      std::vector<int> &phase = phases.emplace_back();
      for (int quad : quads)
        for (int lane = 0; lane < 4; ++lane)
          phase.push_back(half + quad + lane);
    }
  return phases;
}

/// Lanes that one LDS cycle serves together, as measured on MI300X (32 banks) and MI355X (64).
/// Nothing is published of transposing reads; they are taken for reads of their size.
Phases lanePhases(const TargetFacts &target, int bytes, bool write) {
  const bool wide = target.ldsBanks == 64 && !write;
  if (bytes == 8)
    return consecutiveLanes(wide ? 32 : 16);
  if (write)
    return consecutiveLanes(8);
  if (wide)
    return laneQuads({{0, 12, 20, 24}, {4, 8, 16, 28}});
  return laneQuads({{0, 20}, {4, 16}, {8, 28}, {12, 24}});
}

/// Cycles beyond one in the worst phase: the most distinct dwords that meet in one bank.
template <typename ByteOf>
int worstConflict(const TargetFacts &target, int bytes, bool write, ByteOf byteOf) {
  int worst = 0;
  for (const std::vector<int> &phase : lanePhases(target, bytes, write)) {
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

namespace {

/// Fragments of two or more 16-byte reads, whose 32-byte chunks follow each other in the row.
void setChunks(LdsImage &image, const MfmaAtom &atom) {
  image.fragmentBytes = std::max(kFragmentBytes, 4 * atom.operandRegisters);
  image.pieces.clear();
  for (int piece = 0; piece < image.fragmentBytes; piece += kFragmentBytes)
    image.pieces.push_back(2 * piece);
}

/// Of 128 keys by wide DMA: 64-byte pieces of 16 rows in a line, of every fourth row. Four lines
/// make half of the keys, and whatever lanes are served together read other quarters of 256 bytes.
LdsImage fourthRowsImage(LdsImage image, const MfmaAtom &atom) {
  constexpr int width = 64, linesOfSegment = 8, rowsApart = 4;
  if (image.rowBytes % width != 0 || 2 * image.fragmentBytes > width || atom.m != kBlock)
    return {};
  const int segmentBytes = linesOfSegment * image.lineBytes;
  image.segments.push_back(
      {.globalRow = {.lane = {{2, 4, rowsApart}}, .wave = {{0, 2, 1}}},
       .globalColumn = {.lane = {{0, 2, image.transferBytes}}, .wave = {}},
       .read = {.lane = {{0, 2, image.lineBytes}, {2, 3, width}, {5, 1, kFragmentBytes}},
                .wave = {}}});
  for (int column = 0; column < image.rowBytes; column += width)
    for (int half : {0, 1})
      image.transfers.push_back(
          {.segment = 0,
           .row = half * image.rows / 2,
           .column = column,
           .lds = column / width * segmentBytes + half * rowsApart * image.lineBytes});
  for (int block = 0; block < image.rows / kBlock; ++block)
    for (int column = 0; column < image.rowBytes; column += 2 * image.fragmentBytes)
      image.fragments.push_back(
          {.segment = 0,
           .immediate = column / width * segmentBytes + block / 2 * rowsApart * image.lineBytes +
                        block % 2 * kBlock / rowsApart * width + column % width});
  image.bufferBytes = image.rowBytes / width * segmentBytes;
  return image;
}

/// Without padding: a line takes a piece of as many rows as one LDS cycle serves lanes, and their
/// 16-byte chunks of one column lie side by side. Its pieces are short, so memory sees each of its
/// lines more often than with padded lines.
LdsImage interleavedRowsImage(LdsImage image, const MfmaAtom &atom, const TargetFacts &target) {
  const int rowsOfLine = target.ldsBanks * 4 / kFragmentBytes;
  const int lineData = kWaveLanes * image.transferBytes, width = lineData / rowsOfLine;
  const int columnBytes = rowsOfLine * kFragmentBytes; // of a line: one chunk of each row
  const int lines = image.rows / rowsOfLine;           // that hold one piece of every row
  if (atom.m != kBlock || image.rows % kBlock != 0 || width % (2 * kFragmentBytes) != 0)
    return {};
  // The waves take lines of one piece, then of the next ones.
  const int rowWaves = std::min(lines, kGroupWaves), pieces = kGroupWaves / rowWaves;
  if (rowWaves * pieces != kGroupWaves || lines % rowWaves != 0 ||
      image.rowBytes % (pieces * width) != 0)
    return {};
  image.lineBytes = lineData;
  const int chunkBits = log2(kFragmentBytes / image.transferBytes), rowBits = log2(rowsOfLine);
  image.segments.push_back(
      {.globalRow = {.lane = {{chunkBits, rowBits, 1}}, .wave = {{0, log2(rowWaves), rowsOfLine}}},
       .globalColumn = {.lane = {{0, chunkBits, image.transferBytes},
                                 {chunkBits + rowBits, 6 - chunkBits - rowBits, kFragmentBytes}},
                        .wave = {{log2(rowWaves), log2(pieces), width}}},
       .read = {.lane = {{0, rowBits, kFragmentBytes},
                         {rowBits, 5 - rowBits, lineData},
                         {5, 1, columnBytes}},
                .wave = {}}});
  for (int column = 0; column < image.rowBytes; column += pieces * width)
    for (int line = 0; line < lines; line += rowWaves)
      image.transfers.push_back({.segment = 0,
                                 .row = line * rowsOfLine,
                                 .column = column,
                                 .lds = (column / width * lines + line) * lineData});
  auto placeOf = [&](int column) {
    return column / width * lines * lineData +
           column % width / (2 * kFragmentBytes) * 2 * columnBytes;
  };
  for (int &piece : image.pieces)
    piece = placeOf(piece);
  for (int row = 0; row < image.rows; row += kBlock)
    for (int column = 0; column < image.rowBytes; column += 2 * image.fragmentBytes)
      image.fragments.push_back(
          {.segment = 0, .immediate = placeOf(column) + row / rowsOfLine * lineData});
  image.bufferBytes = image.rows * image.rowBytes;
  return image;
}

/// Lines of row segments, with padding between them.
LdsImage paddedRowsImage(LdsImage image, const MfmaAtom &atom) {
  const int lineData = kWaveLanes * image.transferBytes;
  image.lineBytes = lineData + kPadBytes;
  if (image.transferBytes == 16 && image.rows == 128)
    return fourthRowsImage(std::move(image), atom);
  const int blocks = image.rows / kBlock;
  if (atom.m != kBlock || image.rows % kBlock != 0)
    return {};
  std::vector<std::vector<Fragment>> fragmentsOfBlock(blocks);
  int line = 0; // the next free one
  for (int column = 0, width; column < image.rowBytes; column += width) {
    width = std::min(kSegmentBytes, image.rowBytes - column);
    // A line holds this piece of several rows: of every block, and of further rows of the block
    // when there are more pieces than blocks. The latter are read together with other lines, and
    // 128 bytes between them keep them apart.
    const int lines = image.rows * width / lineData;
    if (lines < kGroupWaves || lines > kBlock || lines * lineData != image.rows * width)
      return {};
    const int more = kBlock / lines, laneBits = log2(width / image.transferBytes);
    const int blockBits = log2(blocks), lineBits = log2(lines), moreBits = log2(more);
    const bool moreFirst = width >= kSegmentBytes;
    const int moreBytes = moreFirst ? width : width * blocks;
    const int blockBytes = moreFirst ? width * more : width;
    const int segment = static_cast<int>(image.segments.size());
    const BitField moreRows{laneBits + (moreFirst ? 0 : blockBits), moreBits, lines};
    const BitField blockRows{laneBits + (moreFirst ? moreBits : 0), blockBits, kBlock};
    image.segments.push_back(
        {.globalRow = {.lane = {blockRows, moreRows}, .wave = {{0, 2, 1}}},
         .globalColumn = {.lane = {{0, laneBits, image.transferBytes}}, .wave = {}},
         .read = {.lane = {{0, lineBits, image.lineBytes},
                           {lineBits, moreBits, moreBytes},
                           {5, 1, kFragmentBytes}},
                  .wave = {}}});
    for (int first = 0; first < lines; first += kGroupWaves)
      image.transfers.push_back({.segment = segment,
                                 .row = first,
                                 .column = column,
                                 .lds = (line + first) * image.lineBytes});
    for (int block = 0; block < blocks; ++block)
      for (int chunk = 0; chunk < width; chunk += 2 * image.fragmentBytes)
        fragmentsOfBlock[block].push_back(
            {.segment = segment, .immediate = line * image.lineBytes + block * blockBytes + chunk});
    line += lines;
  }
  for (const std::vector<Fragment> &fragments : fragmentsOfBlock)
    image.fragments.insert(image.fragments.end(), fragments.begin(), fragments.end());
  image.bufferBytes = line * image.lineBytes;
  return image;
}

} // namespace

LdsImage keyImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                  const TargetFacts &target) {
  LdsImage image;
  image.kind = LdsImage::Kind::RowLines;
  image.lead = 1;
  image.rows = schedule.blockN;
  image.rowBytes = headDim * bytesOf(atom.input);
  image.buffers = schedule.kBuffers;
  image.transferBytes = target.maxDmaBytes; // what one DMA instruction brings for each lane
  setChunks(image, atom);
  // Two such tiles of K and two of V fill LDS.
  const bool padded = 4 * image.rows * image.rowBytes < target.ldsBytes;
  if (LdsImage lines = paddedRowsImage(image, atom);
      padded && lines.bufferBytes > 0 && bankConflicts(lines, target).reads == 0)
    return lines;
  return interleavedRowsImage(std::move(image), atom, target);
}

namespace {

/// Through registers: a dword of each lane, columns in 16 bytes of keys.
LdsImage transposedImage(const MfmaAtom &atom, const Schedule &schedule, int headDim) {
  const int bytes = bytesOf(atom.input), dwordElements = 4 / bytes;
  if (atom.m != kBlock || schedule.blockN * bytes != kGroupWaves * kFragmentBytes)
    return {};
  LdsImage image;
  image.kind = LdsImage::Kind::Transposed;
  image.rows = schedule.blockN;
  image.rowBytes = headDim * bytes;
  image.buffers = schedule.vBuffers;
  // Columns in the order of LDS: first those of every dword's element 0, then of element 1, ...
  // A wave writes one group of keys of all columns: those of the 16 bytes of a fragment that the
  // lanes of one half read, which are quads of keys `quadStride` apart.
  const int dwords = image.rowBytes / 4;
  if (dwords < 1)
    return {};
  const int imageColumns = std::max(dwords, kBlock);
  const int quadStride = 8, quads = kFragmentBytes / (4 * bytes);
  image.lineBytes = imageColumns * kFragmentBytes;
  auto columnBytes = [&](int column) {
    return column / imageColumns * kGroupWaves * image.lineBytes +
           column % imageColumns * kFragmentBytes;
  };
  image.bufferBytes = headDim / imageColumns * kGroupWaves * image.lineBytes;

  // Neighbouring lanes take the quads of one dword column if there are more lanes than columns:
  // the lanes' stores then fill consecutive bytes, without a conflict. If there are fewer, a row
  // comes in parts.
  const int parts = std::max(1, dwords / kWaveLanes), dwordsOfPart = dwords / parts;
  const int lanesPerColumn = kWaveLanes / dwordsOfPart, sharedBits = log2(lanesPerColumn);
  if (lanesPerColumn * dwords != kWaveLanes * parts || lanesPerColumn > quads)
    return {};
  const int quadsPerLane = quads / lanesPerColumn;
  image.segments.push_back(
      {.globalRow = {.lane = {{0, sharedBits, quadStride * quadsPerLane}},
                     .wave = {{1, 1, image.rows / 2}, {0, 1, 4}}},
       .globalColumn = {.lane = {{sharedBits, 6 - sharedBits, 4}}, .wave = {}},
       .read = {.lane = {{0, 5, kFragmentBytes}, {5, 1, image.lineBytes}}, .wave = {}}});
  for (int part = 0; part < parts; ++part)
    for (int quad = 0; quad < quadsPerLane; ++quad)
      for (int row = 0; row < 4; ++row)
        image.transfers.push_back({.segment = 0,
                                   .base = quad * quadStride,
                                   .row = row,
                                   .column = part * dwordsOfPart * 4,
                                   .lds = 0});
  image.writeBytes = kFragmentBytes / lanesPerColumn;
  image.write = {.lane = {{0, 6, image.writeBytes}}, .wave = {{0, 2, image.lineBytes}}};
  for (int part = 0; part < parts; ++part)
    for (int element = 0; element < dwordElements; ++element)
      image.writeImmediate.push_back(columnBytes(element * dwords + part * dwordsOfPart));

  for (int half : {0, 1})
    for (int block = 0; block < headDim / kBlock; ++block)
      image.fragments.push_back(
          {.segment = 0, .immediate = half * 2 * image.lineBytes + columnBytes(block * kBlock)});
  // Column number n in the order of LDS is element n / dwords of dword n % dwords.
  const int dwordBits = log2(dwords);
  image.column = {.lane = {{0, std::min(5, dwordBits), dwordElements}}, .wave = {}};
  if (dwordBits < 5)
    image.column.lane.push_back({dwordBits, 5 - dwordBits, 1});
  if (dwordBits > 5)
    image.column.wave.push_back({0, dwordBits - 5, kBlock * dwordElements});
  image.column.wave.push_back({std::max(0, dwordBits - 5), 5, std::max(1, kBlock / dwords)});
  return image;
}

/// By DMA, whole rows in lines; the reads transpose. One takes, for each 16 lanes, 4 keys of 16
/// columns, so 8 keys for the wave.
LdsImage transposeReadImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                            const TargetFacts &target) {
  LdsImage image;
  image.kind = LdsImage::Kind::TransposeReads;
  image.rows = schedule.blockN;
  image.rowBytes = headDim * bytesOf(atom.input);
  image.buffers = schedule.vBuffers;
  image.transferBytes = target.maxDmaBytes;
  const int lineData = kWaveLanes * image.transferBytes;
  if (image.rowBytes > lineData)
    return {};
  const int rowsOfLine = lineData / image.rowBytes, laneBits = log2(kWaveLanes / rowsOfLine);
  const int lines = image.rows / rowsOfLine;
  constexpr int readRows = 8;
  if (atom.m != kBlock || !isHalf(atom.input) || atom.k != 2 * readRows || lines < readRows ||
      rowsOfLine * image.rowBytes != lineData)
    return {};
  image.lineBytes = lineData + kTransposePadBytes;
  image.bufferBytes = lines * image.lineBytes;
  // Line r holds rows r, r + lines, ... Lane 4 r + q of 16 points to row r and quad q of 16
  // columns, and of the quads the middle two change places: a lane's accumulators of quads 0 and 2
  // (or 1 and 3) are then 8 columns in a row.
  image.segments.push_back(
      {.globalRow = {.lane = {{laneBits, 6 - laneBits, lines}}, .wave = {{0, 2, 1}}},
       .globalColumn = {.lane = {{0, laneBits, image.transferBytes}}, .wave = {}},
       .read = {.lane = {{0, 1, 16},
                         {1, 1, 8},
                         {2, 2, image.lineBytes},
                         {4, 1, 32},
                         {5, 1, 4 * image.lineBytes}},
                .wave = {}}});
  image.column = {.lane = {{0, 2, 1}, {2, 1, 8}, {3, 1, 4}, {4, 1, 16}}, .wave = {{0, 5, kBlock}}};
  for (int line = 0; line < lines; line += kGroupWaves)
    image.transfers.push_back(
        {.segment = 0, .row = line, .column = 0, .lds = line * image.lineBytes});

  auto rowAt = [&](int row) {
    return row % lines * image.lineBytes + row / lines * image.rowBytes;
  };
  image.fragmentBytes = 4 * atom.operandRegisters;
  image.pieces = {0, rowAt(readRows)};
  const int blockBytes = kBlock * bytesOf(atom.input);
  for (int row = 0; row < image.rows; row += atom.k)
    for (int block = 0; block < headDim / kBlock; ++block)
      image.fragments.push_back({.segment = 0, .immediate = rowAt(row) + block * blockBytes});
  return image;
}

/// The same of 8-bit elements: a read takes, for each 16 lanes, 8 keys of 16 columns, so 16 keys
/// for the wave: quads 0 and 2 for its lower half and quads 1 and 3 for its upper, as a lane's
/// weights have them. The keys that the lower half reads lie in 8 lines.
LdsImage transposeReadBytesImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                                 const TargetFacts &target) {
  LdsImage image;
  image.kind = LdsImage::Kind::TransposeReads;
  image.rows = schedule.blockN;
  image.rowBytes = headDim;
  image.buffers = schedule.vBuffers;
  image.transferBytes = target.maxDmaBytes;
  const int lineData = kWaveLanes * image.transferBytes;
  if (image.rowBytes > lineData)
    return {};
  const int rowsOfLine = lineData / image.rowBytes, laneBits = log2(kWaveLanes / rowsOfLine);
  const int lines = image.rows / rowsOfLine;
  constexpr int readRows = 16;
  if (atom.m != kBlock || atom.k % readRows != 0 || image.rows % atom.k != 0 ||
      (lines != 8 && lines != 16) || rowsOfLine * image.rowBytes != lineData)
    return {};
  image.lineBytes = lineData + kTransposeBytesPadBytes;
  image.bufferBytes = lines * image.lineBytes;
  // Row bits 0, 1 and 3 choose one of 8 lines. Bit 2, the half, doubles the lines if there are 16,
  // else the places in a line; there the higher bits are.
  const bool halfInLines = lines == 16;
  const BitField half{laneBits, halfInLines ? 0 : 1, 4};
  const int placeBit = halfInLines ? 0 : 1;
  const BitField further{laneBits + placeBit, 6 - laneBits - placeBit, readRows};
  image.segments.push_back(
      {.globalRow = {.lane = {half, further}, .wave = {{0, 2, 1}}},
       .globalColumn = {.lane = {{0, laneBits, image.transferBytes}}, .wave = {}},
       .read = {.lane = {{0, 1, 8},
                         {1, 2, image.lineBytes},
                         {3, 1, 4 * image.lineBytes},
                         {4, 1, 16},
                         {5, 1, halfInLines ? 8 * image.lineBytes : image.rowBytes}},
                .wave = {}}});
  image.column = {.lane = {{0, 5, 1}}, .wave = {{0, 5, kBlock}}};
  for (int line = 0; line < lines; line += kGroupWaves)
    image.transfers.push_back({.segment = 0,
                               .row = line / 4 % 2 * 8 + line / 8 * 4,
                               .column = 0,
                               .lds = line * image.lineBytes});

  auto placeOf = [&](int row) { return (row / readRows << placeBit) * image.rowBytes; };
  image.fragmentBytes = 4 * atom.operandRegisters;
  image.pieces.clear();
  for (int row = 0; row < atom.k; row += readRows)
    image.pieces.push_back(placeOf(row));
  for (int row = 0; row < image.rows; row += atom.k)
    for (int block = 0; block < headDim / kBlock; ++block)
      image.fragments.push_back({.segment = 0, .immediate = placeOf(row) + block * kBlock});
  return image;
}

} // namespace

LdsImage valueImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                    const TargetFacts &target) {
  if (!target.transposeReads)
    return transposedImage(atom, schedule, headDim);
  return bytesOf(atom.input) == 1 ? transposeReadBytesImage(atom, schedule, headDim, target)
                                  : transposeReadImage(atom, schedule, headDim, target);
}

BankConflicts bankConflicts(const LdsImage &image, const TargetFacts &target) {
  BankConflicts conflicts;
  for (const Fragment &fragment : image.fragments)
    for (int piece : image.pieces) {
      auto byteOf = [&](int lane) {
        return image.segments[fragment.segment].read.evaluate(lane, 0) + fragment.immediate + piece;
      };
      conflicts.reads = std::max(conflicts.reads,
                                 worstConflict(target, image.readBytes(), /*write=*/false, byteOf));
    }
  // A DMA instruction fills consecutive bytes and cannot conflict with itself.
  if (image.throughRegisters())
    for (int wave = 0; wave < kGroupWaves; ++wave)
      conflicts.writes =
          std::max(conflicts.writes, worstConflict(target, image.writeBytes, true, [&](int lane) {
                     return image.write.evaluate(lane, wave);
                   }));
  return conflicts;
}

namespace {

/// Empty, or what is wrong with the buffers and waits of one stream.
std::string streamReason(const char *name, const LdsImage &image, const StreamWaits &waits,
                         int pre) {
  if (image.throughRegisters()) {
    if (image.buffers != 2)
      return fmt::format("{} buffers for {} through registers: want 2", image.buffers, name);
    if (waits.vmem != -1 || waits.lds < 0 || waits.lds > pre)
      return fmt::format("waits vmem {} and lds {} for {} through registers: want -1 and 0..{}, or "
                         "tiles are read before they are there",
                         waits.vmem, waits.lds, name, pre);
    return {};
  }
  if (image.tilesInFlight() < 0)
    return fmt::format("{} buffers for {} by DMA: want at least {}", image.buffers, name,
                       image.buffers - image.tilesInFlight());
  const int vmem = static_cast<int>(image.transfers.size()) * image.tilesInFlight();
  if (waits.lds != -1 || waits.vmem < 0 || waits.vmem > vmem)
    return fmt::format("waits vmem {} and lds {} for {} by DMA: want 0..{} and -1, or tiles are "
                       "read before they are there",
                       waits.vmem, waits.lds, name, vmem);
  return {};
}

} // namespace

std::string unsupportedReason(const KernelShape &shape, const Schedule &schedule,
                              const TargetFacts &target) {
  if (atoms(target, shape.element).empty())
    return fmt::format("target {} multiplies no {}: want bf16, f16 or {}", target.name,
                       nameOf(shape.element), nameOf(target.fp8));
  constexpr std::array<std::pair<int, int>, 4> kDims{
      {{192, 128}, {128, 128}, {64, 64}, {256, 256}}};
  if (std::find(kDims.begin(), kDims.end(), std::pair{shape.headDimQk, shape.headDimV}) ==
      kDims.end())
    return fmt::format("head dims {}x{}: want 192x128, 128x128, 64x64 or 256x256", shape.headDimQk,
                       shape.headDimV);
  if (schedule.blockM != 256 || schedule.waves != 8)
    return fmt::format("tile of {} rows on {} waves: want 256 on 8", schedule.blockM,
                       schedule.waves);
  const MfmaAtom &atom = atoms(target, shape.element).front();
  const LdsImage keys = keyImage(atom, schedule, shape.headDimQk, target);
  const LdsImage values = valueImage(atom, schedule, shape.headDimV, target);
  if (!keys.bufferBytes || !values.bufferBytes)
    return fmt::format("steps of {} keys have no LDS image on {}", schedule.blockN, target.name);
  if (schedule.pre < 1 || schedule.pre > kMostInFlight || schedule.ring < schedule.pre)
    return fmt::format("ring {} with {} requested ahead: want 1 <= pre <= ring, pre <= {}",
                       schedule.ring, schedule.pre, kMostInFlight);
  if (schedule.registerAhead != 1 && schedule.registerAhead != 2)
    return fmt::format("tiles through registers {} steps ahead: want 1 or 2",
                       schedule.registerAhead);
  if (schedule.pipelineDistance < 1 || schedule.maxChains < 1 || schedule.sumChains < 1 ||
      schedule.maxChains > 8 || schedule.sumChains > 8)
    return "softmax pipeline distance and chains: want 1..8";
  if (schedule.pRounding == PRounding::Truncated &&
      (!isHalf(shape.element) || target.packedConvert))
    return fmt::format("truncated weights of {}: {} rounds them in one instruction a pair",
                       nameOf(shape.element), target.name);
  // Written so that NaN is refused.
  const double range = std::log2(largestOf(shape.element));
  const double reach = double{schedule.weightExponent} + double{schedule.rescaleThreshold};
  if (!(schedule.rescaleThreshold >= 0 && reach <= range))
    return fmt::format("weights up to 2^({} + {}): want a threshold from 0 and a sum of at most "
                       "{:.2f} for {}",
                       schedule.weightExponent, schedule.rescaleThreshold, range,
                       nameOf(shape.element));
  if (schedule.rowSum == RowSum::Matrix && !rowSumAtom(target, shape.element))
    return fmt::format("sums of {} by the matrix core: {} has no instruction for them",
                       nameOf(shape.element), target.name);
  for (auto [name, image, waits] :
       {std::tuple{"K", &keys, &schedule.keyWaits}, std::tuple{"V", &values, &schedule.valueWaits}})
    if (std::string reason = streamReason(name, *image, *waits, schedule.pre); !reason.empty())
      return reason;
  const int lds = keys.totalBytes() + values.totalBytes();
  if (lds > target.ldsBytes)
    return fmt::format("{} bytes of LDS with {} K and {} V buffers: {} has {}", lds,
                       schedule.kBuffers, schedule.vBuffers, target.name, target.ldsBytes);
  return {};
}

} // namespace wavesmith::compiler
