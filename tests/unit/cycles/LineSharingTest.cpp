// Who reads a line, of vector and scalar accesses together.

#include <gtest/gtest.h>

#include "emulator/cycles/Chips.h"
#include "emulator/cycles/LineSharing.h"
#include "emulator/machine/Program.h"
#include "tests/unit/cycles/Assemble.h"

namespace wavesmith::emulator {
namespace {

TEST(LineSharing, CountsScalarLinesAsPartsOfVectorLines) {
  if (!test::haveAssembler())
    GTEST_SKIP() << "llvm-mc or ld.lld not found";
  const auto code = test::assemble("alu", "gfx942", 1, 4);
  ASSERT_TRUE(code) << code.status().message();
  auto device = Device::create({"gfx942"});
  ASSERT_TRUE(device);
  const auto module = (*device)->load(*code);
  ASSERT_TRUE(module);
  const auto program = Program::decode(**module, code->kernels().front(), false);
  ASSERT_TRUE(program);

  constexpr int kGroups = 4;
  const auto chip = cycles::findChip("", "gfx942");
  ASSERT_TRUE(chip);
  ASSERT_EQ((*chip)->architecture->lineBytes, 2 * cycles::kScalarLineBytes);
  cycles::TraceSampler sampler(**program, *(*chip)->architecture, kGroups, true);
  for (u64 group = 0; group < kGroups; ++group) {
    auto trace = std::make_unique<cycles::GroupTrace>();
    trace->index = group;
    trace->waves.resize(1);
    trace->waves[0].lines = {group < 2 ? u64{20} : 30 + group};
    trace->waves[0].scalarLines = {group < 3 ? 40 + group % 2 : 15}; // lines 20 and 7
    sampler.add(std::move(trace));
  }
  const cycles::LineSharing sharing(sampler);
  EXPECT_EQ(sharing.readers(20), 3); // twice by two workgroups, which count once
  EXPECT_EQ(sharing.readers(7), 1);
  EXPECT_EQ(sharing.readers(32), 1);
  EXPECT_EQ(sharing.readers(40), 1); // no such line: that is a scalar one's number
  EXPECT_EQ(sharing.readers(15), 1);
}

} // namespace
} // namespace wavesmith::emulator
