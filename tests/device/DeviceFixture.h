#pragma once
// Runs each conformance test on every device that this machine has: always the emulator, and a real
// gfx942 or gfx950 through HIP, else the test is skipped with the reason.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "runtime/hip/HipObjects.h"
#include "runtime/hip/HipTable.h"
#include "tests/device/Assembler.h"

namespace wavesmith::test {

class DeviceTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    const auto opened = HipTable::open(*parseDeviceChoice(GetParam()));
    if (!opened && std::string(GetParam()) == "hip")
      GTEST_SKIP() << opened.status().message();
    ASSERT_TRUE(opened) << opened.status().message();
    hip = *opened;
    if (hip->isEmulator()) {
      ASSERT_EQ(hip->wavesmithEmulatorConfigure(
                    "chip=MI325X,order=default,seed=1,checks=all,"
                    "threads=2,coverage=0,model=off,mfma=float32,streams=fifo"),
                0)
          << hip->wavesmithEmulatorLastError();
      hip->wavesmithEmulatorLastFault();
      hip->wavesmithEmulatorLastReport(1);
      hip = *HipTable::open(DeviceChoice::Emulator); // reads the device again: it may have changed
    }
  }
  void TearDown() override {
    if (hip) {
      (void)hip->hipDeviceSynchronize();
      (void)hip->hipGetLastError();
    }
  }

  /// Loads kernels written for this test; fails the test when they do not assemble.
  DeviceModule load(const std::string &source) {
    const std::vector<std::byte> object = assemble(source, hip->device().target);
    EXPECT_FALSE(object.empty());
    auto module = DeviceModule::load(hip, object, "test.s");
    EXPECT_TRUE(module) << module.status().message();
    return module ? *std::move(module) : DeviceModule();
  }
  DeviceBuffer buffer(std::uint64_t bytes) {
    auto made = DeviceBuffer::allocate(hip, bytes);
    EXPECT_TRUE(made) << made.status().message();
    return made ? *std::move(made) : DeviceBuffer();
  }
  std::vector<std::uint32_t> words(const DeviceBuffer &from) {
    std::vector<std::uint32_t> result(from.size() / 4);
    const Status status = from.download(std::as_writable_bytes(std::span(result)));
    EXPECT_TRUE(status) << status.message();
    return result;
  }

  HipTablePtr hip;
};

/// Skips a test that needs kernels where no assembler is installed.
#define NEED_ASSEMBLER()                                                                           \
  if (const auto missing = ::wavesmith::test::assemblerMissing())                                  \
  GTEST_SKIP() << *missing

#define ON_EVERY_DEVICE(fixture)                                                                   \
  INSTANTIATE_TEST_SUITE_P(Device, fixture, testing::Values("emulator", "hip"),                    \
                           [](const auto &info) { return std::string(info.param); })

/// out[i] = value + i for every work-item i of the grid: (global_buffer out, i32 value).
KernelSource iotaKernel(std::string name = "iota");
/// Endless increments of out[i] are one kernel each: out[i] += value.
KernelSource addKernel(std::string name = "add");
/// Stores to out[0] without asking where it points: a wild address is a fault.
KernelSource storeKernel(std::string name = "store");

template <typename... Values> std::vector<std::byte> packArguments(const Values &...values) {
  std::vector<std::byte> bytes;
  const auto append = [&](const auto &value) {
    const std::size_t at = (bytes.size() + sizeof(value) - 1) / sizeof(value) * sizeof(value);
    bytes.resize(at + sizeof(value));
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  (append(values), ...);
  return bytes;
}

} // namespace wavesmith::test
