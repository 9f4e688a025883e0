#include "tools/wavesmith/KernelSelection.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/dispatch/RowKernel.h"
#include "runtime/spec/KernelFamily.h"
#include "tools/wavesmith/Arguments.h"

namespace wavesmith::cli {
namespace {

/// A score function as the flags of `run` call it.
struct ScoreFunction {
  std::string_view name;
  bool AttentionSpec::*member;
};
constexpr std::array kScoreFunctions = {ScoreFunction{"soft-cap", &AttentionSpec::softCap},
                                        ScoreFunction{"window", &AttentionSpec::window},
                                        ScoreFunction{"sink", &AttentionSpec::sink}};
/// One bit for each of them; 0 for none.
using ScoreSet = unsigned;
constexpr ScoreSet kScoreSets = 1u << kScoreFunctions.size();

ScoreSet scoresOf(const AttentionSpec &attention) {
  ScoreSet set = 0;
  for (std::size_t i = 0; i < kScoreFunctions.size(); ++i)
    set |= static_cast<ScoreSet>(attention.*kScoreFunctions[i].member) << i;
  return set;
}

/// "none", "window", "window+sink".
Expected<ScoreSet> parseScoreSet(std::string_view flag, std::string_view text) {
  if (text == "none")
    return ScoreSet{0};
  ScoreSet set = 0;
  for (std::string_view rest = text;;) {
    const std::size_t plus = rest.find('+');
    const std::string_view name = rest.substr(0, plus);
    const auto *found = std::ranges::find(kScoreFunctions, name, &ScoreFunction::name);
    if (found == kScoreFunctions.end())
      return error(StatusCode::InvalidArgument,
                   "{} is \"{}\"; expected all, none, or soft-cap, window and sink, joined by + "
                   "where a kernel has more than one",
                   flag, text);
    set |= 1u << (found - kScoreFunctions.begin());
    if (plus == std::string_view::npos)
      return set;
    rest = rest.substr(plus + 1);
  }
}

Expected<std::vector<ScoreSet>> parseScores(std::string_view flag, std::string_view text) {
  std::vector<ScoreSet> sets;
  if (text == "all") {
    for (ScoreSet set = 0; set < kScoreSets; ++set)
      sets.push_back(set);
    return sets;
  }
  WAVESMITH_ASSIGN(const auto names, parseList(flag, text));
  for (const std::string &name : names) {
    WAVESMITH_ASSIGN(const ScoreSet set, parseScoreSet(flag, name));
    sets.push_back(set);
  }
  return sets;
}

/// A flag that is yes, no or both.
struct Choice {
  bool no = false, yes = false;

