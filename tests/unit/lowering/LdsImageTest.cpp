#include <set>

#include <gtest/gtest.h>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler {
namespace {

const TargetFacts &gfx942() { return *findTarget("gfx942"); }
const MfmaAtom &atom() { return atoms(gfx942(), ElementType::BF16).front(); }

class KeyImageTest : public ::testing::TestWithParam<int> {};

TEST_P(KeyImageTest, HasNoBankConflict) {
  EXPECT_EQ(bankConflicts(keyImage(atom(), Schedule(), GetParam(), gfx942()), gfx942()).reads, 0);
}

/// Every fragment read must find what DMA put there: byte 32 x + 16 h of row c for lane (c, h).
TEST_P(KeyImageTest, ReadsFindWhatDmaWrote) {
  const LdsImage image = keyImage(atom(), Schedule(), GetParam(), gfx942());
  std::vector<int> sourceOf(image.bufferBytes, -1);
  for (int wave = 0; wave < 4; ++wave)
    for (const Transfer &transfer : image.transfers)
      for (int lane = 0; lane < 64; ++lane) {
        const int row = image.globalRow.evaluate(lane, wave) + transfer.row;
        const int column = image.globalColumn.evaluate(lane, wave) + transfer.column;
        const int target = wave * image.waveBytes + transfer.lds + 4 * lane;
        ASSERT_LE(target + 4, image.bufferBytes);
        for (int byte = 0; byte < 4; ++byte) {
          EXPECT_EQ(sourceOf[target + byte], -1) << "written twice";
          sourceOf[target + byte] = row * image.rowBytes + column + byte;
        }
      }
  ASSERT_EQ(static_cast<int>(image.readImmediate.size()), image.rowBytes / 32);
  for (int chunk = 0; chunk < image.rowBytes / 32; ++chunk)
    for (int lane = 0; lane < 64; ++lane)
      for (int byte = 0; byte < 16; ++byte)
        EXPECT_EQ(sourceOf[image.read.evaluate(lane, 0) + image.readImmediate[chunk] + byte],
                  lane % 32 * image.rowBytes + 32 * chunk + 16 * (lane / 32) + byte);
}

INSTANTIATE_TEST_SUITE_P(Dims, KeyImageTest, ::testing::Values(64, 128, 192));

class ValueImageTest : public ::testing::TestWithParam<int> {};

TEST_P(ValueImageTest, HasNoBankConflict) {
  const BankConflicts conflicts =
      bankConflicts(valueImage(atom(), Schedule(), GetParam(), gfx942()), gfx942());
  EXPECT_EQ(conflicts.reads, 0);
  EXPECT_EQ(conflicts.writes, 0);
}

/// Element e of fragment (jp, d) in lane (c, h) must be key 16 jp + 8 (e / 4) + 4 h + e % 4 of
/// column 2 (32 (d / 2) + c) + d % 2.
TEST_P(ValueImageTest, ReadsFindTheTransposedTile) {
  const LdsImage image = valueImage(atom(), Schedule(), GetParam(), gfx942());
  std::vector<std::pair<int, int>> sourceOf(image.bufferBytes / 2, {-1, -1}); // key, column
  for (int wave = 0; wave < 4; ++wave)
    for (int lane = 0; lane < 64; ++lane)
      for (std::size_t i = 0; i < image.transfers.size(); ++i) {
        const int key = image.globalRow.evaluate(lane, wave) + image.transfers[i].row;
        const int column = image.globalColumn.evaluate(lane, wave) / 2;
        for (int odd : {0, 1}) {
          const int target =
              (image.write.evaluate(lane, wave) + odd * image.oddImage) / 2 + static_cast<int>(i);
          ASSERT_LT(target, image.bufferBytes / 2);
          EXPECT_EQ(sourceOf[target].first, -1) << "written twice";
          sourceOf[target] = {key, column + odd};
        }
      }
  const int blocks = GetParam() / 32;
  ASSERT_EQ(static_cast<int>(image.readImmediate.size()), 2 * blocks);
  for (int fragment = 0; fragment < 2 * blocks; ++fragment)
    for (int lane = 0; lane < 64; ++lane)
      for (int e = 0; e < 8; ++e) {
        const int half = fragment / blocks, block = fragment % blocks, c = lane % 32, h = lane / 32;
        const int at = (image.read.evaluate(lane, 0) + image.readImmediate[fragment]) / 2 + e;
        EXPECT_EQ(sourceOf[at], std::pair(16 * half + 8 * (e / 4) + 4 * h + e % 4,
                                          2 * (32 * (block / 2) + c) + block % 2));
      }
}

INSTANTIATE_TEST_SUITE_P(Dims, ValueImageTest, ::testing::Values(64, 128));

TEST(BankConflictsTest, SeesUnpaddedLines) {
  LdsImage image = keyImage(atom(), Schedule(), 192, gfx942());
  image.read.lane.front().scale = 256;
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
