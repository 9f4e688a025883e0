#include "runtime/spec/RowKernels.h"

#include <set>

#include <gtest/gtest.h>

#include "runtime/spec/KernelSpec.h"
#include "runtime/spec/MagnitudeClasses.h"
#include "runtime/spec/RowKernelAbi.h"

namespace wavesmith {
namespace {

KernelSpec combine() { return {"gfx942", {}, "", {"combine_splits", {"128", "true", "bf16"}}}; }

TEST(RowKernels, TextAndNameReadAsDocumented) {
  EXPECT_EQ(combine().text(), "combine_splits abi=1 target=gfx942 head_dim_v=128 write_lse=true "
                              "output=bf16");
  EXPECT_EQ(combine().kernelName(),
            "ws_combine_splits_v128_lse_bf16_gfx942_" + combine().key().substr(0, 6));
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
            "unknown kernel \"combine\"; known: attention, combine_splits, merge_states, quantize, "
            "quantize_concat, amax, histogram, work_list");
  EXPECT_EQ(validateRowKernel({"combine_splits", {"128"}}).message(),
            "combine_splits has 3 parameters, the spec 1 values");
  EXPECT_EQ(validateRowKernel({"combine_splits", {"96", "true", "bf16"}}).message(),
            "combine_splits: head_dim_v is \"96\"; supported: 64, 128, 256");
  KernelSpec scheduled = combine();
  scheduled.schedule = "plain";
  EXPECT_EQ(scheduled.validate().message(),
            "combine_splits has no schedules, but the spec names \"plain\"");
}

TEST(RowKernels, LayoutTextsAreThoseOfTheStructs) {
#define AT(type, member, name) fmt::format("," name "{}", offsetof(type, member))
#define HEAD(kernel, type) fmt::format(kernel "-1 args={}:", sizeof(type))
  const auto tail = [](int rows) { return fmt::format(" rows={} threads={}", rows, kRowThreads); };
  // Without the comma in front of the first.
  const auto join = [](const std::string &head, const std::string &list, const std::string &end) {
    return head + list.substr(1) + end;
  };
  using C = CombineArguments;
  using U = CombineUnit;
  EXPECT_EQ(kCombineLayout,
            join(HEAD("combine_splits", C),
                 AT(C, partialOut, "partialOut") + AT(C, partialOutSlotStride, "partialOutSlot") +
                     AT(C, partialLse, "partialLse") +
                     AT(C, partialLseSlotStride, "partialLseSlot") + AT(C, units, "units") +
                     AT(C, unitStride, "unit") + AT(C, out, "out") + AT(C, outRowStride, "outRow") +
                     AT(C, outHeadStride, "outHead") + AT(C, lse, "lse") +
                     AT(C, lseHeadStride, "lseHead") + AT(C, lseRowStride, "lseRow"),
                 join(fmt::format(" unit={}:", sizeof(U)),
                      AT(U, firstRow, "firstRow") + AT(U, rows, "rows") + AT(U, head, "head") +
                          AT(U, slot, "slot") + AT(U, slots, "slots"),
                      fmt::format(" block={}", kAttentionBlockM) + tail(kCombineRows))));
  using M = MergeArguments;
  EXPECT_EQ(kMergeLayout,
            join(HEAD("merge_states", M),
                 AT(M, a, "a") + AT(M, aRowStride, "aRow") + AT(M, aHeadStride, "aHead") +
                     AT(M, lseA, "lseA") + AT(M, lseAHeadStride, "lseAHead") +
                     AT(M, lseARowStride, "lseARow") + AT(M, b, "b") + AT(M, bRowStride, "bRow") +
                     AT(M, bHeadStride, "bHead") + AT(M, lseB, "lseB") +
                     AT(M, lseBHeadStride, "lseBHead") + AT(M, lseBRowStride, "lseBRow") +
                     AT(M, out, "out") + AT(M, outRowStride, "outRow") +
                     AT(M, outHeadStride, "outHead") + AT(M, lse, "lse") +
                     AT(M, lseHeadStride, "lseHead") + AT(M, lseRowStride, "lseRow") +
                     AT(M, tokens, "tokens") + AT(M, merged, "merged"),
                 tail(kMergeRows)));
  using Q = QuantizeArguments;
  EXPECT_EQ(kQuantizeLayout,
            join(HEAD("quantize", Q),
                 AT(Q, x, "x") + AT(Q, xRowStride, "xRow") + AT(Q, xHeadStride, "xHead") +
                     AT(Q, y, "y") + AT(Q, yRowStride, "yRow") + AT(Q, yHeadStride, "yHead") +
                     AT(Q, descale, "descale") + AT(Q, descaleHeadStride, "descaleHead") +
                     AT(Q, amax, "amax") + AT(Q, amaxHeadStride, "amaxHead") +
                     AT(Q, saturated, "saturated") + AT(Q, saturatedHeadStride, "saturatedHead") +
                     AT(Q, tokens, "tokens"),
                 tail(kQuantizeRows)));
  using K = QuantizeConcatArguments;
  EXPECT_EQ(kQuantizeConcatLayout,
            join(HEAD("quantize_concat", K),
                 AT(K, nope, "nope") + AT(K, nopeRowStride, "nopeRow") +
                     AT(K, nopeHeadStride, "nopeHead") + AT(K, rope, "rope") +
                     AT(K, ropeRowStride, "ropeRow") + AT(K, ropeHeadStride, "ropeHead") +
                     AT(K, y, "y") + AT(K, yRowStride, "yRow") + AT(K, yHeadStride, "yHead") +
                     AT(K, descale, "descale") + AT(K, descaleHeadStride, "descaleHead") +
                     AT(K, amax, "amax") + AT(K, amaxHeadStride, "amaxHead") +
                     AT(K, saturated, "saturated") + AT(K, saturatedHeadStride, "saturatedHead") +
                     AT(K, tokens, "tokens"),
                 tail(kQuantizeRows)));
  using A = AmaxArguments;
  EXPECT_EQ(kAmaxLayout, join(HEAD("amax", A),
                              AT(A, x, "x") + AT(A, xRowStride, "xRow") +
                                  AT(A, xHeadStride, "xHead") + AT(A, amax, "amax") +
                                  AT(A, amaxHeadStride, "amaxHead") + AT(A, tokens, "tokens"),
                              tail(kQuantizeRows)));
  using H = HistogramArguments;
  EXPECT_EQ(kHistogramLayout,
            join(HEAD("histogram", H),
                 AT(H, x, "x") + AT(H, xRowStride, "xRow") + AT(H, xHeadStride, "xHead") +
                     AT(H, counts, "counts") + AT(H, countsHeadStride, "countsHead") +
                     AT(H, tokens, "tokens"),
                 fmt::format(" classes={}{}", kMagnitudeClasses, tail(kQuantizeRows))));
#undef HEAD
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
