// The emulator's front beyond what the runtime uses: several devices, cooperative launches,
// unloading, modelled events, hazards of foreign code.

#include <thread>

#include <nlohmann/json.hpp>

#include "tests/device/FrontFixture.h"

namespace wavesmith {
namespace {

using testing::HasSubstr;

class Front : public test::FrontTest {
protected:
  void configure(const char *settings) {
    ASSERT_EQ(hip->wavesmithEmulatorConfigure(settings), 0) << hip->wavesmithEmulatorLastError();
  }
  void TearDown() override {
    if (hip) {
      (void)hip->hipSetDevice(0);
      hip->wavesmithEmulatorConfigure("devices=1,events=host,hazards=auto");
    }
    FrontTest::TearDown();
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Front, testing::Values("emulator"));

TEST_P(Front, DevicesAreEachThreadsChoice) {
  configure("devices=3");
  int count = 0, current = -1, other = -1, bus = -1;
  ASSERT_EQ(hip->hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(count, 3);
  ASSERT_EQ(hip->hipSetDevice(2), hipSuccess);
  std::thread([&] { EXPECT_EQ(hip->hipGetDevice(&other), hipSuccess); }).join();
  ASSERT_EQ(hip->hipGetDevice(&current), hipSuccess);
  EXPECT_EQ(current, 2);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(hip->hipSetDevice(3), hipErrorInvalidDevice);
  ASSERT_EQ(hip->hipDeviceGetAttribute(&bus, hipDeviceAttributePciBusId, 2), hipSuccess);
  EXPECT_EQ(bus, 2);

  // Memory belongs to the device on which it was allocated.
  std::size_t before = 0, after = 0, total = 0, elsewhere = 0;
  ASSERT_EQ(hip->hipMemGetInfo(&before, &total), hipSuccess);
  DeviceBuffer there = buffer(4096);
  ASSERT_EQ(hip->hipMemGetInfo(&after, &total), hipSuccess);
  EXPECT_EQ(before - after, 4096u);
  hipPointerAttribute_t attributes{};
  ASSERT_EQ(FRONT(hipPointerGetAttributes)(&attributes, there.data()), hipSuccess);
  EXPECT_EQ(attributes.device, 2);
  ASSERT_EQ(hip->hipSetDevice(0), hipSuccess);
  ASSERT_EQ(hip->hipMemGetInfo(&elsewhere, &total), hipSuccess);
  EXPECT_EQ(elsewhere, total);

  int can = -1;
  EXPECT_EQ(FRONT(hipDeviceCanAccessPeer)(&can, 0, 2), hipSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(FRONT(hipDeviceCanAccessPeer)(&can, 1, 1), hipSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(FRONT(hipDeviceDisablePeerAccess)(2), hipErrorPeerAccessNotEnabled);
  EXPECT_EQ(FRONT(hipDeviceEnablePeerAccess)(2, 0), hipSuccess);
  EXPECT_EQ(FRONT(hipDeviceEnablePeerAccess)(2, 0), hipErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(FRONT(hipDeviceEnablePeerAccess)(0, 0), hipErrorInvalidDevice);
  EXPECT_EQ(FRONT(hipDeviceEnablePeerAccess)(1, 1), hipErrorInvalidValue);
  DeviceBuffer here = buffer(4096);
  ASSERT_TRUE(there.fill(std::byte{0x3c}));
  EXPECT_EQ(FRONT(hipMemcpyPeer)(here.data(), 0, there.data(), 2, 4096), hipSuccess);
  EXPECT_EQ(words(here).back(), 0x3c3c3c3cu);
  EXPECT_EQ(FRONT(hipMemcpyPeer)(here.data(), 0, there.data(), 3, 4096), hipErrorInvalidDevice);
}

TEST_P(Front, NothingIsSharedWithOtherProcesses) {
  DeviceBuffer memory = buffer(64);
  hipIpcMemHandle_t handle{};
  void *opened = nullptr;
  EXPECT_EQ(FRONT(hipIpcGetMemHandle)(&handle, memory.data()), hipErrorNotSupported);
  EXPECT_EQ(FRONT(hipIpcGetMemHandle)(nullptr, memory.data()), hipErrorInvalidValue);
  EXPECT_EQ(FRONT(hipIpcOpenMemHandle)(&opened, handle, 0), hipErrorNotSupported);
  EXPECT_EQ(FRONT(hipIpcCloseMemHandle)(memory.data()), hipErrorInvalidValue);
}

/// Each workgroup counts itself in and waits until all have; then stores how many there are.
constexpr const char *kGridBarrier = R"(  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  v_mov_b32 v3, 0
  v_mov_b32 v4, 1
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  global_atomic_add v5, v3, v4, s[4:5] sc0
  s_waitcnt vmcnt(0)
1:
  global_load_dword v5, v3, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_cmp_gt_u32 vcc, s6, v5
  s_cbranch_vccnz 1b
  s_lshl_b32 s7, s2, 2
  v_mov_b32 v6, s7
  global_store_dword v6, v5, s[4:5] offset:4)";

TEST_P(Front, ACooperativeGridMeetsItself) {
  NEED_ASSEMBLER();
  const DeviceModule module = load(test::kernelSource(
      {{.name = "meet", .body = kGridBarrier, .arguments = {"8 global_buffer", "4 by_value"}}}));
  const auto function = module.function("meet");
  ASSERT_TRUE(function);
  constexpr std::uint32_t kGroups = 40;
  DeviceBuffer out = buffer((kGroups + 1) * 4);
  ASSERT_TRUE(out.fill(std::byte{0}));
  void *pointer = out.data();
  std::uint32_t groups = kGroups;
  void *parameters[] = {&pointer, &groups};
  using Launch = hipError_t (*)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, unsigned, hipStream_t, void **);
  const auto launch = symbol<Launch>("hipModuleLaunchCooperativeKernel");
  for (const char *order : {"threads=1", "threads=3,order=preemptive"}) {
    configure(order);
    ASSERT_TRUE(out.fill(std::byte{0}));
    ASSERT_EQ(launch(*function, kGroups, 1, 1, 64, 1, 1, 0, nullptr, parameters), hipSuccess);
    ASSERT_EQ(hip->hipDeviceSynchronize(), hipSuccess) << hip->wavesmithEmulatorLastFault();
    for (const std::uint32_t value : words(out))
      EXPECT_EQ(value, kGroups);
  }
  EXPECT_EQ(launch(*function, 100000, 1, 1, 1024, 1, 1, 0, nullptr, parameters),
            hipErrorCooperativeLaunchTooLarge);
  EXPECT_THAT(hip->wavesmithEmulatorLastError(), HasSubstr("the device holds"));
}

TEST_P(Front, UnloadingFreesTheImage) {
  NEED_ASSEMBLER();
  // The same place is never given twice, so what is left of a module shows by its address.
  const auto object = test::assemble(
      test::kernelSource({test::iotaKernel()}, "  .data\n  .globl cell\n  .type cell,@object\n"
                                               "cell:\n  .long 7\n  .size cell, 4\n"));
  hipModule_t module = nullptr;
  ASSERT_EQ(hip->hipModuleLoadData(&module, object.data()), hipSuccess);
  void *cell = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hip->hipModuleGetGlobal(&cell, &bytes, module, "cell"), hipSuccess);
  std::uint32_t value = 0;
  EXPECT_EQ(hip->hipMemcpy(&value, cell, 4, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(value, 7u);
  ASSERT_EQ(hip->hipModuleUnload(module), hipSuccess);
  EXPECT_EQ(hip->hipMemcpy(&value, cell, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hip->hipModuleUnload(module), hipErrorInvalidHandle);
  const DeviceModule reader = load(test::kernelSource({test::addKernel()}));
  const auto function = reader.function("add");
  ASSERT_TRUE(launch(*hip, *function, {{1, 1, 1}, {1, 1, 1}},
                     test::packArguments(cell, std::uint32_t{1}), nullptr));
  EXPECT_EQ(hip->hipDeviceSynchronize(), hipErrorLaunchFailure);
  EXPECT_THAT(hip->wavesmithEmulatorLastFault(), HasSubstr("inside the freed allocation"));
}

TEST_P(Front, EventsMayCarryModelledTime) {
  NEED_ASSEMBLER();
  const DeviceModule module = load(test::kernelSource({test::iotaKernel()}));
  const auto function = module.function("iota");
  DeviceBuffer out = buffer(64 * 4);
  configure("events=model");
  hipEvent_t start = nullptr, stop = nullptr;
  ASSERT_EQ(hip->hipEventCreateWithFlags(&start, 0), hipSuccess);
  ASSERT_EQ(hip->hipEventCreateWithFlags(&stop, 0), hipSuccess);
  const auto timed = [&](int launches) {
    EXPECT_EQ(hip->hipEventRecord(start, nullptr), hipSuccess);
    for (int i = 0; i < launches; ++i)
      EXPECT_TRUE(launch(*hip, *function, {{1, 1, 1}, {64, 1, 1}},
                         test::packArguments(out.data(), std::uint32_t{1}), nullptr));
    EXPECT_EQ(hip->hipEventRecord(stop, nullptr), hipSuccess);
    EXPECT_EQ(hip->hipEventSynchronize(stop), hipSuccess);
    float milliseconds = -1;
    EXPECT_EQ(hip->hipEventElapsedTime(&milliseconds, start, stop), hipSuccess);
    return milliseconds;
  };
  const float one = timed(1);
  EXPECT_GT(one, 0);
  EXPECT_NEAR(timed(3), 3 * one, 0.01 * one);
  EXPECT_EQ(timed(0), 0);
  (void)hip->hipEventDestroy(start);
  (void)hip->hipEventDestroy(stop);
}

TEST_P(Front, HazardsOfForeignCodeAreWarnings) {
  NEED_ASSEMBLER();
  const auto kernel = [](const char *data) {
    const test::KernelSource source = {.name = "hazard",
                                       .body =
                                           "  v_mov_b32 v2, 0\n  v_mov_b32 v3, 0\n  s_nop 0\n"
                                           "  v_mfma_f32_4x4x4_16b_f16 v[4:7], v[2:3], v[2:3], 0",
                                       .arguments = {}};
    return test::kernelSource({source}, data);
  };
  const auto run = [&](const std::string &source) {
    const DeviceModule module = load(source);
    const auto function = module.function("hazard");
    EXPECT_TRUE(launch(*hip, *function, {{1, 1, 1}, {64, 1, 1}}, {}, nullptr));
    const hipError_t code = hip->hipDeviceSynchronize();
    const auto report = nlohmann::json::parse(hip->wavesmithEmulatorLastReport(1));
    EXPECT_EQ(report["checks"]["hazards"], code == hipSuccess ? 0 : 1);
    EXPECT_EQ(report["warnings"].size(), code == hipSuccess ? 1u : 0u);
    hip->wavesmithEmulatorLastFault();
    return code;
  };
  const char *note = "  .section .note.wavesmith,\"a\",@note\n  .p2align 2\n"
                     "  .long 10, .Lend-.Lnote, 1\n  .asciz \"Wavesmith\"\n  .p2align 2\n"
                     ".Lnote:\n  .ascii \"{}\"\n.Lend:\n  .p2align 2\n";
  EXPECT_EQ(run(kernel("")), hipSuccess);
  EXPECT_EQ(run(kernel(note)), hipErrorLaunchFailure);
  configure("hazards=error");
  EXPECT_EQ(run(kernel("")), hipErrorLaunchFailure);
  configure("hazards=warning");
  EXPECT_EQ(run(kernel(note)), hipSuccess);
}

} // namespace
} // namespace wavesmith
