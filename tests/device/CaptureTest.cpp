#include "tests/device/DeviceFixture.h"

namespace wavesmith {
namespace {

using testing::HasSubstr;

class Capture : public test::DeviceTest {
protected:
  void SetUp() override {
    NEED_ASSEMBLER();
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    module = load(test::kernelSource({test::addKernel()}));
    auto made = Stream::create(hip);
    ASSERT_TRUE(made) << made.status().message();
    stream = *std::move(made);
    const auto function = module.function("add");
    ASSERT_TRUE(function) << function.status().message();
    add = *function;
  }

  Status addTo(const DeviceBuffer &out, std::uint32_t value, hipStream_t on) {
    return launch(*hip, add, {{1, 1, 1}, {64, 1, 1}}, test::packArguments(out.data(), value), on);
  }
  hipError_t begin(hipStreamCaptureMode mode = hipStreamCaptureModeGlobal) {
    return hip->hipStreamBeginCapture(stream.get(), mode);
  }
  hipGraphExec_t finish() {
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hip->hipStreamEndCapture(stream.get(), &graph), hipSuccess);
    hipGraphExec_t exec = nullptr;
    EXPECT_EQ(hip->hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
    EXPECT_EQ(hip->hipGraphDestroy(graph), hipSuccess);
    return exec;
  }

