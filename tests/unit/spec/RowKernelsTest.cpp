#include "runtime/spec/RowKernels.h"

#include <set>

#include <gtest/gtest.h>

#include "runtime/spec/KernelSpec.h"
#include "runtime/spec/RowKernelAbi.h"

namespace wavesmith {
namespace {

KernelSpec combine() { return {"gfx942", {}, "", {"combine_splits", {"128", "true"}}}; }

TEST(RowKernels, TextAndNameReadAsDocumented) {
  EXPECT_EQ(combine().text(), "combine_splits abi=1 target=gfx942 head_dim_v=128 write_lse=true");
  EXPECT_EQ(combine().kernelName(),
            "ws_combine_splits_v128_lse_gfx942_" + combine().key().substr(0, 6));
}

TEST(RowKernels, EverySpecialisationRoundTripsAndHasItsOwnKeyAndName) {
  std::set<std::string> keys, names;
  std::size_t count = 0;
  for (const char *target : {"gfx942", "gfx950"})
    for (const RowKernelSpec &row : rowKernelSpecs()) {
      const KernelSpec spec = {target, {}, "", row};
      EXPECT_TRUE(spec.validate().isOk()) << spec.validate().message();
      const auto parsed = KernelSpec::parse(spec.text());
      ASSERT_TRUE(parsed) << parsed.status().message();
      EXPECT_EQ(*parsed, spec);
      keys.insert(spec.key());
      names.insert(spec.kernelName());
      ++count;
    }
  EXPECT_EQ(keys.size(), count);
  EXPECT_EQ(names.size(), count);
  EXPECT_GE(count, 12u);
}

TEST(RowKernels, ParseRefusesEveryOtherSpelling) {
  const std::string good = combine().text();
  for (auto [from, to] : {std::pair{"abi=1", "abi=2"},
                          {"gfx942", "gfx90a"},
                          {"head_dim_v=128", "head_dim_v=0128"},
                          {"head_dim_v=128", "head_dim_v=100"},
                          {"write_lse=true", "write_lse=1"},
                          {"write_lse=true", "write_lse=true "},
                          {"write_lse=true", "write_lse=true schedule=default"},
                          {" write_lse=true", ""},
                          {"combine_splits", "combine"}}) {
    std::string text = good;
    text.replace(text.find(from), std::string_view(from).size(), to);
    const auto parsed = KernelSpec::parse(text);
    EXPECT_FALSE(parsed) << text;
    EXPECT_FALSE(parsed.status().message().empty());
  }
}

TEST(RowKernels, RefusalsNameTheValueAndWhatWouldBeRight) {
  EXPECT_EQ(validateRowKernel({"combine", {}}).message(),
            "unknown kernel \"combine\"; known: attention, combine_splits");
  EXPECT_EQ(validateRowKernel({"combine_splits", {"128"}}).message(),
            "combine_splits has 2 parameters, the spec 1 values");
  EXPECT_EQ(validateRowKernel({"combine_splits", {"96", "true"}}).message(),
            "combine_splits: head_dim_v is \"96\"; supported: 64, 128, 256");
  KernelSpec scheduled = combine();
  scheduled.schedule = "plain";
  EXPECT_EQ(scheduled.validate().message(),
            "combine_splits has no schedules, but the spec names \"plain\"");
}

TEST(RowKernels, LayoutTextsAreThoseOfTheStructs) {
#define AT(type, member) fmt::format("{}", offsetof(type, member))
  using C = CombineArguments;
  using U = CombineUnit;
  EXPECT_EQ(
      kCombineLayout,
      "combine_splits-1 args=" + fmt::format("{}", sizeof(C)) + ":partialOut" + AT(C, partialOut) +
          ",partialOutSlot" + AT(C, partialOutSlotStride) + ",partialLse" + AT(C, partialLse) +
          ",partialLseSlot" + AT(C, partialLseSlotStride) + ",units" + AT(C, units) + ",unit" +
          AT(C, unitStride) + ",out" + AT(C, out) + ",outRow" + AT(C, outRowStride) + ",outHead" +
          AT(C, outHeadStride) + ",lse" + AT(C, lse) + ",lseHead" + AT(C, lseHeadStride) +
          ",lseRow" + AT(C, lseRowStride) + fmt::format(" unit={}", sizeof(U)) + ":firstRow" +
          AT(U, firstRow) + ",rows" + AT(U, rows) + ",head" + AT(U, head) + ",slot" + AT(U, slot) +
          ",slots" + AT(U, slots) +
          fmt::format(" block={} rows={} threads={}", kAttentionBlockM, kCombineRows, kRowThreads));
#undef AT
}

TEST(RowKernels, GroupsCoverTheRows) {
  for (const RowKernel &kernel : rowKernels()) {
    EXPECT_EQ(kernel.groupsFor(0), 0u);
    EXPECT_EQ(kernel.groupsFor(1), 1u);
    EXPECT_EQ(kernel.groupsFor(kernel.rows), 1u);
    EXPECT_EQ(kernel.groupsFor(kernel.rows + 1), 2u);
  }
}

} // namespace
} // namespace wavesmith
