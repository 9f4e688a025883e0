// Memory of the emulator's front beyond what the runtime uses: host memory in kernels, managed
// memory, pools, volumes.

#include "tests/device/FrontFixture.h"

namespace wavesmith {
namespace {

using testing::HasSubstr;

using MallocManaged = hipError_t (*)(void **, std::size_t, unsigned);
using MallocAsync = hipError_t (*)(void **, std::size_t, hipStream_t);

class FrontMemory : public test::FrontTest {
protected:
  hipError_t iota(void *out, std::uint32_t first, unsigned blocks = 1) {
    const auto function = module().function("iota");
    EXPECT_TRUE(function);
    EXPECT_TRUE(launch(*hip, *function, {{blocks, 1, 1}, {64, 1, 1}},
                       test::packArguments(out, first), nullptr));
    return hip->hipDeviceSynchronize();
  }
  const DeviceModule &module() {
    if (!module_)
      module_ = load(test::kernelSource({test::iotaKernel(), test::addKernel()}));
    return *module_;
  }
  void TearDown() override {
    module_.reset();
    FrontTest::TearDown();
  }
  std::optional<DeviceModule> module_;
};
INSTANTIATE_TEST_SUITE_P(Devices, FrontMemory, testing::Values("emulator"));

TEST_P(FrontMemory, KernelsReachPinnedHostMemory) {
  NEED_ASSEMBLER();
  void *pinned = nullptr, *device = nullptr;
  ASSERT_EQ(hip->hipHostMalloc(&pinned, 256, 0), hipSuccess);
  ASSERT_EQ(FRONT(hipHostGetDevicePointer)(&device, pinned, 0), hipSuccess);
  EXPECT_EQ(iota(device, 5), hipSuccess);
  EXPECT_EQ(static_cast<std::uint32_t *>(pinned)[63], 68u);
  // One block more than it holds.
  EXPECT_EQ(iota(device, 5, 2), hipErrorLaunchFailure);
  EXPECT_THAT(hip->wavesmithEmulatorLastFault(), HasSubstr("memory: iota"));
  EXPECT_EQ(hip->hipHostFree(pinned), hipSuccess);
  EXPECT_EQ(FRONT(hipHostGetDevicePointer)(&device, pinned, 0), hipErrorInvalidValue);
  EXPECT_EQ(iota(device, 5), hipErrorLaunchFailure);
  hip->wavesmithEmulatorLastFault();
}

TEST_P(FrontMemory, KernelsReachRegisteredHostMemory) {
  NEED_ASSEMBLER();
  std::vector<std::uint32_t> values(64, 7);
  EXPECT_EQ(iota(values.data(), 1), hipErrorLaunchFailure); // not yet
  hip->wavesmithEmulatorLastFault();
  ASSERT_EQ(FRONT(hipHostRegister)(values.data(), 256, 0), hipSuccess);
  EXPECT_EQ(FRONT(hipHostRegister)(values.data(), 256, 0), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(iota(values.data(), 1), hipSuccess);
  EXPECT_EQ(values[10], 11u);
  EXPECT_EQ(FRONT(hipHostUnregister)(values.data()), hipSuccess);
  EXPECT_EQ(FRONT(hipHostUnregister)(values.data()), hipErrorHostMemoryNotRegistered);
}

TEST_P(FrontMemory, ManagedMemoryIsEverywhere) {
  NEED_ASSEMBLER();
  void *managed = nullptr;
  const auto allocate = symbol<MallocManaged>("hipMallocManaged");
  EXPECT_EQ(allocate(&managed, 256, 99), hipErrorInvalidValue);
  ASSERT_EQ(allocate(&managed, 256, hipMemAttachGlobal), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPrefetchAsync)(managed, 256, 0, nullptr), hipSuccess);
  EXPECT_EQ(FRONT(hipMemAdvise)(managed, 256, hipMemAdviseSetReadMostly, hipCpuDeviceId),
            hipSuccess);
  EXPECT_EQ(FRONT(hipMemPrefetchAsync)(managed, 257, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(FRONT(hipMemPrefetchAsync)(managed, 256, 9, nullptr), hipErrorInvalidDevice);
  EXPECT_EQ(iota(managed, 3), hipSuccess);
  EXPECT_EQ(static_cast<std::uint32_t *>(managed)[63], 66u);
  hipPointerAttribute_t attributes{};
  ASSERT_EQ(FRONT(hipPointerGetAttributes)(&attributes, managed), hipSuccess);
  EXPECT_EQ(attributes.isManaged, 1);
  EXPECT_EQ(static_cast<int>(attributes.memoryType), 3);
  EXPECT_EQ(hip->hipFree(managed), hipSuccess);
  EXPECT_EQ(hip->hipFree(managed), hipErrorInvalidValue);
}

TEST_P(FrontMemory, PoolsCountWhatTheyGave) {
  hipMemPool_t pool = nullptr, other = nullptr;
  ASSERT_EQ(FRONT(hipDeviceGetDefaultMemPool)(&pool, 0), hipSuccess);
  ASSERT_EQ(FRONT(hipDeviceGetMemPool)(&other, 0), hipSuccess);
  EXPECT_EQ(pool, other);
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  ASSERT_EQ(FRONT(hipMemPoolCreate)(&other, &properties), hipSuccess);
  void *pointer = nullptr;
  ASSERT_EQ(symbol<hipError_t (*)(void **, std::size_t, hipMemPool_t, hipStream_t)>(
                "hipMallocFromPoolAsync")(&pointer, 4096, other, nullptr),
            hipSuccess);
  std::uint64_t used = 0, high = 0, inDefault = 1;
  EXPECT_EQ(FRONT(hipMemPoolGetAttribute)(other, hipMemPoolAttrUsedMemCurrent, &used), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolGetAttribute)(pool, hipMemPoolAttrUsedMemCurrent, &inDefault),
            hipSuccess);
  EXPECT_EQ(used, 4096u);
  EXPECT_EQ(inDefault, 0u);
  EXPECT_EQ(FRONT(hipFreeAsync)(pointer, nullptr), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolGetAttribute)(other, hipMemPoolAttrUsedMemCurrent, &used), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolGetAttribute)(other, hipMemPoolAttrUsedMemHigh, &high), hipSuccess);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(high, 4096u);
  std::uint64_t threshold = 1 << 20, back = 0;
  EXPECT_EQ(FRONT(hipMemPoolSetAttribute)(other, hipMemPoolAttrReleaseThreshold, &threshold),
            hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolGetAttribute)(other, hipMemPoolAttrReleaseThreshold, &back),
            hipSuccess);
  EXPECT_EQ(back, threshold);
  EXPECT_EQ(FRONT(hipMemPoolTrimTo)(other, 0), hipSuccess);
  ASSERT_EQ(FRONT(hipDeviceSetMemPool)(0, other), hipSuccess);
  ASSERT_EQ(symbol<MallocAsync>("hipMallocAsync")(&pointer, 64, nullptr), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolGetAttribute)(other, hipMemPoolAttrUsedMemCurrent, &used), hipSuccess);
  EXPECT_EQ(used, 64u);
  EXPECT_EQ(FRONT(hipFreeAsync)(pointer, nullptr), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolDestroy)(pool), hipErrorInvalidValue); // the device's own
  EXPECT_EQ(FRONT(hipMemPoolDestroy)(other), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolTrimTo)(other, 0), hipErrorInvalidValue);
}