  DeviceModule module;
  Stream stream;
  hipFunction_t add = nullptr;
};
ON_EVERY_DEVICE(Capture);

TEST_P(Capture, ReplaysInEachMode) {
  for (const auto mode :
       {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    DeviceBuffer out = buffer(256), copy = buffer(256);
    ASSERT_TRUE(out.fill(std::byte{0}));
    ASSERT_TRUE(copy.fill(std::byte{0}));
    ASSERT_EQ(begin(mode), hipSuccess);
    hipStreamCaptureStatus status;
    ASSERT_EQ(hip->hipStreamIsCapturing(stream.get(), &status), hipSuccess);
    EXPECT_EQ(status, hipStreamCaptureStatusActive);
    ASSERT_EQ(hip->hipMemsetD32Async(out.data(), 5, 64, stream.get()), hipSuccess);
    ASSERT_TRUE(addTo(out, 2, stream.get()));
    ASSERT_TRUE(addTo(out, 3, stream.get()));
    ASSERT_EQ(
        hip->hipMemcpyAsync(copy.data(), out.data(), 256, hipMemcpyDeviceToDevice, stream.get()),
        hipSuccess);
    const hipGraphExec_t exec = finish();
    EXPECT_EQ(words(out)[0], 0u) << "captured, not run";
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(hip->hipGraphLaunch(exec, stream.get()), hipSuccess);
    ASSERT_TRUE(stream.synchronize());
    EXPECT_EQ(words(copy), std::vector<std::uint32_t>(64, 10));
    EXPECT_EQ(hip->hipGraphExecDestroy(exec), hipSuccess);
  }
}

TEST_P(Capture, ForkedStreamsJoinTheGraph) {
  auto second = Stream::create(hip);
  auto fork = Event::create(hip, hipEventDisableTiming);
  auto join = Event::create(hip, hipEventDisableTiming);
  ASSERT_TRUE(second && fork && join);
  DeviceBuffer a = buffer(256), b = buffer(256);
  ASSERT_TRUE(a.fill(std::byte{0}));
  ASSERT_TRUE(b.fill(std::byte{0}));
  ASSERT_EQ(begin(), hipSuccess);
  ASSERT_TRUE(addTo(a, 1, stream.get()));
  ASSERT_TRUE(fork->record(stream.get()));
  ASSERT_EQ(hip->hipStreamWaitEvent(second->get(), fork->get(), 0), hipSuccess);
  ASSERT_TRUE(addTo(b, 4, second->get()));
  ASSERT_TRUE(addTo(a, 2, stream.get()));
  ASSERT_TRUE(join->record(second->get()));
  ASSERT_EQ(hip->hipStreamWaitEvent(stream.get(), join->get(), 0), hipSuccess);
  ASSERT_TRUE(addTo(b, 8, stream.get()));
  const hipGraphExec_t exec = finish();
  ASSERT_EQ(hip->hipGraphLaunch(exec, stream.get()), hipSuccess);
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(words(a)[0], 3u);
  EXPECT_EQ(words(b)[0], 12u);
  EXPECT_EQ(hip->hipGraphExecDestroy(exec), hipSuccess);
}

TEST_P(Capture, AnUnjoinedForkIsAnError) {
  auto second = Stream::create(hip);
  auto fork = Event::create(hip, hipEventDisableTiming);
  ASSERT_TRUE(second && fork);
  DeviceBuffer a = buffer(256);
  ASSERT_TRUE(a.fill(std::byte{0}));
  ASSERT_EQ(begin(), hipSuccess);
  ASSERT_TRUE(addTo(a, 1, stream.get()));
  ASSERT_TRUE(fork->record(stream.get()));
  ASSERT_EQ(hip->hipStreamWaitEvent(second->get(), fork->get(), 0), hipSuccess);
  ASSERT_TRUE(addTo(a, 4, second->get()));
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hip->hipStreamEndCapture(stream.get(), &graph), hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_TRUE(second->synchronize()) << "the capture has let the stream go";
}

TEST_P(Capture, WaitingForACapturedStreamIsAnError) {
  ASSERT_EQ(begin(), hipSuccess);
  EXPECT_EQ(hip->hipStreamSynchronize(stream.get()), hipErrorStreamCaptureUnsupported);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hip->hipStreamEndCapture(stream.get(), &graph), hipErrorStreamCaptureInvalidated);
  EXPECT_TRUE(stream.synchronize());
}

TEST_P(Capture, AllocationInAGlobalCaptureIsAnErrorAndInARelaxedOneIsNot) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "releases differ";
  void *pointer = nullptr;
  hipGraph_t graph = nullptr;
  ASSERT_EQ(begin(), hipSuccess);
  EXPECT_EQ(hip->hipMalloc(&pointer, 16), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hip->hipStreamEndCapture(stream.get(), &graph), hipErrorStreamCaptureInvalidated);
  ASSERT_EQ(begin(hipStreamCaptureModeRelaxed), hipSuccess);
  EXPECT_EQ(hip->hipMalloc(&pointer, 16), hipSuccess);
  EXPECT_EQ(hip->hipStreamEndCapture(stream.get(), &graph), hipSuccess);
  EXPECT_EQ(hip->hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hip->hipFree(pointer), hipSuccess);
}

TEST_P(Capture, TheLegacyStreamCannotBeCaptured) {
  EXPECT_NE(hip->hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipSuccess);
  hipGraph_t graph = nullptr;
  EXPECT_NE(hip->hipStreamEndCapture(stream.get(), &graph), hipSuccess) << "none was begun";
}

TEST_P(Capture, GraphsAreBuiltByHandToo) {
  DeviceBuffer a = buffer(256);
  void *pointer = a.data();
  std::uint32_t value = 6;
  void *arguments[] = {&pointer, &value};
  hipKernelNodeParams kernel = {};
  kernel.func = add;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(64);
  kernel.kernelParams = arguments;
  hipMemsetParams zero = {};
  zero.dst = a.data();
  zero.elementSize = 4;
  zero.width = 64;
  zero.height = 1;
  hipGraph_t graph = nullptr;
  hipGraphNode_t nodes[2] = {};
  ASSERT_EQ(hip->hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hip->hipGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &zero), hipSuccess);
  ASSERT_EQ(hip->hipGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel), hipSuccess);
  std::size_t count = 0;
  ASSERT_EQ(hip->hipGraphGetNodes(graph, nullptr, &count), hipSuccess);
  EXPECT_EQ(count, 2u);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hip->hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hip->hipGraphLaunch(exec, stream.get()), hipSuccess);
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(words(a)[63], 6u);
  value = 9;
  ASSERT_EQ(hip->hipGraphExecKernelNodeSetParams(exec, nodes[1], &kernel), hipSuccess);
  ASSERT_EQ(hip->hipGraphLaunch(exec, stream.get()), hipSuccess);
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(words(a)[63], 9u);
  EXPECT_EQ(hip->hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(hip->hipGraphDestroy(graph), hipSuccess);
}

TEST_P(Capture, AFaultInAGraphIsReported) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "a fault ends a real device's process";
  DeviceBuffer small = buffer(16);
  ASSERT_TRUE(small.fill(std::byte{0}));
  ASSERT_EQ(begin(), hipSuccess);
  ASSERT_TRUE(addTo(small, 1, stream.get()));
  const hipGraphExec_t exec = finish();
  ASSERT_EQ(hip->hipGraphLaunch(exec, stream.get()), hipSuccess);
  const Status status = stream.synchronize();
  EXPECT_EQ(status.code(), StatusCode::EmulationFault);
  EXPECT_THAT(status.message(), HasSubstr("global_load_dword"));
  EXPECT_EQ(hip->hipGraphExecDestroy(exec), hipSuccess);
}

} // namespace
} // namespace wavesmith
