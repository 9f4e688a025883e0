// Every .s file under checks/ and isa/ is a kernel and its expectation, in comments:
//   BLOCK: n        work-items (64)
//   GRID: n         workgroups (1); with several the number of host threads changes nothing
//   BUDGET: n       instructions per wave
//   TARGET: a b     (gfx942) and ORDER: a b (default): each with each
//   FAULT: kind t   that check fires and its report contains t; only this kind fires. Repeated:
//                   each t is in some report
//   CLEAN           nothing fires
//   OUT i = value   dword i of the output buffer afterwards
// Needs llvm-mc and ld.lld; without them the tests are skipped.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/Emulator.h"
#include "tests/device/Assembler.h"

namespace wavesmith::emulator {
namespace {

namespace fs = std::filesystem;
namespace test = wavesmith::test;

struct Expectation {
  std::uint32_t block = 64, grid = 1;
  std::vector<std::string> targets, orders;
  std::uint64_t budget = 1 << 20;
  std::string faultKind;
  std::vector<std::string> faultTexts;
  bool clean = false;
  std::vector<std::pair<std::size_t, std::uint32_t>> out;
};

Expectation parse(const std::string &source) {
  Expectation e;
  std::istringstream stream(source);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("// ", 0) != 0)
      continue;
    std::istringstream words(line.substr(3));
    std::string key;
    words >> key;
    if (key == "BLOCK:")
      words >> e.block;
    else if (key == "GRID:")
      words >> e.grid;
    else if (key == "TARGET:")
      e.targets.assign(std::istream_iterator<std::string>(words), {});
    else if (key == "ORDER:")
      e.orders.assign(std::istream_iterator<std::string>(words), {});
    else if (key == "BUDGET:")
      words >> e.budget;
    else if (key == "CLEAN")
      e.clean = true;
    else if (key == "FAULT:") {
      words >> e.faultKind >> std::ws;
      std::getline(words, e.faultTexts.emplace_back());
    } else if (key == "OUT") {
      std::string index, equals, value;
      words >> index >> equals >> value;
      e.out.emplace_back(std::stoul(index),
                         static_cast<std::uint32_t>(std::stoll(value, nullptr, 0)));
    }
  }
  if (e.targets.empty())
    e.targets = {"gfx942"};
  if (e.orders.empty())
    e.orders = {"default"};
  return e;
}

struct Outcome {
  std::string faults; ///< their texts, a line each
  std::vector<std::string> kinds;
  std::vector<std::uint32_t> out;
};

/// Runs the kernel on a device of its own.
void execute(const CodeObject &code, const Expectation &expected, const RunOptions &options,
             Outcome &outcome) {
  auto device = Device::create({code.target()});
  ASSERT_TRUE(device);
  auto in = (*device)->allocate(4096), out = (*device)->allocate(65536);
  ASSERT_TRUE(in && out);
  std::vector<std::uint32_t> values(1024);
  for (std::uint32_t i = 0; i < values.size(); ++i)
    values[i] = i;
  ASSERT_TRUE((*device)->write(*in, std::as_bytes(std::span(values))));
  auto module = (*device)->load(code);
  ASSERT_TRUE(module) << module.status().message();
  std::array<std::uint64_t, 2> arguments = {*in, *out};
  LaunchConfig launch;
  launch.kernel = "test";
  launch.grid = {expected.grid, 1, 1};
  launch.block = {expected.block, 1, 1};
  launch.kernarg = std::as_bytes(std::span(arguments));
  auto report = (*device)->run(**module, launch, options);
  ASSERT_TRUE(report) << report.status().message();
  outcome = {};
  for (const Fault &fault : report->faults) {
    outcome.faults += fault.text() + "\n";
    outcome.kinds.emplace_back(checkName(fault.kind));
  }
  outcome.out.resize(65536 / 4);
  ASSERT_TRUE((*device)->read(*out, std::as_writable_bytes(std::span(outcome.out))));
}

/// One target, one order: what fires, what comes out, and that neither depends on host threads.
void check(const CodeObject &code, const Expectation &expected, const std::string &orderText) {
  RunOptions options;
  auto order = ExecutionOrder::parse(orderText);
  ASSERT_TRUE(order) << order.status().message();
  options.order = *order;
  options.maxInstructionsPerWave = expected.budget;
  options.threads = 1;
  Outcome outcome;
  execute(code, expected, options, outcome);
  EXPECT_EQ(outcome.kinds.empty(), expected.clean) << outcome.faults;
  for (const std::string &text : expected.faultTexts)
    EXPECT_THAT(outcome.faults, testing::HasSubstr(text));
  for (const std::string &kind : outcome.kinds)
    EXPECT_EQ(kind, expected.faultKind) << outcome.faults;
  for (auto [index, value] : expected.out)
    EXPECT_EQ(outcome.out[index], value) << "dword " << index;
  if (expected.grid > 1) {
    options.threads = 3;
    Outcome other;
    execute(code, expected, options, other);
    EXPECT_EQ(other.faults, outcome.faults);
  }
  if (!expected.clean) {
    // A check that is off says nothing; broken code is reported all the same.
    options.checks = Checks::none();
    execute(code, expected, options, outcome);
  }
}

class Assembly : public testing::TestWithParam<fs::path> {};

TEST_P(Assembly, RunsAsItsCommentsSay) {
  const fs::path &file = GetParam();
  if (const auto missing = test::assemblerMissing())
    GTEST_SKIP() << *missing;
  std::ifstream stream(file);
  const std::string source((std::istreambuf_iterator<char>(stream)), {});
  const Expectation expected = parse(source);
  ASSERT_NE(expected.clean, !expected.faultKind.empty()) << "want CLEAN or FAULT, not both";
  for (const std::string &target : expected.targets) {
    const std::vector<std::byte> bytes =
        test::assemble(source, target, 6, "-I " WAVESMITH_ASSEMBLY_DIR);
    ASSERT_FALSE(bytes.empty());
    auto code = CodeObject::parse(bytes, file.filename().string());
    ASSERT_TRUE(code) << code.status().message();
    for (const std::string &order : expected.orders) {
      SCOPED_TRACE(target + ", " + order);
      check(*code, expected, order);
    }
  }
}

std::vector<fs::path> files() {
  std::vector<fs::path> found;
  for (const char *folder : {"checks", "isa"}) {
    fs::path path = fs::path(WAVESMITH_ASSEMBLY_DIR) / folder;
    if (!fs::exists(path))
      continue;
    for (const auto &entry : fs::recursive_directory_iterator(path))
      if (entry.path().extension() == ".s")
        found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

INSTANTIATE_TEST_SUITE_P(Files, Assembly, testing::ValuesIn(files()), [](const auto &info) {
  std::string name =
      info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

} // namespace
} // namespace wavesmith::emulator
