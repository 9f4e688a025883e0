#include <cmath>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "runtime/exec/Exec.h"
#include "tests/device/DeviceFixture.h"

namespace wavesmith {
namespace {

using testing::HasSubstr;

class Exec : public test::DeviceTest {
protected:
  void SetUp() override {
    NEED_ASSEMBLER();
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    std::string pattern =
        (std::filesystem::temp_directory_path() / "wavesmith-exec-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    const auto object = test::assemble(test::kernelSource({test::iotaKernel(), test::addKernel()}),
                                       hip->device().target);
    ASSERT_FALSE(object.empty());
    std::ofstream(directory + "/k.co", std::ios::binary)
        .write(reinterpret_cast<const char *>(object.data()),
               static_cast<std::streamsize>(object.size()));
    options.device = *parseDeviceChoice(GetParam());
  }
  void TearDown() override {
    DeviceTest::TearDown();
    std::error_code ignored;
    if (!directory.empty())
      std::filesystem::remove_all(directory, ignored);
  }
  Expected<ExecReport> run(const std::string &text) {
    std::ofstream(directory + "/launch.json") << text;
    return runLaunchFile(directory + "/launch.json", options);
  }
  std::vector<std::uint32_t> output(const std::string &name) {
    std::ifstream file(directory + "/" + name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    std::vector<std::uint32_t> result(bytes.size() / 4);
    std::memcpy(result.data(), bytes.data(), result.size() * 4);
    return result;
  }

  std::string directory;
  ExecOptions options;
};
ON_EVERY_DEVICE(Exec);

TEST_P(Exec, RunsAndWritesOutputs) {
  options.coverage = true;
  const auto report = run(R"({"object": "k.co", "buffers": {
      "o": {"bytes": 520, "fill": "nan32", "out": "o.bin"}}, "launches": [
      {"kernel": "iota", "grid": [2,1,1], "block": [64,1,1], "args": [{"buffer": "o"}, {"i32": 10}]},
      {"kernel": "add", "grid": [1,1,1], "block": [64,1,1],
       "args": [{"offset": 8, "u32": 1000}, {"offset": 0, "buffer": "o", "byte_offset": 256}]}]})");
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_TRUE(report->ok()) << report->faults[0];
  ASSERT_EQ(report->launches.size(), 2u);
  EXPECT_EQ(report->launches[0].workgroups, 2u);
  EXPECT_EQ(report->launches[0].kernel.vgprs, 16u);
  EXPECT_THAT(report->outputs, testing::ElementsAre(directory + "/o.bin"));
  const auto values = output("o.bin");
  ASSERT_EQ(values.size(), 130u);
  EXPECT_EQ(values[63], 73u);
  EXPECT_EQ(values[64], 1074u);
  EXPECT_EQ(values[129], 0x7fc00000u);
  const auto json = nlohmann::json::parse(report->json());
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["target"], hip->device().target);
  EXPECT_EQ(json["checks"].size(), 8u);
  if (hip->isEmulator()) {
    EXPECT_GT(report->launches[0].instructions, 0u);
    EXPECT_EQ(json["checks"]["memory"], 0);
    EXPECT_GE(json["coverage"].size(), 22u);
  } else {
    EXPECT_TRUE(json["checks"]["memory"].is_null());
  }
}

TEST_P(Exec, AFaultIsInTheReport) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "a fault ends a real device's process";
  const auto report = run(R"({"object": "k.co", "buffers": {
      "o": {"bytes": 252, "fill": "zero", "out": "o.bin"}}, "launches": [
      {"kernel": "iota", "grid": [1,1,1], "block": [64,1,1], "args": [{"buffer": "o"}, {"i32": 0}]},
      {"kernel": "iota", "grid": [1,1,1], "block": [1,1,1], "args": [{"buffer": "o"}, {"i32": 0}]}
      ]})");
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_FALSE(report->ok());
  EXPECT_EQ(report->launches.size(), 1u) << "a fault ends the list";
  EXPECT_THAT(report->faults[0], HasSubstr("global_store_dword"));
  EXPECT_EQ(report->outputs.size(), 1u);
}

TEST_P(Exec, UninitialisedBuffersAreNoticed) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "a real device does not notice";
  const char *text = R"({"object": "k.co", "kernel": "add", "grid": [1,1,1], "block": [64,1,1],
      "buffers": {"o": {"bytes": 256}}, "args": [{"buffer": "o"}, {"i32": 0}]})";
  const auto report = run(text);
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_FALSE(report->ok());
  options.checks = "none";
  const auto unchecked = run(text);
  ASSERT_TRUE(unchecked) << unchecked.status().message();
  EXPECT_TRUE(unchecked->ok());
  EXPECT_FALSE(unchecked->checks[0].second.has_value());
}

TEST_P(Exec, WrongSettingsAreRefused) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "settings are the emulator's";
  const char *text = R"({"object": "k.co", "kernel": "iota", "grid": [1,1,1], "block": [64,1,1],
      "buffers": {"o": {"bytes": 256, "out": "o.bin"}}, "args": [{"buffer": "o"}, {"i32": 0}]})";
  options.order = "sideways";
  EXPECT_THAT(run(text).status().message(), HasSubstr("sideways"));
  options.order = "default";
  options.chip = "MI355X";
  EXPECT_THAT(run(text).status().message(), HasSubstr("is for gfx942"));
  EXPECT_FALSE(std::filesystem::exists(directory + "/o.bin"));
}

} // namespace
} // namespace wavesmith
