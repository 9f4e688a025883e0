#include "runtime/dispatch/AttentionKernel.h"

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

struct AttentionKernelTest : ::testing::Test {
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
  test::FakeDevice device;
};

TEST_F(AttentionKernelTest, RefusesObjectsThatDoNotFitNamingBothSides) {
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

TEST_F(AttentionKernelTest, RefusesAnotherDevice) {
  device.target = "gfx950";
  EXPECT_THAT(AttentionKernel::load(device.table(), kSpec, fakeObject(kSpec)).status().message(),
              HasSubstr("the device is a gfx950, the plan is for gfx942"));
}

TEST_F(AttentionKernelTest, LaunchOnlyEnqueues) {
  auto kernel = AttentionKernel::load(device.table(), kSpec, fakeObject(kSpec));
  ASSERT_TRUE(kernel) << kernel.status().message();
  const AttentionPlan small = plan({{1, 1}});
  std::vector<std::byte> memory(8192);
  const std::uint64_t base = (reinterpret_cast<std::uint64_t>(memory.data()) + 255) & ~255ull;
  const AttentionBuffers buffers = {base,        base + 1024, base + 2048,
                                    base + 3072, base + 4096, base + 5120};
  ASSERT_TRUE(kernel->uploadWork(small, buffers.workspace, nullptr).isOk());
  ASSERT_EQ(device.copies, 1);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(kernel->launch(small, buffers, nullptr).isOk());
  EXPECT_EQ(device.launches.size(), 3u);
  EXPECT_EQ(device.allocations + device.frees, 0);
  EXPECT_EQ(device.copies, 1);
  EXPECT_EQ(device.launches[0].k, buffers.k);
  EXPECT_EQ(device.launches[0].work, buffers.workspace);
  EXPECT_EQ(device.launches[0].scaleLog2, small.arguments.scaleLog2);
  EXPECT_EQ(device.grids[0], 1u);
}

TEST_F(AttentionKernelTest, LaunchChecksAddresses) {
  auto kernel = AttentionKernel::load(device.table(), kSpec, fakeObject(kSpec));
  ASSERT_TRUE(kernel) << kernel.status().message();
  const AttentionPlan noKeys = plan({{1, 0}});
  AttentionBuffers buffers = {256, 256, 256, 256, 256, 256};
  const auto message = [&](std::uint64_t AttentionBuffers::*field, std::uint64_t address,
                           const AttentionPlan &of) {
    AttentionBuffers changed = buffers;
    changed.*field = address;
    return kernel->launch(of, changed, nullptr).message();
  };
  const AttentionPlan small = plan({{1, 1}});
  EXPECT_EQ(message(&AttentionBuffers::out, 0, small), "out is null");
  EXPECT_EQ(message(&AttentionBuffers::v, 264, small),
            "v is at 0x108; it must be aligned to 16 bytes");
  EXPECT_EQ(message(&AttentionBuffers::workspace, 0, small), "workspace is null");
  EXPECT_EQ(message(&AttentionBuffers::lse, 0, small), "lse is null");
  EXPECT_TRUE(device.launches.empty());
  // Without keys there may be no key memory at all, and an empty batch needs none whatever.
  std::vector<std::byte> memory(8192);
  const std::uint64_t base = (reinterpret_cast<std::uint64_t>(memory.data()) + 255) & ~255ull;
  buffers = {base, 0, 0, base + 1024, base + 2048, base + 3072};
  ASSERT_TRUE(kernel->uploadWork(noKeys, buffers.workspace, nullptr).isOk());
  EXPECT_TRUE(kernel->launch(noKeys, buffers, nullptr).isOk());
  EXPECT_TRUE(kernel->uploadWork(plan({}), 0, nullptr).isOk());
  EXPECT_TRUE(kernel->launch(plan({{0, 5}}), {}, nullptr).isOk());
  EXPECT_EQ(device.launches.size(), 1u);
}

TEST_F(AttentionKernelTest, SplitsNeedTheirMerge) {
  AttentionProblem problem;
  problem.lengths = {{1, 300}};
  const AttentionPlan plan = *planAttention(problem, {.splits = 2});
  ASSERT_EQ(plan.list.slots, 2);
  auto kernel = AttentionKernel::load(device.table(), plan.spec(), fakeObject(plan.spec()));
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_THAT(kernel->launch(plan, {}, nullptr).message(), HasSubstr("is not loaded"));
  // The merge of another head dim would read the partials wrongly.
  const KernelSpec narrow = combineSpec("gfx942", 64, true);
  auto combine = LoadedKernel::load(device.table(), narrow,
                                    fakeObject(narrow, {.abi = kCombineLayout,
                                                        .arguments = sizeof(CombineArguments) / 8,
                                                        .maxThreads = kRowThreads}));
  ASSERT_TRUE(combine) << combine.status().message();
  kernel->setCombine(*std::move(combine));
  EXPECT_THAT(kernel->launch(plan, {}, nullptr).message(),
              AllOf(HasSubstr(narrow.text()), HasSubstr(plan.combineSpec->text())));
  EXPECT_TRUE(device.launches.empty());
}

TEST_F(AttentionKernelTest, TheWorkspaceHoldsListsAndPartialsApart) {
  AttentionProblem problem;
  problem.heads = 3;
  problem.lengths = {{700, 3000}};
  const AttentionPlan plan = *planAttention(problem, {.splits = 5});
  const WorkspaceLayout &w = plan.workspace;
  ASSERT_EQ(plan.list.slots, 3 * 3 * 5);
  const std::uint64_t rows = 45 * 256;
  EXPECT_GE(w.merges, w.work + plan.grid() * sizeof(AttentionWorkUnit));
  EXPECT_GE(w.partialLse, w.merges + plan.list.merges.size() * sizeof(CombineUnit));
  EXPECT_GE(w.partialOut, w.partialLse + rows * 4);
  EXPECT_GE(w.bytes, w.partialOut + rows * 128 * 4);
  for (const std::uint64_t offset : {w.work, w.merges, w.partialLse, w.partialOut})
    EXPECT_EQ(offset % 256, 0u);
  EXPECT_EQ((*planAttention(problem, {.splits = 1})).workspace.partialOut,
            (*planAttention(problem, {.splits = 1})).workspaceBytes())
      << "no partials without splits";
}

TEST_F(AttentionKernelTest, Fp8TakesDescales) {
  KernelSpec spec = kSpec;
  spec.attention.dtype = DType::FP8;
  auto kernel = AttentionKernel::load(device.table(), spec, fakeObject(spec));
  ASSERT_TRUE(kernel) << kernel.status().message();
  AttentionProblem problem;
  problem.dtype = DType::FP8;
  problem.causal = true;
  problem.lengths = {{1, 0}};
  problem.sharedDescales = {.q = true, .v = true};
  const auto planned = planAttention(problem);
  ASSERT_TRUE(planned) << planned.status().message();
  std::vector<std::byte> memory(8192);
  const std::uint64_t base = (reinterpret_cast<std::uint64_t>(memory.data()) + 255) & ~255ull;
  AttentionBuffers buffers = {base, 0, 0, base + 1024, base + 2048, base + 3072, 260, 264, 268};
  ASSERT_TRUE(kernel->uploadWork(*planned, buffers.workspace, nullptr).isOk());
  ASSERT_TRUE(kernel->launch(*planned, buffers, nullptr).isOk());
  EXPECT_EQ(device.launches[0].descaleQ, 260u);
  EXPECT_EQ(device.launches[0].descaleK, 264u);
  EXPECT_EQ(device.launches[0].descaleV, 268u);
  EXPECT_EQ(device.launches[0].sharedDescales, kSharedDescaleQ | kSharedDescaleV);
  buffers.descaleK = 0;
  EXPECT_EQ(kernel->launch(*planned, buffers, nullptr).message(), "descale_k is null");
  buffers.descaleK = 263;
  EXPECT_EQ(kernel->launch(*planned, buffers, nullptr).message(),
            "descale_k is at 0x107; it must be aligned to 4 bytes");
}

TEST_F(AttentionKernelTest, LaunchRefusesAnotherPlan) {
  auto kernel = AttentionKernel::load(device.table(), kSpec, fakeObject(kSpec));
  ASSERT_TRUE(kernel) << kernel.status().message();
  AttentionProblem problem;
  problem.lengths = {{1, 1}};
  EXPECT_THAT(kernel->launch(*planAttention(problem), {}, nullptr).message(),
              HasSubstr("the plan is of [attention"));
}

} // namespace
} // namespace wavesmith
