// LDS images by themselves: every byte is written once, every read finds what it needs, and neither
// meets a bank conflict. The lane maps are evaluated on the host, as the emitters evaluate them.

#include <array>
#include <ostream>
#include <set>
#include <span>

#include <gtest/gtest.h>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler {
namespace {

const TargetFacts &gfx942() { return *findTarget("gfx942"); }
const TargetFacts &gfx950() { return *findTarget("gfx950"); }

struct Case {
  const char *target;
  ElementType element;
  int blockN, dim;

  const TargetFacts &facts() const { return *findTarget(target); }
  const MfmaAtom &atom() const { return atoms(facts(), element).front(); }
  int bytes() const { return bytesOf(element); }
  Schedule schedule() const {
    Schedule schedule;
    schedule.blockN = blockN;
    return schedule;
  }
  LdsImage keys() const { return keyImage(atom(), schedule(), dim, facts()); }
  LdsImage values() const { return valueImage(atom(), schedule(), dim, facts()); }
};

constexpr ElementType kBf16 = ElementType::BF16, kF16 = ElementType::F16,
                      kFnuz = ElementType::F8E4M3Fnuz, kOcp = ElementType::F8E4M3Ocp;

/// The steps that the schedules have.
struct Step {
  const char *target;
  ElementType element;
  int blockN;
};
constexpr std::array kSteps{Step{"gfx942", kBf16, 32}, Step{"gfx942", kFnuz, 64},
                            Step{"gfx950", kBf16, 64}, Step{"gfx950", kOcp, 128},
                            Step{"gfx942", kF16, 32},  Step{"gfx950", kF16, 64}};
/// Those of 256x256, whose outputs leave fewer registers.
constexpr std::array kWideSteps{Step{"gfx942", kBf16, 32}, Step{"gfx942", kFnuz, 64},
                                Step{"gfx950", kBf16, 32}, Step{"gfx950", kOcp, 64}};

std::vector<Case> cases(const std::vector<int> &dims) {
  std::vector<Case> all;
  for (int dim : dims)
    for (const Step &step : dim == 256 ? std::span<const Step>(kWideSteps) : kSteps)
      all.push_back({step.target, step.element, step.blockN, dim});
  return all;
}

/// The cases whose V takes one way or the other.
std::vector<Case> valueCases(LdsImage::Kind kind) {
  std::vector<Case> all = cases({64, 128, 256});
  std::erase_if(all, [&](const Case &one) { return one.values().kind != kind; });
  return all;
}

void PrintTo(const Case &one, std::ostream *stream) {
  *stream << one.target << "_" << nameOf(one.element) << "_" << one.blockN << "x" << one.dim;
}

/// What DMA leaves in each byte of a buffer: its place in the tile, or -1 for padding.
std::vector<int> afterDma(const LdsImage &image) {
  std::vector<int> sourceOf(image.bufferBytes, -1);
  for (int wave = 0; wave < 4; ++wave)
    for (const Transfer &transfer : image.transfers)
      for (int lane = 0; lane < 64; ++lane) {
        const Segment &segment = image.segments[transfer.segment];
        const int row = segment.globalRow.evaluate(lane, wave) + transfer.base + transfer.row;
        const int column = segment.globalColumn.evaluate(lane, wave) + transfer.column;
        const int target = wave * image.lineBytes + transfer.lds + image.transferBytes * lane;
        EXPECT_LE(target + image.transferBytes, image.bufferBytes);
        for (int byte = 0; byte < image.transferBytes; ++byte) {
          EXPECT_EQ(sourceOf[target + byte], -1) << "written twice";
          sourceOf[target + byte] = row * image.rowBytes + column + byte;
        }
      }
  std::set<int> sources(sourceOf.begin(), sourceOf.end());
  EXPECT_EQ(sources.erase(-1) == 1, image.bufferBytes > image.rows * image.rowBytes) << "padding";
  EXPECT_EQ(sources.size(), static_cast<std::size_t>(image.rows * image.rowBytes))
      << "the whole tile";
  return sourceOf;
}

/// The LDS byte at which a lane's read of a piece of a fragment starts.
int readAt(const LdsImage &image, const Fragment &fragment, int piece, int lane) {
  return image.segments[fragment.segment].read.evaluate(lane, 0) + fragment.immediate +
         image.pieces[piece];
}

class KeyImageTest : public ::testing::TestWithParam<Case> {};

TEST_P(KeyImageTest, HasNoBankConflict) {
  EXPECT_EQ(bankConflicts(GetParam().keys(), GetParam().facts()).reads, 0);
}

/// Every read must find what DMA put there: byte 32 x + 16 h of row 32 b + c for lane (c, h) of
/// chunk x, the next one of block b.
TEST_P(KeyImageTest, ReadsFindWhatDmaWrote) {
  const LdsImage image = GetParam().keys();
  const std::vector<int> sourceOf = afterDma(image);
  const int chunks = image.rowBytes / 32, pieces = static_cast<int>(image.pieces.size());
  ASSERT_EQ(static_cast<int>(image.fragments.size()) * pieces, image.rows / 32 * chunks);
  ASSERT_EQ(image.readBytes(), 16);
  int chunk = 0;
  for (const Fragment &fragment : image.fragments)
    for (int piece = 0; piece < pieces; ++piece, ++chunk)
      for (int lane = 0; lane < 64; ++lane)
        for (int byte = 0; byte < 16; ++byte)
          ASSERT_EQ(sourceOf[readAt(image, fragment, piece, lane) + byte],
                    (32 * (chunk / chunks) + lane % 32) * image.rowBytes + 32 * (chunk % chunks) +
                        16 * (lane / 32) + byte);
}

INSTANTIATE_TEST_SUITE_P(Images, KeyImageTest, ::testing::ValuesIn(cases({64, 128, 192, 256})),
                         ::testing::PrintToStringParamName());

class ValueImageTest : public ::testing::TestWithParam<Case> {};

TEST_P(ValueImageTest, HasNoBankConflict) {
  const BankConflicts conflicts = bankConflicts(GetParam().values(), GetParam().facts());
  EXPECT_EQ(conflicts.reads, 0);
  EXPECT_EQ(conflicts.writes, 0);
}

/// Every column once; a lane's accumulators, in the order of columns, are runs of at least 8 (4 of
/// transposed bytes, 8 of which are always neighbours), and its partner's lie a constant distance
/// away.
TEST_P(ValueImageTest, AccumulatorsAreRunsOfColumns) {
  const LdsImage image = GetParam().values();
  const MfmaAtom &atom = GetParam().atom();
  std::set<int> ofHalf[2];
  for (int block = 0; block < GetParam().dim / atom.m; ++block)
    for (int index = 0; index < atom.accumulatorRegisters; ++index)
      for (int half : {0, 1})
        ofHalf[half].insert(image.column.evaluate(atom.accumulatorRow(index, half), block));
  std::set<int> all = ofHalf[0];
  all.insert(ofHalf[1].begin(), ofHalf[1].end());
  EXPECT_EQ(static_cast<int>(all.size()), GetParam().dim);
  EXPECT_EQ(*all.rbegin(), GetParam().dim - 1);
  const int distance = *ofHalf[1].begin() - *ofHalf[0].begin();
  int place = 0, previous = 0;
  for (int column : ofHalf[0]) {
    EXPECT_TRUE(ofHalf[1].contains(column + distance));
    const bool bytes = image.kind == LdsImage::Kind::TransposeReads && GetParam().bytes() == 1;
    if (place++ % (bytes ? 4 : 8) != 0) {
      EXPECT_EQ(column, previous + 1);
    }
    previous = column;
  }
}

INSTANTIATE_TEST_SUITE_P(Images, ValueImageTest, ::testing::ValuesIn(cases({64, 128, 256})),
                         ::testing::PrintToStringParamName());

class TransposedImageTest : public ::testing::TestWithParam<Case> {};

/// Element e of fragment (half, d) in lane (c, h) must be key e / 4 * 8 + 4 h + e % 4 of that half
/// of the tile, of the column that the image gives to row c of block d.
TEST_P(TransposedImageTest, ReadsFindTheTransposedTile) {
  const LdsImage image = GetParam().values();
  const int bytes = GetParam().bytes(), perDword = 4 / bytes;
  std::vector<std::pair<int, int>> sourceOf(image.bufferBytes / bytes, {-1, -1}); // key, column
  const int parts = std::max(1, image.rowBytes / 256); // of a row: what 64 lanes load
  ASSERT_EQ(static_cast<int>(image.writeImmediate.size()), parts * perDword);
  const int loads = static_cast<int>(image.transfers.size()) / parts;
  for (int wave = 0; wave < 4; ++wave)
    for (int lane = 0; lane < 64; ++lane)
      for (int i = 0; i < parts * loads; ++i) {
        const Segment &segment = image.segments.front();
        const Transfer &transfer = image.transfers[i];
        const int key = segment.globalRow.evaluate(lane, wave) + transfer.base + transfer.row;
        const int column = (segment.globalColumn.evaluate(lane, wave) + transfer.column) / bytes;
        for (int element = 0; element < perDword; ++element) {
          const int target = (image.write.evaluate(lane, wave) +
                              image.writeImmediate[i / loads * perDword + element]) /
                                 bytes +
                             i % loads;
          ASSERT_LT(target, image.bufferBytes / bytes);
          EXPECT_EQ(sourceOf[target].first, -1) << "written twice";
          sourceOf[target] = {key, column + element};
        }
      }
  const int blocks = GetParam().dim / 32;
  ASSERT_EQ(static_cast<int>(image.fragments.size()), 2 * blocks);
  for (int index = 0; index < 2 * blocks; ++index)
    for (int lane = 0; lane < 64; ++lane)
      for (int e = 0; e < 16 / bytes; ++e) {
        const int half = index / blocks, block = index % blocks, c = lane % 32, h = lane / 32;
        const int at = readAt(image, image.fragments[index], 0, lane) / bytes + e;
        ASSERT_EQ(sourceOf[at], std::pair(image.rows / 2 * half + 8 * (e / 4) + 4 * h + e % 4,
                                          image.column.evaluate(c, block)));
      }
}

INSTANTIATE_TEST_SUITE_P(Images, TransposedImageTest,
                         ::testing::ValuesIn(valueCases(LdsImage::Kind::Transposed)),
                         ::testing::PrintToStringParamName());

class TransposeReadsTest : public ::testing::TestWithParam<Case> {};

/// ds_read_b64_tr_b16: in each 16 lanes, lane c gets element e from what lane 4 e + c / 4 points
/// to, of its four the one with number c % 4; ds_read_b64_tr_b8 the same with 2 lanes and 8
/// elements (CDNA4 ISA). The reads of fragment (step, block) must bring, of the step's keys, those
/// with number 8 (e / 4) + 4 h + e % 4, of the column of row c of the block.
TEST_P(TransposeReadsTest, ReadsTransposeTheTile) {
  const LdsImage image = GetParam().values();
  const MfmaAtom &atom = GetParam().atom();
  const int bytes = GetParam().bytes(), perRead = 8 / bytes, lanesPerRow = 16 / perRead;
  ASSERT_EQ(image.readBytes(), 8);
  ASSERT_EQ(static_cast<int>(image.pieces.size()), atom.operandRegisters / 2);
  const std::vector<int> sourceOf = afterDma(image);
  const int blocks = GetParam().dim / 32;
  ASSERT_EQ(static_cast<int>(image.fragments.size()), image.rows / atom.k * blocks);
  for (int index = 0; index < static_cast<int>(image.fragments.size()); ++index)
    for (int lane = 0; lane < 64; ++lane)
      for (int e = 0; e < atom.k / 2; ++e) {
        const int pointing = lane / 16 * 16 + lanesPerRow * (e % perRead) + lane % 16 / perRead;
        const int at =
            readAt(image, image.fragments[index], e / perRead, pointing) + bytes * (lane % perRead);
        const int key = atom.k * (index / blocks) + 8 * (e / 4) + 4 * (lane / 32) + e % 4;
        const int column = image.column.evaluate(lane % 32, index % blocks);
        ASSERT_EQ(sourceOf[at], key * image.rowBytes + bytes * column);
      }
}

INSTANTIATE_TEST_SUITE_P(Images, TransposeReadsTest,
                         ::testing::ValuesIn(valueCases(LdsImage::Kind::TransposeReads)),
                         ::testing::PrintToStringParamName());

TEST(BankConflictsTest, SeesUnpaddedLines) {
  for (const Case &on : {Case{"gfx942", kBf16, 32, 192}, Case{"gfx950", kBf16, 64, 192}}) {
    LdsImage image = on.keys();
    image.segments.front().read.lane.front().scale = image.lineBytes - 16;
    EXPECT_GT(bankConflicts(image, on.facts()).reads, 0) << on.target;
  }
  LdsImage values = Case{"gfx950", kBf16, 64, 128}.values();
  values.segments.front().read.lane[2].scale = 1024;
  EXPECT_GT(bankConflicts(values, gfx950()).reads, 0);
}

Schedule wideSchedule() {
  Schedule schedule{.blockN = 64, .ring = 7, .kBuffers = 3, .vBuffers = 4};
  schedule.keyWaits = {.vmem = 6, .lds = -1};
  schedule.valueWaits = {.vmem = 4, .lds = -1};
  return schedule;
}

TEST(UnsupportedReasonTest, NamesWhatIsWrong) {
  EXPECT_EQ(unsupportedReason({}, {}, gfx942()), "");
  EXPECT_EQ(unsupportedReason({}, wideSchedule(), gfx950()), "");
  EXPECT_EQ(unsupportedReason({.headDimQk = 96, .headDimV = 96}, {}, gfx942()),
            "head dims 96x96: want 192x128, 128x128, 64x64 or 256x256");
  EXPECT_EQ(unsupportedReason({}, {.kBuffers = 4}, gfx942()),
            "68608 bytes of LDS with 4 K and 2 V buffers: gfx942 has 65536");
  EXPECT_EQ(unsupportedReason({}, wideSchedule(), gfx942()),
            "steps of 64 keys have no LDS image on gfx942");
  EXPECT_EQ(unsupportedReason({}, {.registerAhead = 3}, gfx942()),
            "tiles through registers 3 steps ahead: want 1 or 2");
  EXPECT_EQ(unsupportedReason({}, {.blockN = 48}, gfx950()),
            "steps of 48 keys have no LDS image on gfx950");
  Schedule few = wideSchedule();
  few.vBuffers = 2;
  EXPECT_EQ(unsupportedReason({}, few, gfx950()), "2 buffers for V by DMA: want at least 3");
}

TEST(UnsupportedReasonTest, RefusesWaitsThatAreTooLoose) {
  EXPECT_EQ(unsupportedReason({}, {.kBuffers = 3, .keyWaits = {.vmem = 12}}, gfx942()), "");
  EXPECT_EQ(unsupportedReason({}, {.keyWaits = {.vmem = 1}}, gfx942()),
            "waits vmem 1 and lds -1 for K by DMA: want 0..0 and -1, or tiles are read before they "
            "are there");
  EXPECT_EQ(unsupportedReason({}, {.valueWaits = {.lds = 4}}, gfx942()),
            "waits vmem -1 and lds 4 for V through registers: want -1 and 0..3, or tiles are read "
            "before they are there");
  Schedule loose = wideSchedule();
  loose.valueWaits.vmem = 5;
  EXPECT_EQ(unsupportedReason({}, loose, gfx950()),
            "waits vmem 5 and lds -1 for V by DMA: want 0..4 and -1, or tiles are read before they "
            "are there");
}

} // namespace
} // namespace wavesmith::compiler
