#include <nlohmann/json.hpp>

#include "tests/device/DeviceFixture.h"

namespace wavesmith {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class Launch : public test::DeviceTest {
protected:
  void SetUp() override {
    NEED_ASSEMBLER();
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    test::KernelSource lds = test::iotaKernel("withLds");
    lds.ldsBytes = 4096;
    module =
        load(test::kernelSource({test::iotaKernel(), test::addKernel(), test::storeKernel(), lds}));
  }
  hipFunction_t kernel(const std::string &name) {
    const auto function = module.function(name);
    EXPECT_TRUE(function) << function.status().message();
    return function ? *function : nullptr;
  }

  DeviceModule module;
};
ON_EVERY_DEVICE(Launch);

TEST_P(Launch, WritesEveryElement) {
  DeviceBuffer out = buffer(10 * 64 * 4);
  const auto arguments = test::packArguments(out.data(), std::uint32_t{100});
  ASSERT_TRUE(launch(*hip, kernel("iota"), {{10, 1, 1}, {64, 1, 1}}, arguments, nullptr));
  ASSERT_EQ(hip->hipDeviceSynchronize(), hipSuccess);
  const auto values = words(out);
  for (std::uint32_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], 100 + i);
}

TEST_P(Launch, TakesArgumentsAsAListOfPointers) {
  DeviceBuffer out = buffer(64 * 4);
  void *pointer = out.data();
  std::uint32_t value = 7;
  void *parameters[] = {&pointer, &value};
  ASSERT_EQ(hip->hipModuleLaunchKernel(kernel("iota"), 1, 1, 1, 64, 1, 1, 0, nullptr, parameters,
                                       nullptr),
            hipSuccess);
  EXPECT_EQ(words(out)[63], 70u);
}

TEST_P(Launch, HiddenArgumentsAreFilledIn) {
  const DeviceModule hidden = load(
      test::kernelSource({{.name = "shape",
                           .body = R"(  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dwordx2 s[6:7], s[0:1], 0x10
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s6
  v_mov_b32 v3, s7
  global_store_dwordx2 v1, v[2:3], s[4:5])",
                           .arguments = {"8 global_buffer", "8 by_value", "4 hidden_block_count_x",
                                         "4 hidden_block_count_y"}}}));
  const auto function = hidden.function("shape");
  ASSERT_TRUE(function);
  DeviceBuffer out = buffer(8);
  ASSERT_TRUE(launch(*hip, *function, {{5, 3, 1}, {1, 1, 1}},
                     test::packArguments(out.data(), std::uint64_t{0}), nullptr));
  EXPECT_THAT(words(out), testing::ElementsAre(5, 3));
}

TEST_P(Launch, LaunchesOfAStreamSeeEachOther) {
  auto stream = Stream::create(hip);
  ASSERT_TRUE(stream);
  DeviceBuffer out = buffer(64 * 4);
  ASSERT_EQ(hip->hipMemsetD32Async(out.data(), 0, 64, stream->get()), hipSuccess);
  const auto arguments = test::packArguments(out.data(), std::uint32_t{3});
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(launch(*hip, kernel("add"), {{1, 1, 1}, {64, 1, 1}}, arguments, stream->get()));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(words(out), std::vector<std::uint32_t>(64, 30));
}

TEST_P(Launch, TooManyThreadsAreRefused) {
  DeviceBuffer out = buffer(4096 * 4);
  const auto arguments = test::packArguments(out.data(), std::uint32_t{0});
  for (const std::uint32_t threads : {257u, 1024u, 1025u, 65536u}) {
    const Status status =
        launch(*hip, kernel("iota"), {{1, 1, 1}, {threads, 1, 1}}, arguments, nullptr);
    EXPECT_FALSE(status) << threads;
    if (hip->isEmulator())
      EXPECT_THAT(status.message(), HasSubstr("the limit is 256"));
  }
}

TEST_P(Launch, EmptyGridsAndBlocksAreRefused) {
  DeviceBuffer out = buffer(64 * 4);
  const auto arguments = test::packArguments(out.data(), std::uint32_t{0});
  EXPECT_FALSE(launch(*hip, kernel("iota"), {{1, 1, 1}, {0, 1, 1}}, arguments, nullptr));
  if (hip->isEmulator()) // some HIP releases take an empty grid as nothing to do
    EXPECT_FALSE(launch(*hip, kernel("iota"), {{0, 1, 1}, {64, 1, 1}}, arguments, nullptr));
}

