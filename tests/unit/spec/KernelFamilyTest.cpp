#include "runtime/spec/KernelFamily.h"

#include <set>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

TEST(KernelFamily, HoldsEachKernelOnce) {
  std::set<std::string> names, keys;
  std::size_t kernels = 0;
  for (const Target &target : knownTargets()) {
    const std::vector<KernelSpec> family = kernelFamily(target.name);
    for (const KernelSpec &spec : family) {
      EXPECT_TRUE(spec.validate().isOk()) << spec.text();
      EXPECT_EQ(spec.target, target.name);
      names.insert(spec.kernelName());
      keys.insert(spec.key());
    }
    kernels += family.size();
  }
  EXPECT_EQ(names.size(), kernels);
  EXPECT_EQ(keys.size(), kernels);
}

TEST(KernelFamily, HasEveryChoiceWithEveryOther) {
  // Causal, logarithms, splits and three score functions, of each head dims and each dtype, fp8 of
  // both results.
  const std::size_t attention = headDims().size() * 4 * (1 << 6);
  EXPECT_EQ(attentionFamily("gfx942").size(), attention);
  // Only quantisers and their maxima have a rotated variant.
  std::size_t rotated = 0;
  const std::vector<KernelSpec> rows = rowFamily("gfx942", kSampleRotation);
  for (const KernelSpec &spec : rows)
    rotated += spec.text().find("rotation=1") != std::string::npos;
  EXPECT_GT(rotated, 0u);
  EXPECT_EQ(kernelFamily("gfx942").size(), attention + rows.size() + rotated);
}

TEST(KernelFamily, ThePlainestComesFirst) {
  EXPECT_EQ(attentionFamily("gfx942").front().text(),
            "attention abi=2 target=gfx942 dtype=bf16 d=192x128 causal=0 lse=1 split=0 "
            "schedule=default");
}

} // namespace
} // namespace wavesmith
