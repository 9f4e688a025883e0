// A HIP graph captured as the first thing after prepare: what the capture calls is counted at the
// HIP table, by a library between Wavesmith and the emulator.

#include <cstdlib>

#include <dlfcn.h>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

class Graph : public CapiTest {
protected:
  void SetUp() override {
    CapiTest::SetUp();
    if (IsSkipped())
      return;
    library = dlopen(WAVESMITH_COUNTING_HIP, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    calls = reinterpret_cast<int (*)(const char *)>(dlsym(library, "countingHipCalls"));
    reset = reinterpret_cast<void (*)()>(dlsym(library, "countingHipReset"));
    ASSERT_TRUE(calls && reset);
    setenv("WAVESMITH_HIP_LIBRARY", WAVESMITH_COUNTING_HIP, 1);
    wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
    options.device = WAVESMITH_DEVICE_HIP;
    const wavesmith_status status = wavesmith_context_create(&options, &counted);
    unsetenv("WAVESMITH_HIP_LIBRARY");
    ASSERT_TRUE(ok(status));
  }
  void TearDown() override {
    if (counted)
      EXPECT_TRUE(ok(wavesmith_context_destroy(counted)));
    CapiTest::TearDown();
  }

  /// "hipMalloc 1, ..." of what must not be called.
  std::string forbiddenCalls() const {
    std::string seen;
    for (const char *name :
         {"hipMalloc", "hipFree", "hipHostMalloc", "hipHostFree", "hipMemcpy", "hipMemset",
          "hipModuleLoadData", "hipModuleUnload", "hipModuleGetFunction", "hipDeviceSynchronize",
          "hipStreamSynchronize", "hipStreamQuery", "hipEventSynchronize",
          "hipStreamCreateWithFlags", "hipSetDevice"})
      if (const int count = calls(name); count != 0)
        seen += std::string(name) + " " + std::to_string(count) + ", ";
    return seen;
  }

  void *library = nullptr;
  int (*calls)(const char *) = nullptr;
  void (*reset)() = nullptr;
  wavesmith_context counted = nullptr;
};

TEST_F(Graph, IsCapturedAsTheFirstCallAfterPrepare) {
  const Memory memory(kMemoryBytes);
  const wavesmith_attention_buffers buffers = buffersAt(memory);
  wavesmith_attention attention = description();
  attention.splits = 2;
  const wavesmith_attention *attentions[] = {&attention};
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.attentions = attentions;
  options.attention_count = 1;
  ASSERT_TRUE(ok(wavesmith_prepare(counted, &options)));
  EXPECT_EQ(calls("hipModuleLoadData"), 3) << "the counters count: two attentions and their merge";

  for (const hipStreamCaptureMode mode :
       {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    // Global mode refuses on this thread what is not stream-ordered, so planning is in it too.
    ASSERT_EQ(hipStreamBeginCapture(stream, mode), hipSuccess);
    reset();
    wavesmith_plan plan = nullptr;
    ASSERT_TRUE(ok(wavesmith_plan_attention(counted, &attention, &plan, nullptr)));
    ASSERT_TRUE(ok(wavesmith_upload(plan, buffers.workspace, kWorkspaceBytes, stream)));
    ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, stream)));
    EXPECT_EQ(forbiddenCalls(), "");
    EXPECT_EQ(calls("hipModuleLaunchKernel"), 2);
    const int copies = calls("hipMemcpyAsync");
    EXPECT_GE(copies, 1);
    hipGraph_t graph = nullptr;
    ASSERT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
    std::size_t nodes = 0;
    ASSERT_EQ(hipGraphGetNodes(graph, nullptr, &nodes), hipSuccess);
    EXPECT_EQ(nodes, 2u + static_cast<std::size_t>(copies));
    hipGraphExec_t exec = nullptr;
    ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
    for (int replay = 0; replay < 3; ++replay)
      ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
    ASSERT_EQ(hipGraphExecDestroy(exec), hipSuccess);
    ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
    ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  }
}

TEST_F(Graph, ALaunchCallsTheLaunchAndNothingElse) {
  const Memory memory(kMemoryBytes);
  const wavesmith_attention_buffers buffers = buffersAt(memory);
  const wavesmith_attention attention = description();
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_attention(counted, &attention, &plan, &info)));
  ASSERT_TRUE(ok(wavesmith_upload(plan, buffers.workspace, kWorkspaceBytes, stream)));
  reset();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, stream)));
  EXPECT_EQ(forbiddenCalls(), "");
  EXPECT_EQ(calls("hipMemcpyAsync"), 0);
  EXPECT_EQ(calls("hipModuleLaunchKernel"), 10 * static_cast<int>(info.launches));
  EXPECT_EQ(calls("hipMemsetAsync"), 0);
  EXPECT_EQ(calls("hipGetDevice"), 10);
  EXPECT_EQ(calls("hipStreamGetDevice"), 10);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
}

} // namespace
} // namespace wavesmith::test