TEST_P(FrontMemory, BoxesAreCopiedAndFilled) {
  // 3 slices of 4 rows of 16 bytes on the host; a box of 2 x 2 x 8 goes to the device and back.
  std::vector<std::uint8_t> host(3 * 4 * 16), back(host.size(), 0xee);
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<std::uint8_t>(i);
  hipPitchedPtr device{};
  ASSERT_EQ(FRONT(hipMalloc3D)(&device, hipExtent{16, 4, 3}), hipSuccess);
  ASSERT_EQ(FRONT(hipMemset3D)(device, 0x55, hipExtent{16, 4, 3}), hipSuccess);
  hipMemcpy3DParms copy{};
  copy.srcPtr = {host.data(), 16, 16, 4};
  copy.srcPos = {4, 1, 1};
  copy.dstPtr = device;
  copy.dstPos = {8, 2, 1};
  copy.extent = {8, 2, 2};
  copy.kind = hipMemcpyHostToDevice;
  ASSERT_EQ(FRONT(hipMemcpy3D)(&copy), hipSuccess);
  hipMemcpy3DParms out{};
  out.srcPtr = device;
  out.dstPtr = {back.data(), 16, 16, 4};
  out.extent = {16, 4, 3};
  out.kind = hipMemcpyDeviceToHost;
  ASSERT_EQ(FRONT(hipMemcpy3DAsync)(&out, nullptr), hipSuccess);
  for (std::size_t z = 0; z < 3; ++z)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 0; x < 16; ++x) {
        const bool inside = z >= 1 && y >= 2 && x >= 8;
        const std::size_t from = (z * 4 + y - 1) * 16 + x - 4;
        EXPECT_EQ(back[(z * 4 + y) * 16 + x], inside ? from & 0xff : 0x55u) << x << y << z;
      }
  copy.extent.width = 13;
  EXPECT_EQ(FRONT(hipMemcpy3D)(&copy), hipErrorInvalidPitchValue);

  hip_Memcpy2D flat{};
  flat.srcMemoryType = hipMemoryTypeHost;
  flat.srcHost = host.data();
  flat.srcPitch = 16;
  flat.srcY = 2;
  flat.dstMemoryType = hipMemoryTypeDevice;
  flat.dstDevice = device.ptr;
  flat.dstPitch = device.pitch;
  flat.WidthInBytes = 4;
  flat.Height = 2;
  ASSERT_EQ(FRONT(hipMemcpyParam2D)(&flat), hipSuccess);
  std::uint8_t byte = 0;
  ASSERT_EQ(hip->hipMemcpy(&byte, static_cast<char *>(device.ptr) + device.pitch + 3, 1,
                           hipMemcpyDeviceToHost),
            hipSuccess);
  EXPECT_EQ(byte, 3 * 16 + 3);
  // Clients of ROCm 6 say 1 for host memory, and give no device address.
  flat.srcMemoryType = static_cast<hipMemoryType>(1);
  flat.srcY = 1;
  ASSERT_EQ(FRONT(hipMemcpyParam2D)(&flat), hipSuccess);
  ASSERT_EQ(hip->hipMemcpy(&byte, device.ptr, 1, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(byte, 16);
  EXPECT_EQ(hip->hipFree(device.ptr), hipSuccess);
}

TEST_P(FrontMemory, SizesThatWrapAndEmptyBoxesAreNoAllocationsAndNoWork) {
  hipPitchedPtr device{};
  EXPECT_EQ(FRONT(hipMalloc3D)(&device, hipExtent{16, SIZE_MAX / 2 + 2, 4}), hipErrorOutOfMemory);
  EXPECT_EQ(FRONT(hipMalloc3D)(&device, hipExtent{SIZE_MAX, 1, 1}), hipErrorOutOfMemory);
  EXPECT_EQ(FRONT(hipMalloc3D)(&device, hipExtent{1 << 20, SIZE_MAX >> 19, 1}),
            hipErrorOutOfMemory);
  ASSERT_EQ(FRONT(hipMalloc3D)(&device, hipExtent{16, 4, 3}), hipSuccess);
  EXPECT_EQ(FRONT(hipMemset3D)(device, 0, hipExtent{16, 0, SIZE_MAX}), hipSuccess);
  hipMemcpy3DParms copy{};
  copy.srcPtr = copy.dstPtr = device;
  copy.extent = {0, 4, SIZE_MAX};
  copy.kind = hipMemcpyDeviceToDevice;
  EXPECT_EQ(FRONT(hipMemcpy3D)(&copy), hipSuccess);
  EXPECT_EQ(hip->hipFree(device.ptr), hipSuccess);
}

TEST_P(FrontMemory, ANullAccessListIsRefused) {
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(FRONT(hipDeviceGetDefaultMemPool)(&pool, 0), hipSuccess);
  EXPECT_EQ(FRONT(hipMemPoolSetAccess)(pool, nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(FRONT(hipMemPoolSetAccess)(pool, nullptr, 0), hipSuccess);
}

} // namespace
} // namespace wavesmith
