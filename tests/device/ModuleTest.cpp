#include "tests/device/DeviceFixture.h"

namespace wavesmith {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class Modules : public test::DeviceTest {
protected:
  void SetUp() override {
    NEED_ASSEMBLER();
    DeviceTest::SetUp();
  }
};
ON_EVERY_DEVICE(Modules);

TEST_P(Modules, KernelsAreFoundByName) {
  const DeviceModule module = load(test::kernelSource({test::iotaKernel(), test::addKernel()}));
  EXPECT_TRUE(module.function("iota"));
  EXPECT_TRUE(module.function("add"));
  const Status status = module.function("subtract").status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_THAT(status.message(), HasSubstr("subtract"));
  if (hip->isEmulator())
    EXPECT_THAT(status.message(), HasSubstr("it has iota, add"));
}

TEST_P(Modules, AnObjectOfAnotherTargetIsRefused) {
  const std::string other = hip->device().target == "gfx942" ? "gfx950" : "gfx942";
  const auto object = test::assemble(test::kernelSource({test::iotaKernel()}), other);
  ASSERT_FALSE(object.empty());
  hipModule_t module = nullptr;
  EXPECT_THAT(hip->hipModuleLoadData(&module, object.data()),
              AnyOf(hipErrorNoBinaryForGpu, hipErrorInvalidImage));
  if (hip->isEmulator())
    EXPECT_THAT(hip->wavesmithEmulatorLastError(), AnyOf(HasSubstr("gfx950"), HasSubstr("gfx942")));
}

TEST_P(Modules, DamagedObjectsAreRefused) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "real HIP trusts the headers";
  auto object = test::assemble(test::kernelSource({test::iotaKernel()}), hip->device().target);
  ASSERT_FALSE(object.empty());
  hipModule_t module = nullptr;
  auto broken = object;
  broken[18] = std::byte{62}; // e_machine: x86-64
  EXPECT_EQ(hip->hipModuleLoadData(&module, broken.data()), hipErrorInvalidImage);
  EXPECT_THAT(hip->wavesmithEmulatorLastError(), HasSubstr("e_machine"));
  broken = object;
  broken[0] = std::byte{0};
  EXPECT_EQ(hip->hipModuleLoadData(&module, broken.data()), hipErrorInvalidImage);
  EXPECT_EQ(hip->hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hip->hipModuleLoad(&module, "/nonexistent/k.co"), hipErrorFileNotFound);
  for (std::size_t size = 0; size < object.size(); size += 61) {
    const auto cut = DeviceModule::load(hip, std::span(object).first(size), "cut.co");
    ASSERT_FALSE(cut) << size;
    EXPECT_THAT(cut.status().message(), HasSubstr("cut.co: "));
  }
  const auto empty = DeviceModule::load(hip, {}, "empty.co");
  EXPECT_THAT(empty.status().message(), HasSubstr("empty.co: 0 bytes"));
}

TEST_P(Modules, BundlesAreUnpacked) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "the emulator's own unpacking";
  const auto object = test::assemble(test::kernelSource({test::iotaKernel()}), "gfx942");
  ASSERT_FALSE(object.empty());
  const auto bundle = [&](const std::string &name) {
    std::string bytes = "__CLANG_OFFLOAD_BUNDLE__";
    const auto number = [&](std::uint64_t value) {
      bytes.append(reinterpret_cast<const char *>(&value), 8);
    };
    const std::string host = "host-x86_64-unknown-linux-gnu-";
    number(2);
    for (const std::string &entry : {host, name}) {
      number(4096);
      number(entry == host ? 0 : object.size());
      number(entry.size());
      bytes += entry;
    }
    bytes.resize(4096);
    bytes.append(reinterpret_cast<const char *>(object.data()), object.size());
    return bytes;
  };
  hipModule_t module = nullptr;
  const std::string good = bundle("hipv4-amdgcn-amd-amdhsa--gfx942:xnack-");
  EXPECT_EQ(hip->hipModuleLoadData(&module, good.data()), hipSuccess)
      << hip->wavesmithEmulatorLastError();
  EXPECT_EQ(hip->hipModuleUnload(module), hipSuccess);
  const std::string other = bundle("hipv4-amdgcn-amd-amdhsa--gfx90a");
  EXPECT_EQ(hip->hipModuleLoadData(&module, other.data()), hipErrorNoBinaryForGpu);
  EXPECT_THAT(hip->wavesmithEmulatorLastError(), HasSubstr("gfx90a"));
}

TEST_P(Modules, GlobalsAreMemory) {
  const auto object = test::assemble(test::kernelSource({test::iotaKernel()}, R"(
  .data
  .globl table
  .type table,@object
  .p2align 3
table:
  .long 11, 22, 33
  .size table, 12
)"),
                                     hip->device().target);
  ASSERT_FALSE(object.empty());
  hipModule_t module = nullptr;
  ASSERT_EQ(hip->hipModuleLoadData(&module, object.data()), hipSuccess);
  hipDeviceptr_t address = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hip->hipModuleGetGlobal(&address, &bytes, module, "table"), hipSuccess);
  EXPECT_EQ(bytes, 12u);
  std::uint32_t values[3] = {};
  ASSERT_EQ(hip->hipMemcpy(values, address, 12, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_THAT(values, testing::ElementsAre(11, 22, 33));
  EXPECT_NE(hip->hipModuleGetGlobal(&address, &bytes, module, "chair"), hipSuccess);
  EXPECT_EQ(hip->hipModuleUnload(module), hipSuccess);
}

TEST_P(Modules, UnloadedModulesAndTheirKernelsAreGone) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "real HIP follows dead handles";
  const auto object = test::assemble(test::kernelSource({test::iotaKernel()}), "gfx942");
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  ASSERT_EQ(hip->hipModuleLoadData(&module, object.data()), hipSuccess);
  ASSERT_EQ(hip->hipModuleGetFunction(&function, module, "iota"), hipSuccess);
  ASSERT_EQ(hip->hipModuleUnload(module), hipSuccess);
  EXPECT_EQ(hip->hipModuleUnload(module), hipErrorInvalidHandle);
  EXPECT_EQ(hip->hipModuleGetFunction(&function, module, "iota"), hipErrorInvalidHandle);
  EXPECT_FALSE(launch(*hip, function, {}, {}, nullptr));
}

} // namespace
} // namespace wavesmith
