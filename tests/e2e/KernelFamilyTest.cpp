// A sample of all kernels that there are: each compiles, passes the compiler's gates and its
// verification on the emulator. The whole list is cli.verify_all, in the long set.

#include "runtime/spec/KernelFamily.h"

#include <algorithm>
#include <set>
#include <span>

#include <gtest/gtest.h>

#include "runtime/cache/KernelStore.h"
#include "runtime/judge/VerifyKernel.h"
#include "runtime/numerics/KernelNumerics.h"

namespace wavesmith::testing {
namespace {

/// Coprime with the size of the family, so that the sample runs through all of its dimensions.
constexpr std::size_t kStep = 89;

std::vector<KernelSpec> sample() {
  std::vector<KernelSpec> all, some;
  for (const Target &target : knownTargets())
    for (KernelSpec &spec : kernelFamily(target.name))
      all.push_back(std::move(spec));
  for (std::size_t i = 0; i < all.size(); i += kStep)
    some.push_back(all[i]);
  return some;
}

class KernelFamily : public ::testing::TestWithParam<KernelSpec> {};

TEST_P(KernelFamily, IsVerified) {
  KernelStoreOptions options;
  options.memoryBytes = 0;
  KernelStore store(std::move(options));
  const auto made = store.get(GetParam());
  ASSERT_TRUE(made) << made.status().message();
  const auto record = verifyKernel(GetParam(), made->object);
  ASSERT_TRUE(record) << record.status().message();
  EXPECT_GE(record->cases.size(), 4u) << "two calls in two orders";
}

INSTANTIATE_TEST_SUITE_P(Sample, KernelFamily, ::testing::ValuesIn(sample()),
                         [](const auto &info) { return info.param.kernelName(); });

/// The float's bits wherever they stand in the object, replaced.
int replaceAll(std::vector<std::byte> &bytes, float from, float to) {
  const auto pattern = std::as_bytes(std::span(&from, 1)), other = std::as_bytes(std::span(&to, 1));
  int count = 0;
  for (auto at = bytes.begin();; ++count) {
    at = std::search(at, bytes.end(), pattern.begin(), pattern.end());
    if (at == bytes.end())
      return count;
    at = std::copy(other.begin(), other.end(), at);
  }
}

class Verification : public ::testing::TestWithParam<std::string> {};

/// Standard-normal inputs do not show it.
TEST_P(Verification, SeesF16WeightsThatAreTooLight) {
  for (const auto &[qk, v] : {std::pair{192, 128}, {64, 64}}) {
    KernelSpec spec{.target = GetParam(), .attention = {}, .schedule = ""};
    spec.attention.dtype = DType::F16;
    spec.attention.headDimQk = qk;
    spec.attention.headDimV = v;
    const auto numerics = kernelNumerics(spec);
    ASSERT_TRUE(numerics) << numerics.status().message();
    KernelStore store(*KernelStoreOptions::fromEnvironment());
    const auto made = store.get(spec);
    ASSERT_TRUE(made) << made.status().message();
    for (const float less : {4.0f, 8.0f, 13.0f}) {
      CodeObjectBlob broken = *made->object;
      const float exponent = numerics->exponent, most = exponent + numerics->threshold;
      ASSERT_GE(replaceAll(broken.bytes, exponent, exponent - less), 1);
      ASSERT_GE(replaceAll(broken.bytes, most, most - less), 1);
      const auto record =
          verifyKernel(spec, std::make_shared<const CodeObjectBlob>(std::move(broken)));
      EXPECT_FALSE(record) << "weights 2^" << less << " times lighter";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Verification, ::testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return info.param; });

TEST(KernelFamilySample, HasEveryValueOfEveryChoice) {
  // Words of the specs' texts, "causal=1" say; a score function that is off has none.
  std::set<std::string> words, sampled;
  const auto collect = [](const KernelSpec &spec, std::set<std::string> &into) {
    const std::string text = spec.text();
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t space = rest.find(' ');
      into.emplace(rest.substr(0, space));
      rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    }
  };
  for (const Target &target : knownTargets())
    for (const KernelSpec &spec : attentionFamily(target.name))
      collect(spec, words);
  for (const KernelSpec &spec : sample())
    if (!spec.isRowKernel())
      collect(spec, sampled);
  EXPECT_EQ(sampled, words);
}

} // namespace
} // namespace wavesmith::testing
