// All row kernels: they compile, pass their gates, and take their arguments where the layout's text
// says. The default set samples the specialisations, the long set has all.

#include <gtest/gtest.h>

#include "runtime/spec/MagnitudeClasses.h"
#include "tests/e2e/RowDevice.h"

namespace wavesmith::testing {
namespace {

struct Choice {
  const char *target;
  std::size_t step; ///< every how many of a kernel's specialisations
};

class RowKernels : public ::testing::TestWithParam<Choice> {};

TEST_P(RowKernels, ArgumentsLieAsTheLayoutSays) {
  auto device = RowDevice::open(GetParam().target);
  ASSERT_TRUE(device) << device.status().message();
  std::string_view last;
  std::size_t number = 0;
  const std::vector<RowKernelSpec> specs = rowKernelSpecs("1");
  for (const RowKernelSpec &row : specs) {
    number = row.kernel == last ? number + 1 : 0;
    last = row.kernel;
    if (number % GetParam().step != 0)
      continue;
    const auto found = findRowKernel(row.kernel);
    ASSERT_TRUE(found);
    const auto kernel = (*device)->kernel({GetParam().target, {}, "", row});
    ASSERT_TRUE(kernel) << kernel.status().message();
    // Counts meet in LDS; one more takes what does not count.
    const std::uint64_t classes = row.kernel == "histogram" ? kMagnitudeClasses + 1 : 0;
    EXPECT_EQ(kernel->info().ldsBytes, classes * sizeof(std::int32_t));
    // The text's offsets, without the names.
    std::string expected;
    std::string_view text = (*found)->layout;
    text = text.substr(text.find(':') + 1);
    text = text.substr(0, text.find(' '));
    for (const char c : text)
      if ((c >= '0' && c <= '9') || c == ',')
        expected += c;
    std::uint32_t end = 0;
    std::string list;
    for (const KernelArgument &argument : kernel->info().arguments) {
      if (argument.valueKind.starts_with("hidden"))
        continue;
      list += fmt::format("{}{}", list.empty() ? "" : ",", argument.offset);
      end = argument.offset + argument.size;
    }
    // What follows them in the kernel is padding.
    EXPECT_EQ(list.substr(0, expected.size()), expected) << (*found)->layout;
    EXPECT_EQ(end, (*found)->argumentBytes) << (*found)->layout;
  }
}

INSTANTIATE_TEST_SUITE_P(Sample, RowKernels,
                         ::testing::Values(Choice{"gfx942", 11}, Choice{"gfx950", 11}));
INSTANTIATE_TEST_SUITE_P(Long, RowKernels,
                         ::testing::Values(Choice{"gfx942", 1}, Choice{"gfx950", 1}));

} // namespace
} // namespace wavesmith::testing