TEST_P(Launch, TooMuchLdsIsRefused) {
  DeviceBuffer out = buffer(64 * 4);
  const auto arguments = test::packArguments(out.data(), std::uint32_t{0});
  const auto limit = static_cast<std::uint32_t>(hip->device().ldsBytes);
  const Status status =
      launch(*hip, kernel("withLds"), {{1, 1, 1}, {64, 1, 1}, limit - 4095}, arguments, nullptr);
  EXPECT_FALSE(status);
  if (hip->isEmulator())
    EXPECT_THAT(status.message(), HasSubstr("the limit is 65536"));
  EXPECT_TRUE(
      launch(*hip, kernel("withLds"), {{1, 1, 1}, {64, 1, 1}, limit - 4096}, arguments, nullptr));
  EXPECT_EQ(hip->hipDeviceSynchronize(), hipSuccess);
}

TEST_P(Launch, WrongArgumentsAreRefused) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "real HIP reads what it is given";
  const std::vector<std::byte> tooLong(64);
  const Status status = launch(*hip, kernel("iota"), {{1, 1, 1}, {64, 1, 1}}, tooLong, nullptr);
  EXPECT_THAT(status.message(), HasSubstr("64 bytes of arguments"));
  EXPECT_EQ(
      hip->hipModuleLaunchKernel(kernel("iota"), 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
      hipErrorInvalidValue);
  EXPECT_THAT(hip->wavesmithEmulatorLastError(), HasSubstr("argument 0"));
  EXPECT_EQ(hip->hipModuleLaunchKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidHandle);
}

TEST_P(Launch, AFaultIsReportedAtTheNextSynchronisationOnce) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "a fault ends a real device's process";
  auto stream = Stream::create(hip);
  ASSERT_TRUE(stream);
  DeviceBuffer small = buffer(16); // the block writes 256 bytes
  const auto arguments = test::packArguments(small.data(), std::uint32_t{1});
  ASSERT_TRUE(launch(*hip, kernel("store"), {{1, 1, 1}, {64, 1, 1}}, arguments, stream->get()));
  const Status status = stream->synchronize();
  EXPECT_EQ(status.code(), StatusCode::EmulationFault);
  EXPECT_THAT(status.message(), HasSubstr("hipErrorLaunchFailure"));
  EXPECT_THAT(status.message(), HasSubstr("global_store_dword"));
  EXPECT_THAT(status.message(), HasSubstr("memory"));
  EXPECT_TRUE(stream->synchronize()) << "reported once";
  const auto report = nlohmann::json::parse(hip->wavesmithEmulatorLastReport(1));
  EXPECT_GT(report["checks"]["memory"].get<int>(), 0);
  EXPECT_EQ(report["checks"]["races"], 0);
  EXPECT_EQ(report["faults"][0]["kernel"], "store");
  // The device goes on.
  DeviceBuffer out = buffer(64 * 4);
  ASSERT_TRUE(launch(*hip, kernel("store"), {{1, 1, 1}, {64, 1, 1}},
                     test::packArguments(out.data(), std::uint32_t{5}), stream->get()));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(words(out)[63], 5u);
}

