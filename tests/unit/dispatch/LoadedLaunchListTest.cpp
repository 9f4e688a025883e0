#include "runtime/dispatch/LoadedLaunchList.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/dispatch/RowKernel.h"
#include "runtime/provider/ObjectCheck.h"
#include "tests/unit/dispatch/FakeDevice.h"
#include "tests/unit/dispatch/FakeObject.h"

namespace wavesmith {
namespace {

using test::fakeObject;
using ::testing::HasSubstr;

const KernelSpec kSpec = {"gfx942", {DType::BF16, 192, 128, true, true, false}, ""};

struct LoadedLaunchListTest : ::testing::Test {
  void SetUp() override {
    if (const auto missing = test::assemblerMissing())
      GTEST_SKIP() << *missing;
  }
  AttentionPlan plan(std::vector<SequenceLength> lengths) {
    AttentionProblem problem;
    problem.causal = true;
    problem.lengths = std::move(lengths);
    return *planAttention(problem);
  }
  Expected<LoadedLaunchList> load(const AttentionPlan &plan) {
    return LoadedLaunchList::load(device.table(), launchList(plan), fake);
  }

  test::FakeDevice device;
  int resolved = 0;
  KernelResolver fake = [this](const KernelSpec &spec) -> Expected<ResolvedKernel> {
    ++resolved;
    const KernelAbi abi = *spec.abi();
    test::FakeObjectOptions options;
    options.abi = abi.layout;
    options.arguments = static_cast<int>(abi.argumentBytes / 8);
    options.maxThreads = static_cast<int>(abi.threads);
    if (!spec.isRowKernel() && spec.attention.dtype == DType::FP8)
      options.fp8Format = fp8FormatName(parseTarget(spec.target)->fp8);
    WAVESMITH_ASSIGN(LoadedKernel kernel,
                     LoadedKernel::load(device.table(), spec, fakeObject(spec, options)));
    return ResolvedKernel{std::make_shared<const LoadedKernel>(std::move(kernel)), "jit", 1, 1};
  };
};

TEST_F(LoadedLaunchListTest, RefusesObjectsThatDoNotFitNamingBothSides) {
  ASSERT_TRUE(checkKernelObject(kSpec, *fakeObject(kSpec)));
  const auto refusal = [](const test::FakeObjectOptions &options) {
    return checkKernelObject(kSpec, *fakeObject(kSpec, options)).status().message();
  };
  EXPECT_THAT(refusal({.note = false}), HasSubstr("no Wavesmith note"));
  EXPECT_THAT(refusal({.abi = "attention-0"}),
              AllOf(HasSubstr("[attention-0]"), HasSubstr(kAttentionLayout)));
  EXPECT_THAT(refusal({.noteSpec = "attention abi=0"}),
              AllOf(HasSubstr("[attention abi=0]"), HasSubstr(kSpec.text())));
  EXPECT_THAT(refusal({.arguments = 20}), HasSubstr("takes 160 bytes of arguments, we pass 168"));
  EXPECT_THAT(refusal({.maxThreads = 256}), HasSubstr("up to 256 threads, we launch 512"));
  KernelSpec other = kSpec;
  other.target = "gfx950";
  EXPECT_THAT(checkKernelObject(other, *fakeObject(kSpec)).status().message(),
              HasSubstr("the object is for gfx942, the plan for gfx950"));
  KernelSpec fp8 = kSpec;
  fp8.attention.dtype = DType::FP8;
  EXPECT_TRUE(checkKernelObject(fp8, *fakeObject(fp8, {.fp8Format = "e4m3fnuz"})));
  EXPECT_THAT(checkKernelObject(fp8, *fakeObject(fp8, {.fp8Format = "e4m3"})).status().message(),
              HasSubstr("the object's FP8 format is [e4m3], gfx942's is [e4m3fnuz]"));
  CodeObjectBlob cut = *fakeObject(kSpec);
  cut.bytes.resize(cut.bytes.size() / 2);
  EXPECT_FALSE(checkKernelObject(kSpec, cut));
}

TEST_F(LoadedLaunchListTest, RefusesAnotherDevice) {
  device.target = "gfx950";
  EXPECT_THAT(load(plan({{1, 1}})).status().message(),
              HasSubstr("the device is a gfx950, the plan is for gfx942"));
}

TEST_F(LoadedLaunchListTest, LaunchOnlyEnqueues) {
  const AttentionPlan small = plan({{1, 1}});
  const auto list = load(small);
  ASSERT_TRUE(list) << list.status().message();
  std::vector<std::byte> memory(8192);
  const std::uint64_t base = (reinterpret_cast<std::uint64_t>(memory.data()) + 255) & ~255ull;
  const AttentionBuffers buffers = {base,        base + 1024, base + 2048,
                                    base + 3072, base + 4096, base + 5120};
  ASSERT_TRUE(list->uploadWork(buffers.workspace, nullptr).isOk());
  ASSERT_EQ(device.copies, 1);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(list->launch(buffers, nullptr).isOk());
  EXPECT_EQ(device.launches.size(), 3u);
  EXPECT_EQ(device.allocations + device.frees, 0);
  EXPECT_EQ(device.copies, 1);
  EXPECT_EQ(device.launches[0].k, buffers.k);
  EXPECT_EQ(device.launches[0].work, buffers.workspace);
  EXPECT_EQ(device.launches[0].scaleLog2, small.arguments.scaleLog2);
  EXPECT_EQ(device.grids[0], 1u);
}

TEST_F(LoadedLaunchListTest, LaunchChecksAddresses) {
  AttentionBuffers buffers = {256, 256, 256, 256, 256, 256};
  const auto small = load(plan({{1, 1}})), noKeys = load(plan({{1, 0}}));
  ASSERT_TRUE(small && noKeys);
  const auto message = [&](std::uint64_t AttentionBuffers::*field, std::uint64_t address) {
    AttentionBuffers changed = buffers;
    changed.*field = address;
    return small->launch(changed, nullptr).message();
  };
  EXPECT_EQ(message(&AttentionBuffers::out, 0), "out is null");
  EXPECT_EQ(message(&AttentionBuffers::k, 0), "k is null");
  EXPECT_EQ(message(&AttentionBuffers::v, 264), "v is at 0x108; it must be aligned to 16 bytes");
  EXPECT_EQ(message(&AttentionBuffers::workspace, 0), "workspace is null");
  EXPECT_EQ(message(&AttentionBuffers::lse, 0), "lse is null");
  EXPECT_EQ(small->uploadWork(0, nullptr).message(), "workspace is null");
  EXPECT_TRUE(device.launches.empty());
  // Without keys there may be no key memory at all, and an empty batch needs none whatever.
  std::vector<std::byte> memory(8192);
  const std::uint64_t base = (reinterpret_cast<std::uint64_t>(memory.data()) + 255) & ~255ull;
  buffers = {base, 0, 0, base + 1024, base + 2048, base + 3072};
  ASSERT_TRUE(noKeys->uploadWork(buffers.workspace, nullptr).isOk());
  EXPECT_TRUE(noKeys->launch(buffers, nullptr).isOk());
  EXPECT_EQ(device.launches.size(), 1u);
  resolved = 0;
  for (const AttentionPlan &nothing : {plan({}), plan({{0, 5}})}) {
    const auto list = load(nothing);
    ASSERT_TRUE(list);
    EXPECT_TRUE(list->uploadWork(0, nullptr).isOk());
    EXPECT_TRUE(list->launch({}, nullptr).isOk());
  }
  EXPECT_EQ(device.launches.size(), 1u);
  EXPECT_EQ(resolved, 0) << "nothing to launch needs no kernel";
}

TEST_F(LoadedLaunchListTest, NothingIsEnqueuedWhenALaterStepLacksAnAddress) {
  AttentionProblem problem;
  problem.lengths = {{1, 300}};
  const AttentionPlan plan = *planAttention(problem, {.splits = 2});
  ASSERT_EQ(plan.list.slots, 2);
  LaunchList list = launchList(plan);
  ASSERT_EQ(list.steps.size(), 2u);
  list.steps[1].addresses.push_back({.binding = Binding::DescaleQ});
  const auto loaded = LoadedLaunchList::load(device.table(), std::move(list), fake);
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_EQ(loaded->launch({256, 256, 256, 256, 256, 256}, nullptr).message(), "descale_q is null");
  EXPECT_TRUE(device.launches.empty());
}

TEST_F(LoadedLaunchListTest, EveryKernelIsResolvedOnceAndMustBeTheOneAskedFor) {
  LaunchList list = launchList(plan({{1, 1}}));
  list.append(launchList(plan({{5, 9}})));
  ASSERT_EQ(list.steps.size(), 2u);
  ASSERT_TRUE(LoadedLaunchList::load(device.table(), list, fake));
  EXPECT_EQ(resolved, 1);
  // The merge of another head dim would read the partials wrongly.
  const KernelResolver wrong = [this](const KernelSpec &) {
    return fake(combineSpec("gfx942", 64, true, DType::BF16));
  };
  EXPECT_THAT(LoadedLaunchList::load(device.table(), list, wrong).status().message(),
              AllOf(HasSubstr(kSpec.text()), HasSubstr("head_dim_v=64")));
}

TEST_F(LoadedLaunchListTest, Fp8TakesDescales) {
  AttentionProblem problem;
  problem.dtype = DType::FP8;
  problem.causal = true;
  problem.lengths = {{1, 0}};
  problem.sharedDescales = {.q = true, .v = true};
  const auto planned = planAttention(problem);
  ASSERT_TRUE(planned) << planned.status().message();
  const auto list = load(*planned);
  ASSERT_TRUE(list) << list.status().message();
  std::vector<std::byte> memory(8192);
  const std::uint64_t base = (reinterpret_cast<std::uint64_t>(memory.data()) + 255) & ~255ull;
  AttentionBuffers buffers = {base, 0, 0, base + 1024, base + 2048, base + 3072, 260, 264, 268};
  ASSERT_TRUE(list->uploadWork(buffers.workspace, nullptr).isOk());
  ASSERT_TRUE(list->launch(buffers, nullptr).isOk());
  EXPECT_EQ(device.launches[0].descaleQ, 260u);
  EXPECT_EQ(device.launches[0].descaleK, 264u);
  EXPECT_EQ(device.launches[0].descaleV, 268u);
  EXPECT_EQ(device.launches[0].sharedDescales, kSharedDescaleQ | kSharedDescaleV);
  buffers.descaleK = 0;
  EXPECT_EQ(list->launch(buffers, nullptr).message(), "descale_k is null");
  buffers.descaleK = 263;
  EXPECT_EQ(list->launch(buffers, nullptr).message(),
            "descale_k is at 0x107; it must be aligned to 4 bytes");
}

} // namespace
} // namespace wavesmith
