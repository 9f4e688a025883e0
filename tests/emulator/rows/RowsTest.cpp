// Every row of the instruction table, executed: the lists of Cases.h, by family and target.

#include <tuple>

#include <gtest/gtest.h>

#include "tests/emulator/rows/Cases.h"

namespace wavesmith::emulator::rows {
namespace {

class Rows : public testing::TestWithParam<std::tuple<std::size_t, const char *>> {};

TEST_P(Rows, BehaveLikeTheirModel) {
  auto [family, target] = GetParam();
  runCases(target, families()[family].cases());
}

INSTANTIATE_TEST_SUITE_P(Families, Rows,
                         testing::Combine(testing::Range(std::size_t{0}, families().size()),
                                          testing::Values("gfx942", "gfx950")),
                         [](const auto &info) {
                           return std::string(families()[std::get<0>(info.param)].name) + "_" +
                                  std::get<1>(info.param);
                         });

} // namespace
} // namespace wavesmith::emulator::rows