TEST_P(Launch, RunsOnlySamplesWhereAsked) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "the emulator's";
  ASSERT_EQ(hip->wavesmithEmulatorConfigure("model=on"), 0);
  constexpr std::uint32_t kGroups = 100;
  DeviceBuffer out = buffer(kGroups * 64 * 4);
  const auto arguments = test::packArguments(out.data(), std::uint32_t{1});
  const std::vector<double> weights(kGroups, 1);
  const auto run = [&](std::uint32_t groups) {
    const Status status =
        launch(*hip, kernel("store"), {{groups, 1, 1}, {64, 1, 1}}, arguments, nullptr);
    EXPECT_EQ(hip->hipDeviceSynchronize(), hipSuccess);
    return status;
  };
  const auto modelled = [&] {
    return nlohmann::json::parse(hip->wavesmithEmulatorLastReport(1))["modelled"];
  };
  modelled();
  ASSERT_EQ(hip->wavesmithEmulatorSampleNext(weights.data(), kGroups), 0);
  ASSERT_TRUE(run(kGroups));
  auto report = modelled();
  EXPECT_EQ(report["kernels"][0]["name"], "store");
  EXPECT_EQ(report["kernels"][0]["workgroups"], kGroups);
  EXPECT_GE(report["kernels"][0]["executed"], 16);
  EXPECT_LE(report["kernels"][0]["executed"], 18);
  const auto cycles = report["cycles"].get<std::uint64_t>();
  // Once, and as many as there are workgroups.
  ASSERT_TRUE(run(kGroups));
  report = modelled();
  EXPECT_EQ(report["kernels"][0]["executed"], kGroups);
  EXPECT_EQ(report["cycles"], cycles);
  ASSERT_EQ(hip->wavesmithEmulatorSampleNext(weights.data(), kGroups), 0);
  EXPECT_THAT(run(kGroups - 1).message(), testing::HasSubstr("100 weights for 99 workgroups"));
  ASSERT_TRUE(run(kGroups - 1));
  ASSERT_EQ(hip->wavesmithEmulatorSampleNext(weights.data(), kGroups), 0);
  ASSERT_EQ(hip->wavesmithEmulatorSampleNext(nullptr, 0), 0);
  ASSERT_TRUE(run(kGroups));
  EXPECT_EQ(modelled()["kernels"][0]["executed"], kGroups + kGroups - 1);
  EXPECT_NE(hip->wavesmithEmulatorSampleNext(weights.data(), 1ull << 61), 0);
  // A launch that fails takes them along, wherever it fails.
  ASSERT_EQ(hip->wavesmithEmulatorSampleNext(weights.data(), kGroups), 0);
  int none = 0;
  EXPECT_FALSE(launch(*hip, reinterpret_cast<hipFunction_t>(&none), {{kGroups, 1, 1}, {64, 1, 1}},
                      arguments, nullptr));
  ASSERT_TRUE(run(kGroups));
  EXPECT_EQ(modelled()["kernels"][0]["executed"], kGroups);
  // A graph would leave its results out at every replay.
  ASSERT_EQ(hip->wavesmithEmulatorSampleNext(weights.data(), kGroups), 0);
  auto stream = Stream::create(hip);
  ASSERT_TRUE(stream);
  ASSERT_EQ(hip->hipStreamBeginCapture(stream->get(), hipStreamCaptureModeRelaxed), hipSuccess);
  EXPECT_THAT(launch(*hip, kernel("store"), {{kGroups, 1, 1}, {64, 1, 1}}, arguments, stream->get())
                  .message(),
              testing::HasSubstr("in full"));
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hip->hipStreamEndCapture(stream->get(), &graph), hipSuccess);
  ASSERT_EQ(hip->hipGraphDestroy(graph), hipSuccess);
  ASSERT_TRUE(run(kGroups));
  EXPECT_EQ(modelled()["kernels"][0]["executed"], kGroups);
  ASSERT_EQ(hip->wavesmithEmulatorConfigure("model=off"), 0);
}

TEST_P(Launch, TheReportCountsWork) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "the emulator's report";
  ASSERT_EQ(hip->wavesmithEmulatorConfigure("coverage=1,checks=memory,model=on"), 0);
  DeviceBuffer out = buffer(2 * 64 * 4);
  const auto arguments = test::packArguments(out.data(), std::uint32_t{0});
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(launch(*hip, kernel("iota"), {{2, 1, 1}, {64, 1, 1}}, arguments, nullptr));
  ASSERT_EQ(hip->hipDeviceSynchronize(), hipSuccess);
  const auto report = nlohmann::json::parse(hip->wavesmithEmulatorLastReport(1));
  EXPECT_EQ(report["launches"], 3);
  EXPECT_EQ(report["kernels"][0]["name"], "iota");
  EXPECT_EQ(report["kernels"][0]["launches"], 3);
  EXPECT_EQ(report["instructions"], 3 * 2 * 10);
  EXPECT_EQ(report["checks"]["memory"], 0);
  EXPECT_TRUE(report["checks"]["waits"].is_null());
  EXPECT_EQ(report["modelled"]["chip"], "MI325X");
  EXPECT_GT(report["modelled"]["cycles"], 0);
  std::uint64_t executed = 0;
  for (const auto &row : report["coverage"])
    executed += row["count"].get<std::uint64_t>();
  EXPECT_EQ(executed, report["instructions"]);
  EXPECT_EQ(report["coverage"][0]["count"], 6);
  EXPECT_THAT(report["coverage"][0]["disassembly"].get<std::string>(),
              testing::StartsWith("s_load_dwordx2"));
  EXPECT_EQ(nlohmann::json::parse(hip->wavesmithEmulatorLastReport(0))["launches"], 0);
}

TEST_P(Launch, OccupancyFollowsRegistersAndLds) {
  if (!hip->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)
    GTEST_SKIP() << "not in this HIP";
  int blocks = 0;
  ASSERT_EQ(
      hip->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("iota"), 256, 0),
      hipSuccess);
  EXPECT_EQ(blocks, 8);
  ASSERT_EQ(hip->hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("withLds"), 256,
                                                                    hip->device().ldsBytes - 4096),
            hipSuccess);
  EXPECT_EQ(blocks, 1);
}

} // namespace
} // namespace wavesmith
