#include <set>

#include <gtest/gtest.h>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler {
namespace {

const TargetFacts &gfx942() { return *findTarget("gfx942"); }

/// Tiles of 64 bytes of keys, as both element types have them.
struct Case {
  ElementType element;
  int dim;

  const MfmaAtom &atom() const { return atoms(gfx942(), element).front(); }
  int bytes() const { return bytesOf(element); }
  Schedule schedule() const { return {.blockN = 64 / bytes()}; }
  LdsImage keys() const { return keyImage(atom(), schedule(), dim, gfx942()); }
  LdsImage values() const { return valueImage(atom(), schedule(), dim, gfx942()); }
};

std::vector<Case> cases(std::vector<int> dims) {
  std::vector<Case> all;
  for (ElementType element : {ElementType::BF16, ElementType::F8E4M3Fnuz})
    for (int dim : dims)
      all.push_back({element, dim});
  return all;
}

std::string caseName(const ::testing::TestParamInfo<Case> &info) {
  return (info.param.element == ElementType::BF16 ? "bf16_" : "fp8_") +
         std::to_string(info.param.dim);
}

class KeyImageTest : public ::testing::TestWithParam<Case> {};

TEST_P(KeyImageTest, HasNoBankConflict) {
  EXPECT_EQ(bankConflicts(GetParam().keys(), gfx942()).reads, 0);
}

/// Every fragment read must find what DMA put there: byte 32 x + 16 h of row 32 b + c for lane
/// (c, h) of fragment (b, x).
TEST_P(KeyImageTest, ReadsFindWhatDmaWrote) {
  const LdsImage image = GetParam().keys();
  std::vector<int> sourceOf(image.bufferBytes, -1);
  for (int wave = 0; wave < 4; ++wave)
    for (const Transfer &transfer : image.transfers)
      for (int lane = 0; lane < 64; ++lane) {
        const Segment &segment = image.segments[transfer.segment];
        const int row = segment.globalRow.evaluate(lane, wave) + transfer.row;
        const int column = segment.globalColumn.evaluate(lane, wave) + transfer.column;
        const int target = wave * image.waveBytes + transfer.lds + 4 * lane;
        ASSERT_LE(target + 4, image.bufferBytes);
        for (int byte = 0; byte < 4; ++byte) {
          EXPECT_EQ(sourceOf[target + byte], -1) << "written twice";
          sourceOf[target + byte] = row * image.rowBytes + column + byte;
        }
      }
  const int chunks = image.rowBytes / 32;
  ASSERT_EQ(static_cast<int>(image.fragments.size()), image.rows / 32 * chunks);
  for (int index = 0; index < static_cast<int>(image.fragments.size()); ++index)
    for (int lane = 0; lane < 64; ++lane)
      for (int byte = 0; byte < 16; ++byte) {
        const Fragment &fragment = image.fragments[index];
        const int at = image.segments[fragment.segment].read.evaluate(lane, 0) + byte;
        ASSERT_EQ(sourceOf[at + fragment.immediate],
                  (32 * (index / chunks) + lane % 32) * image.rowBytes + 32 * (index % chunks) +
                      16 * (lane / 32) + byte);
      }
}

INSTANTIATE_TEST_SUITE_P(Dims, KeyImageTest, ::testing::ValuesIn(cases({64, 128, 192})), caseName);

class ValueImageTest : public ::testing::TestWithParam<Case> {};

TEST_P(ValueImageTest, HasNoBankConflict) {
  const BankConflicts conflicts = bankConflicts(GetParam().values(), gfx942());
  EXPECT_EQ(conflicts.reads, 0);
  EXPECT_EQ(conflicts.writes, 0);
}

/// Element e of fragment (half, d) in lane (c, h) must be key e / 4 * 8 + 4 h + e % 4 of that half
/// of the tile, of the column that the image gives to row c of block d.
TEST_P(ValueImageTest, ReadsFindTheTransposedTile) {
  const LdsImage image = GetParam().values();
  const int bytes = GetParam().bytes(), perDword = 4 / bytes;
  std::vector<std::pair<int, int>> sourceOf(image.bufferBytes / bytes, {-1, -1}); // key, column
  ASSERT_EQ(static_cast<int>(image.writeImmediate.size()), perDword);
  for (int wave = 0; wave < 4; ++wave)
    for (int lane = 0; lane < 64; ++lane)
      for (std::size_t i = 0; i < image.transfers.size(); ++i) {
        const Segment &segment = image.segments.front();
        const int key = segment.globalRow.evaluate(lane, wave) + image.transfers[i].row;
        const int column = segment.globalColumn.evaluate(lane, wave) / bytes;
        for (int element = 0; element < perDword; ++element) {
          const int target =
              (image.write.evaluate(lane, wave) + image.writeImmediate[element]) / bytes +
              static_cast<int>(i);
          ASSERT_LT(target, image.bufferBytes / bytes);
          EXPECT_EQ(sourceOf[target].first, -1) << "written twice";
          sourceOf[target] = {key, column + element};
        }
      }
  const int blocks = GetParam().dim / 32;
  ASSERT_EQ(static_cast<int>(image.fragments.size()), 2 * blocks);
  std::set<int> columns;
  for (int index = 0; index < 2 * blocks; ++index)
    for (int lane = 0; lane < 64; ++lane)
      for (int e = 0; e < 16 / bytes; ++e) {
        const int half = index / blocks, block = index % blocks, c = lane % 32, h = lane / 32;
        const int at =
            (image.segments.front().read.evaluate(lane, 0) + image.fragments[index].immediate) /
                bytes +
            e;
        const int column = image.column.evaluate(c, block);
        columns.insert(column);
        ASSERT_EQ(sourceOf[at],
                  std::pair(image.rows / 2 * half + 8 * (e / 4) + 4 * h + e % 4, column));
      }
  EXPECT_EQ(static_cast<int>(columns.size()), GetParam().dim);
}

INSTANTIATE_TEST_SUITE_P(Dims, ValueImageTest, ::testing::ValuesIn(cases({64, 128})), caseName);

TEST(BankConflictsTest, SeesUnpaddedLines) {
  LdsImage image = Case{ElementType::BF16, 192}.keys();
  image.segments.front().read.lane.front().scale = 256;
  EXPECT_GT(bankConflicts(image, gfx942()).reads, 0);
}

TEST(UnsupportedReasonTest, NamesWhatIsWrong) {
  EXPECT_EQ(unsupportedReason({}, {}, gfx942()), "");
  EXPECT_EQ(unsupportedReason({.headDimQk = 96, .headDimV = 96}, {}, gfx942()),
            "head dims 96x96: want 192x128, 128x128 or 64x64");
  EXPECT_EQ(unsupportedReason({}, {.kBuffers = 4}, gfx942()),
            "68864 bytes of LDS with 4 K buffers: gfx942 has 65536");
}

TEST(UnsupportedReasonTest, RefusesWaitsThatAreTooLoose) {
  EXPECT_EQ(unsupportedReason({}, {.kBuffers = 3, .keyWait = 12}, gfx942()), "");
  EXPECT_EQ(unsupportedReason({}, {.keyWait = 1}, gfx942()),
            "waits of 1 for K and 3 for V: want 0..0 and 0..3, or tiles are read before they are "
            "there");
}

} // namespace
} // namespace wavesmith::compiler
