#include "compiler/codegen/ResourceGates.h"

#include <string>
#include <vector>

#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/Linker.h"
#include "runtime/support/Status.h"
#include "tests/unit/codegen/Fixtures.h"

namespace wavesmith::compiler {
namespace {

using ::testing::ElementsAre;
using testing::emitText;
using testing::fixture;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message;
using testing::replaced;

llvm::Expected<std::vector<KernelResources>> resourcesOf(const std::string &ir) {
  auto object = emitText(ir, {.target = "gfx942"});
  if (!object)
    return object.takeError();
  return readResources(*object);
}

TEST(ResourceGates, ReadsWhatTheMetadataSays) {
  auto object = emitText(fixture("pipelined_loop.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object)) << message(object.takeError());
  auto linked = linkCodeObject(*object);
  ASSERT_TRUE(bool(linked)) << message(linked.takeError());
  auto kernels = readResources(*linked);
  ASSERT_TRUE(bool(kernels)) << message(kernels.takeError());
  ASSERT_EQ(kernels->size(), 1u);
  const KernelResources &kernel = kernels->front();
  EXPECT_EQ(kernel.name, "loop");
  EXPECT_EQ(kernel.ldsBytes, 16384u);
  EXPECT_EQ(kernel.agprs, 0u);
  EXPECT_GE(kernel.vgprs, 32u) << "two accumulators of 16";
  EXPECT_LE(kernel.vgprs, 64u);
  EXPECT_EQ(kernel.scratchBytes, 0u);
  EXPECT_EQ(kernel.maxWorkgroupSize, 512u);
  EXPECT_EQ(kernel.kernargBytes, 24u);
  EXPECT_GT(kernel.codeBytes, 300u);
  EXPECT_FALSE(bool(checkResources(*kernels, {.workgroupSize = 512})));
}

TEST(ResourceGates, ForcedSpillsAreNamedAndAgprsCounted) {
  auto kernels = resourcesOf(testing::starvedLoop());
  ASSERT_TRUE(bool(kernels)) << message(kernels.takeError());
  EXPECT_EQ(kernels->front().agprs, 32u);
  EXPECT_GT(kernels->front().vgprs, 32u) << "the figure covers both files";
  const std::string text = message(checkResources(*kernels, {}));
  EXPECT_THAT(text, HasSubstr("kernel 'loop'"));
  EXPECT_THAT(text, HasSubstr("bytes of scratch per lane, at most 0 allowed"));
  EXPECT_THAT(text, HasSubstr("VGPR spills, at most 0 allowed"));
}

TEST(ResourceGates, EachLimitIsNamedWithItsFigure) {
  const KernelResources fine{
      .name = "k", .vgprs = 256, .agprs = 16, .ldsBytes = 65536, .maxWorkgroupSize = 512};
  const ResourceLimits limits{.workgroupSize = 512};
  EXPECT_THAT(resourceViolations(fine, limits), IsEmpty());

  KernelResources kernel = fine;
  kernel.vgprs = 257;
  EXPECT_THAT(resourceViolations(kernel, limits),
              ElementsAre("kernel 'k': 257 registers (VGPR 241 + AGPR 16) at 2 waves per SIMD, at "
                          "most 256 allowed"));
  kernel = fine;
  kernel.ldsBytes = 65540;
  EXPECT_THAT(resourceViolations(kernel, limits),
              ElementsAre("kernel 'k': 65540 bytes of LDS, at most 65536 allowed"));
  kernel = fine;
  kernel.scratchBytes = 4;
  EXPECT_THAT(resourceViolations(kernel, limits), ElementsAre(HasSubstr("4 bytes of scratch")));
  kernel = fine;
  kernel.sgprSpills = 53;
  EXPECT_THAT(resourceViolations(kernel, limits), ElementsAre(HasSubstr("53 SGPR spills")));
  EXPECT_THAT(resourceViolations(kernel, {.sgprSpills = 53}), IsEmpty());
  kernel = fine;
  kernel.dynamicStack = true;
  EXPECT_THAT(resourceViolations(kernel, limits), ElementsAre(HasSubstr("dynamic stack")));
  kernel = fine;
  kernel.maxWorkgroupSize = 256;
  EXPECT_THAT(resourceViolations(kernel, limits),
              ElementsAre("kernel 'k': compiled for workgroups of up to 256, needs 512"));
}

TEST(ResourceGates, RegistersOfAWaveAreAShareInTheAllocationGranule) {
  EXPECT_EQ(ResourceLimits{.wavesPerSimd = 1}.registersPerWave(), 512u);
  EXPECT_EQ(ResourceLimits{.wavesPerSimd = 2}.registersPerWave(), 256u);
  EXPECT_EQ(ResourceLimits{.wavesPerSimd = 3}.registersPerWave(), 168u);
  EXPECT_EQ(ResourceLimits{.wavesPerSimd = 4}.registersPerWave(), 128u);
}

TEST(ResourceGates, StatusCodeIsResourceExhausted) {
  const KernelResources kernel{.name = "k", .scratchBytes = 4};
  EXPECT_EQ(toStatus(checkResources(kernel, {})).code(), StatusCode::ResourceExhausted);
}

TEST(ResourceGates, GarbageIsAnError) {
  auto kernels = readResources(llvm::ArrayRef<char>({'n', 'o'}));
  ASSERT_FALSE(bool(kernels));
  EXPECT_THAT(message(kernels.takeError()), HasSubstr("not a code object"));
}

} // namespace
} // namespace wavesmith::compiler
