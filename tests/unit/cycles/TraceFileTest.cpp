// The trace file as Perfetto reads it: valid JSON at any size, slices of a track one after another,
// counters that add up, and the same sums as the report.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "emulator/cycles/Chips.h"
#include "tests/unit/cycles/Assemble.h"

namespace wavesmith::emulator {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Slice {
  double from = 0, clocks = 0;
  std::string name, category;
};

/// The events by track, times in clocks.
struct Trace {
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> tracks;
  std::map<std::pair<int, int>, std::vector<Slice>> slices;
  std::map<std::pair<int, std::string>, std::vector<std::pair<double, int>>> counters;
  int notes = 0;
  std::string complete;

  Trace(const std::string &path, double clockMhz) {
    std::ifstream file(path);
    Json root = Json::parse(file, nullptr, false);
    EXPECT_TRUE(root.is_object()) << path << " is no JSON object";
    if (!root.is_object())
      return;
    complete = root["otherData"]["complete"];
    for (const Json &event : root["traceEvents"]) {
      std::string phase = event["ph"];
      int pid = event["pid"];
      if (phase == "M" && event["name"] == "process_name")
        processes[pid] = event["args"]["name"];
      else if (phase == "M" && event["name"] == "thread_name")
        tracks[{pid, event["tid"]}] = event["args"]["name"];
      else if (phase == "X")
        slices[{pid, event["tid"]}].push_back({event["ts"].get<double>() * clockMhz,
                                               std::round(event["dur"].get<double>() * clockMhz),
                                               event["name"], event["cat"]});
      else if (phase == "C")
        counters[{pid, event["name"]}].emplace_back(event["ts"], event["args"]["value"]);
      else
        notes += phase == "i";
    }
  }
  double sum(std::string_view track, std::string_view category = "",
             std::string_view name = "") const {
    double clocks = 0;
    for (const auto &[place, list] : slices)
      if (tracks.at(place).find(track) != std::string::npos)
        for (const Slice &slice : list)
          if ((category.empty() || slice.category == category) &&
              (name.empty() || slice.name == name))
            clocks += slice.clocks;
    return clocks;
  }
  void expectSound() {
    for (auto &[place, list] : slices) {
      ASSERT_EQ(tracks.count(place), 1u) << "a slice on a track without a name";
      std::sort(list.begin(), list.end(),
                [](const Slice &a, const Slice &b) { return a.from < b.from; });
      for (std::size_t i = 0; i < list.size(); ++i) {
        ASSERT_GE(list[i].from, 0);
        ASSERT_GT(list[i].clocks, 0);
        if (i) {
          ASSERT_GE(list[i].from, list[i - 1].from + list[i - 1].clocks - 0.01)
              << tracks[place] << ": " << list[i].name << " begins inside " << list[i - 1].name;
        }
      }
    }
    for (const auto &[name, values] : counters)
      for (const auto &[at, value] : values)
        ASSERT_GE(value, 0) << name.second;
  }
};

class TraceFileTest : public testing::Test {
protected:
  void SetUp() override {
    if (!test::haveAssembler())
      GTEST_SKIP() << "llvm-mc or ld.lld not found";
  }
  void TearDown() override { fs::remove(path); }