  bool has(bool value) const { return value ? yes : no; }
};
Expected<Choice> parseChoice(std::string_view flag, std::string_view text) {
  WAVESMITH_TRY(checkWord(flag, text, {"yes", "no", "both"}));
  return Choice{.no = text != "yes", .yes = text != "no"};
}

std::string allHeadDims() {
  std::vector<std::string> texts;
  for (const HeadDims &dims : headDims())
    texts.push_back(fmt::format("{}x{}", dims.qk, dims.v));
  return fmt::format("{}", fmt::join(texts, ","));
}

void addOnce(std::vector<KernelSpec> &specs, KernelSpec spec) {
  if (std::ranges::find(specs, spec) == specs.end())
    specs.push_back(std::move(spec));
}

} // namespace

void KernelSelection::declare(CLI::App &app) {
  std::vector<std::string_view> names;
  for (const RowKernel &kernel : rowKernels())
    names.push_back(kernel.name);
  app.add_option("--targets", targets_, "gfx942,gfx950")->required();
  app.add_option("--kernels", kernels_,
                 fmt::format("attention, or kernels around it in all their variants: {}; or all of "
                             "them",
                             fmt::join(names, ", ")))
      ->default_val("attention");
  app.add_option("--rotation", rotation_, "Seed of the quantisers' rotation; 0: none")
      ->default_val("0");
  app.add_option("--dtypes", dtypes_,
                 "bf16, f16, fp8 or several: bf16,fp8. fp8 stores f16 beside f16, bf16 beside bf16 "
                 "or alone")
      ->default_val("bf16");
  app.add_option("--head-dims", headDims_, "192x128,128x128,64x64,256x256; default: all");
  app.add_option("--causal", causal_, "yes, no or both")->default_val("both");
  app.add_option("--lse", lse_, "yes, no or both: kernels that store logarithms")
      ->default_val("yes");
  app.add_option("--split-kv", splitKv_,
                 "yes, no or both: kernels of prompts whose keys are cut, with their reducer")
      ->default_val("both");
  app.add_option("--scores", scores_,
                 "Sets of score functions: none, soft-cap, window, sink, window+sink, ...; or all")
      ->default_val("none");
}

Expected<std::vector<KernelSpec>> KernelSelection::specs() const {
  WAVESMITH_ASSIGN(const auto targets, parseList("--targets", targets_));
  WAVESMITH_ASSIGN(auto names, parseList("--kernels", kernels_));
  WAVESMITH_ASSIGN(const auto dtypes, parseList("--dtypes", dtypes_));
  WAVESMITH_ASSIGN(const auto dims,
                   parseList("--head-dims", headDims_.empty() ? allHeadDims() : headDims_));
  WAVESMITH_ASSIGN(const Choice causal, parseChoice("--causal", causal_));
  WAVESMITH_ASSIGN(const Choice lse, parseChoice("--lse", lse_));
  WAVESMITH_ASSIGN(const Choice splitKv, parseChoice("--split-kv", splitKv_));
  WAVESMITH_ASSIGN(const auto scores, parseScores("--scores", scores_));
  WAVESMITH_ASSIGN(
      const std::int64_t rotation,
      parseCount("--rotation", rotation_, 0, std::numeric_limits<std::int32_t>::max()));
  if (names == std::vector<std::string>{"all"}) {
    names = {"attention"};
    for (const RowKernel &kernel : rowKernels())
      names.emplace_back(kernel.name);
  }
  std::vector<KernelSpec> specs;
  for (const std::string &target : targets) {
    WAVESMITH_TRY(withFlag("--targets", parseTarget(target)).status());
    for (const std::string &name : names) {
      if (name == "attention")
        continue;
      WAVESMITH_TRY(withFlag("--kernels", findRowKernel(name)).status());
      for (KernelSpec &spec : rowFamily(target, static_cast<std::uint32_t>(rotation)))
        if (spec.row.kernel == name)
          addOnce(specs, std::move(spec));
    }
    if (std::ranges::find(names, "attention") == names.end())
      continue;
    const std::vector<KernelSpec> family = attentionFamily(target);
    // FP8 kernels store what the other types of the list are.
    const bool f16 = std::ranges::count(dtypes, dtypeName(DType::F16)) > 0;
    const bool bf16 = std::ranges::count(dtypes, dtypeName(DType::BF16)) > 0 || !f16;
    for (const std::string &dtype : dtypes)
      for (const std::string &text : dims) {
        WAVESMITH_ASSIGN(const HeadDim dim, parseHeadDim("--head-dims", text));
        WAVESMITH_ASSIGN(const KernelSpec plain,
                         checkedSpec({"--targets", "--dtypes", "--head-dims"}, target, dtype, dim,
                                     /*causal=*/false));
        for (const KernelSpec &spec : family) {
          const AttentionSpec &a = spec.attention;
          if (a.dtype != plain.attention.dtype || a.headDimQk != dim.qk || a.headDimV != dim.v ||
              !(a.outType() == DType::F16 ? f16 : bf16) || !causal.has(a.causal) ||
              !lse.has(a.writeLse) || !splitKv.has(a.splitKv) ||
              std::ranges::find(scores, scoresOf(a)) == scores.end())
            continue;
          addOnce(specs, spec);
          if (a.splitKv)
            addOnce(specs, combineSpec(target, a));
        }
      }
  }
  return specs;
}

} // namespace wavesmith::cli
