// The lanes that LDS serves together, against what others measured: two lanes on different banks
// take one clock in one phase, two in two.

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "emulator/cycles/LdsBanks.h"
#include "emulator/isa/Table.h"

namespace wavesmith::emulator {
namespace {

Inst instruction(std::string_view name) {
  auto rows = allRows();
  auto row = std::find_if(rows.begin(), rows.end(), [&](const Row &r) { return r.name == name; });
  EXPECT_NE(row, rows.end()) << name;
  Inst inst;
  inst.row = &*row;
  return inst;
}

struct Phases {
  const char *name;
  int banks;
  std::vector<std::vector<std::pair<int, int>>> lanes; ///< of the lower half; the upper repeats it
  const char *source;
};

int phaseOf(const Phases &phases, int lane) {
  for (std::size_t i = 0; i < phases.lanes.size(); ++i)
    for (auto [first, last] : phases.lanes[i])
      if (lane % 32 >= first && lane % 32 <= last)
        return static_cast<int>(i + phases.lanes.size() * static_cast<std::size_t>(lane / 32));
  return -1;
}

TEST(LdsBanks, ServeLanesInTheMeasuredPhases) {
  const std::vector<std::vector<std::pair<int, int>>> kWide = {{{0, 3}, {20, 23}},
                                                               {{4, 7}, {16, 19}},
                                                               {{8, 11}, {28, 31}},
                                                               {{12, 15}, {24, 27}}},
                                                      kHalves = {{{0, 15}}, {{16, 31}}};
  for (const Phases &phases : {Phases{"ds_read_b64", 32, kHalves, "PYHIP"},
                               {"ds_read_b128", 32, kWide, "PYHIP"},
                               {"ds_read_b64", 64, {{{0, 31}}}, "HipKittens"},
                               {"ds_read_b128",
                                64,
                                {{{0, 3}, {12, 15}, {20, 27}}, {{4, 11}, {16, 19}, {28, 31}}},
                                "HipKittens"},
                               {"ds_read_b96", 64, kWide, "HipKittens"},
                               {"ds_write_b64", 64, kHalves, "HipKittens"}}) {
    Inst inst = instruction(phases.name);
    for (int a = 0; a < kLanes; ++a)
      for (int b = a + 1; b < kLanes; ++b) {
        u64 address[kLanes] = {};
        address[b] = 16;
        u64 lanes = u64{1} << a | u64{1} << b;
        ASSERT_EQ(cycles::bankClocks(inst, address, lanes, phases.banks),
                  phaseOf(phases, a) == phaseOf(phases, b) ? 1 : 2)
            << phases.name << " over " << phases.banks << " banks, lanes " << a << " and " << b
            << " (" << phases.source << ")";
      }
  }
}

TEST(LdsBanks, CountTheBusiestBankOfEachPhase) {
  auto clocks = [](const char *name, int banks, int stride) {
    u64 address[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      address[lane] = static_cast<u64>(lane) * static_cast<u64>(stride);
    return cycles::bankClocks(instruction(name), address, ~u64{0}, banks);
  };
  // Consecutive lanes never collide, whatever the width.
  EXPECT_EQ(clocks("ds_read_b32", 32, 4), 2);
  EXPECT_EQ(clocks("ds_read_b64", 32, 8), 4);
  EXPECT_EQ(clocks("ds_read_b128", 32, 16), 8);
  EXPECT_EQ(clocks("ds_read_b64", 64, 8), 2);
  EXPECT_EQ(clocks("ds_read_b128", 64, 16), 4);
  // All lanes on one bank; all on one address.
  EXPECT_EQ(clocks("ds_read_b32", 32, 128), 64);
  EXPECT_EQ(clocks("ds_read_b64", 32, 128), 64);
  EXPECT_EQ(clocks("ds_read_b128", 32, 128), 64);
  EXPECT_EQ(clocks("ds_read_b32", 32, 0), 2);
  EXPECT_EQ(clocks("ds_read_b128", 64, 0), 4);
  // A row of 256 bytes and 16 more: the usual padding.
  EXPECT_EQ(clocks("ds_read_b128", 32, 272), 8);
}

} // namespace
} // namespace wavesmith::emulator