  CycleReport run(const std::string &kernel, int repeat, std::uint32_t block, std::uint32_t grid,
                  int value, const std::string &chip = "MI325X") {
    auto code =
        test::assemble(kernel, chip.starts_with("MI35") ? "gfx950" : "gfx942", repeat, value);
    EXPECT_TRUE(code) << code.status().message();
    auto report = test::runMicro(*code, chip, block, grid, 0, file);
    EXPECT_TRUE(report) << report.status().message();
    summary = *report->trace;
    return *report->modelled;
  }
  std::string path =
      (fs::temp_directory_path() / fmt::format("trace.{}.json", ::getpid())).string();
  std::shared_ptr<TraceFile> file = *TraceFile::create(path);
  TraceSummary summary;
};

struct Kernel {
  const char *name;
  std::uint32_t block;
  int value;
};

TEST_F(TraceFileTest, AgreesWithTheReport) {
  for (const Kernel &kernel : {Kernel{"mfma16_mixed", 512, 0},
                               {"mfma16_other_pk", 512, 2},
                               {"lds_read128", 256, 16},
                               {"lds_read32", 128, 32},
                               {"lds_dma", 256, 0},
                               {"barrier", 512, 0},
                               {"copy", 256, 0},
                               {"smem_latency", 64, 0},
                               {"sum", 256, 0},
                               {"nop", 128, 5},
                               {"straddle", 64, 0}}) {
    SCOPED_TRACE(kernel.name);
    file = *TraceFile::create(path);
    CycleReport report = run(kernel.name, 64, kernel.block, 1, kernel.value);
    double mhz = report.clockMhz, all = static_cast<double>(report.cycles) * 304;
    Trace trace(path, mhz);
    trace.expectSound();
    EXPECT_EQ(trace.notes, 0);
    EXPECT_EQ(trace.complete, "yes");
    EXPECT_EQ(summary.path, path);
    EXPECT_FALSE(summary.cut);
    EXPECT_GE(fs::file_size(path), summary.bytes);
    EXPECT_NEAR(trace.sum("VALU port"), report.valuUtilisation * 4 * all, 1);
    EXPECT_NEAR(trace.sum("matrix pipe"), report.mfmaUtilisation * 4 * all, 1);
    EXPECT_NEAR(trace.sum("LDS of"), report.ldsUtilisation * 2 * all, 1);
    // The waves' tracks are their lives, split like the report's lines.
    double clocks = 0;
    std::array<double, kStalls> stalls{};
    for (const CycleReport::Line &line : report.lines) {
      clocks += static_cast<double>(line.clocks());
      for (int i = 0; i < kStalls; ++i)
        stalls[i] += static_cast<double>(line.stalled[i]);
    }
    EXPECT_NEAR(trace.sum(" wave "), clocks, 1);
    for (int i = 0; i < kStalls; ++i)
      if (static_cast<Stall>(i) != Stall::Idle) {
        EXPECT_NEAR(trace.sum(" wave ", "stall", stallName(static_cast<Stall>(i))), stalls[i], 1)
            << stallName(static_cast<Stall>(i));
      }
    for (const auto &[name, values] : trace.counters)
      EXPECT_EQ(values.back().second, 0) << name.second << " never lands";
  }
}

TEST_F(TraceFileTest, ShowsWhatAKernelDoes) {
  CycleReport report = run("barrier", 8, 256, 1, 0);
  Trace trace(path, report.clockMhz);
  EXPECT_GT(trace.sum("barriers of workgroup 0", "barrier"), 8 * 19);
  EXPECT_GT(trace.sum(" wave ", "stall", "barrier"), 0);
  file = *TraceFile::create(path);
  report = run("copy", 16, 256, 1, 0);
  Trace copy(path, report.clockMhz);
  EXPECT_GT(copy.sum(" wave ", "instruction", "vector load"), 0);
  EXPECT_GT(copy.sum(" wave ", "stall", "vector-memory"), 0);
  auto loads = std::find_if(copy.counters.begin(), copy.counters.end(), [](const auto &counter) {
    return counter.first.second == "loads in flight";
  });
  ASSERT_NE(loads, copy.counters.end());
  int most = 0;
  for (const auto &[at, value] : loads->second)
    most = std::max(most, value);
  EXPECT_GE(most, 8); // four waves, eight loads each before the first wait
  EXPECT_LE(most, 64);
}

TEST_F(TraceFileTest, PlacesTheGrid) {
  CycleReport report = run("sum", 10, 256, 700, 0);
  Trace trace(path, report.clockMhz);
  trace.expectSound();
  double last = 0;
  std::size_t groups = 0, tracks = 0;
  for (const auto &[place, list] : trace.slices)
    if (trace.tracks[place].starts_with("XCD ")) {
      ++tracks;
      groups += list.size();
      for (const Slice &slice : list)
        last = std::max(last, slice.from + slice.clocks);
    }
  EXPECT_EQ(groups, 700u);
  EXPECT_EQ(tracks, 608u); // two places on each compute unit
  EXPECT_NEAR(last, static_cast<double>(report.cycles), 2);
  EXPECT_THAT(trace.processes, testing::Contains(testing::Pair(
                                   testing::_, testing::HasSubstr("700 workgroups on the 304"))));
}

TEST_F(TraceFileTest, IsCutAtItsBoundAndStaysValid) {
  constexpr std::uint64_t kBound = 1 << 20;
  file = *TraceFile::create(path, kBound);
  for (int launch = 0; launch < 5; ++launch) {
    CycleReport report = run("mfma16_mixed", 500, 512, 64, 0);
    Trace trace(path, report.clockMhz);
    trace.expectSound();
    EXPECT_TRUE(summary.cut);
    EXPECT_GE(trace.notes, 1);
    EXPECT_THAT(trace.complete, testing::StartsWith("no"));
    EXPECT_LE(fs::file_size(path), kBound + kBound / 8);
  }
  EXPECT_GE(fs::file_size(path), kBound / 2);
}

TEST_F(TraceFileTest, PutsLaunchesOneAfterAnother) {
  CycleReport first = run("exp", 10, 64, 1, 0);
  std::uint64_t events = summary.events;
  run("exp", 10, 64, 1, 0);
  EXPECT_EQ(summary.events, 2 * events);
  Trace trace(path, first.clockMhz);
  trace.expectSound();
  EXPECT_EQ(trace.processes.size(), 4u);
  for (const auto &[place, list] : trace.slices)
    if (place.first > 2) {
      EXPECT_GT(list.front().from, static_cast<double>(first.cycles));
    }
}

TEST_F(TraceFileTest, AFileThatCannotBeWrittenIsAnError) {
  for (const char *bad : {"", "/no/such/folder/trace.json", "/", "/dev/null"})
    EXPECT_EQ(TraceFile::create(bad).status().code(), StatusCode::InvalidArgument) << bad;
  // What fails later is in the summary.
  fs::path folder = path + ".folder";
  fs::create_directory(folder);
  file = *TraceFile::create((folder / "t.json").string());
  fs::remove(folder);
  run("exp", 10, 64, 1, 0);
  EXPECT_THAT(summary.problem, testing::HasSubstr("cannot create"));
}

TEST(TraceFileText, IsEscaped) {
  EXPECT_EQ(TraceFile::escape("a\"b\\c\n\xff"), "a\\\"b\\\\c\\u000a\\u00ff");
}

} // namespace
} // namespace wavesmith::emulator
