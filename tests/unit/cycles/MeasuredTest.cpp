// Every row of measured.tsv: a micro-kernel, run at two lengths, against the figure that others
// measured or stated. Needs llvm-mc and ld.lld; without them the tests are skipped.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/cycles/Assemble.h"

namespace wavesmith::emulator {
namespace {

struct Figure {
  std::string name, kernel, chip;
  std::uint32_t block = 64, grid = 1;
  int parameter = 0, small = 0, large = 0;
  double per = 1, minus = 0;
  std::string unit;
  double source = 0;
  std::string mark;
  double model = 0, low = 0, high = 0;
};

void PrintTo(const Figure &figure, std::ostream *to) {
  *to << figure.name << " on " << figure.chip;
}

std::vector<Figure> figures() {
  std::vector<Figure> all;
  std::ifstream file(WAVESMITH_CYCLE_TESTS "/measured.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');)
      cells.push_back(cell);
    if (cells.size() != 17) {
      ADD_FAILURE() << "measured.tsv: want 17 columns: " << line;
      continue;
    }
    all.push_back({cells[0], cells[1], cells[2], static_cast<std::uint32_t>(std::stoul(cells[3])),
                   static_cast<std::uint32_t>(std::stoul(cells[4])), std::stoi(cells[5]),
                   std::stoi(cells[6]), std::stoi(cells[7]), std::stod(cells[8]),
                   std::stod(cells[9]), cells[10], std::stod(cells[11]), cells[12],
                   std::stod(cells[13]), std::stod(cells[14]), std::stod(cells[15])});
  }
  return all;
}

class Measured : public testing::TestWithParam<Figure> {};

TEST_P(Measured, IsReproduced) {
  if (!test::haveAssembler())
    GTEST_SKIP() << "llvm-mc or ld.lld not found";
  const Figure &figure = GetParam();
  bool gfx950 = figure.chip.starts_with("MI35");
  auto model = [&](int repeat) {
    auto code =
        test::assemble(figure.kernel, gfx950 ? "gfx950" : "gfx942", repeat, figure.parameter);
    EXPECT_TRUE(code) << code.status().message();
    auto report = test::runMicro(*code, figure.chip, figure.block, figure.grid);
    EXPECT_TRUE(report) << report.status().message();
    return *report->modelled;
  };
  CycleReport small = model(figure.small), large = model(figure.large);
  double repeats = figure.large - figure.small, value;
  double microseconds = large.microseconds - small.microseconds;
  double lanes = 1.0 * figure.grid * figure.block;
  if (figure.unit == "TB/s")
    value = lanes * 16 * figure.per * repeats / microseconds * 1e-6;
  else if (figure.unit == "TFLOP/s")
    value = lanes / 64 * figure.per * repeats / microseconds * 1e-6;
  else if (figure.unit == "MHz")
    value = large.sustainedMhz;
  else
    value = (static_cast<double>(large.cycles) - static_cast<double>(small.cycles)) / repeats /
                figure.per -
            figure.minus;
  std::cout << "modelled\t" << figure.name << '\t' << value << '\t' << figure.source << '\n';
  EXPECT_GE(value, figure.low);
  EXPECT_LE(value, figure.high);
  EXPECT_NEAR(value, figure.model, 0.01 * figure.model)
      << "the table's model column is out of date";
  if (figure.mark == "M" && figure.low >= 0.9 * figure.source) {
    EXPECT_NEAR(value, figure.source, 0.1 * figure.source);
  }
}

INSTANTIATE_TEST_SUITE_P(Figures, Measured, testing::ValuesIn(figures()), [](const auto &info) {
  std::string name;
  for (char c : info.param.name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
  return name + "_" + std::to_string(info.index);
});

} // namespace
} // namespace wavesmith::emulator
