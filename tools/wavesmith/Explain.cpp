// wavesmith explain: which path each sequence of a call takes, why, what would change it, and the
// kernels that the call needs with who has them. Nothing is compiled or launched.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/cache/KernelStore.h"
#include "runtime/dispatch/DecisionJson.h"
#include "runtime/dispatch/Dispatch.h"
#include "runtime/dispatch/tuning/TuningDatabase.h"
#include "runtime/support/Env.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/CallFlags.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

using policy::Path;
using policy::Policy;

std::string row(std::string_view label, std::string_view text) {
  return fmt::format("{:<10} {}\n", label, text);
}

/// "sequences 0, 3", cut short when there are many.
std::string sequencesText(const std::vector<std::size_t> &sequences) {
  constexpr std::size_t kShown = 8;
  const auto shown = std::min(sequences.size(), kShown);
  return fmt::format(
      "sequence{} {}{}", sequences.size() == 1 ? "" : "s",
      fmt::join(sequences.begin(), sequences.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < sequences.size() ? fmt::format(" and {} more", sequences.size() - shown) : "");
}

std::string decisionText(const Decisions::Choice &choice, DType inputs, bool named) {
  const policy::Decision &decision = choice.decision;
  std::string text;
  if (named)
    text += row("", sequencesText(choice.sequences));
  text += row("path", pathName(decision.path, inputs));
  text += row("rule", fmt::format("{}: {}", decision.rule, decision.reason));
  std::string values;
  for (const policy::Variable &variable : policy::variables())
    values += fmt::format("{}{} {}", values.empty() ? "" : ", ", variable.name,
                          policy::toText(variable.get(choice.values)));
  text += row("values", values);
  for (const policy::Flip &flip : decision.flips)
    text += row("flips", fmt::format("{} {} gives {} (rule {})", flip.variable, flip.value,
                                     pathName(flip.path, inputs), flip.rule));
  return text;
}

class Explain final : public Command {
public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "which path a call takes, why, and its kernels"; }

  void declare(CLI::App &app) override {
    app.add_option("--target", target_, "gfx942 or gfx950")->required();
    app.add_option("--dtype", dtype_, "Of the inputs: bf16 or f16; default: bf16");
    app.add_option("--head-dim", headDim_, "<qk>x<v>; default: 192x128");
    app.add_option("--heads", heads_, "Query heads, 1 to 128; default: 12");
    app.add_option("--kv-heads", kvHeads_, "Key/value heads; default: as many as query heads");
    app.add_option("--q-len", qLen_, "Query tokens of a single sequence");
    app.add_option("--context", context_, "Cached tokens before them; default: 0");
    app.add_option("--lens", lens_, "Packed batch: q:kv,q:kv,...");
    app.add_flag("--causal", causal_, "Causal mask, aligned bottom right");
    scores_.declare(app);
    app.add_option("--scales", scales_, "Of FP8: none, static, dynamic or unit; default: none");
    app.add_option("--rotate", rotate_, "Seed of the rotation of queries and keys on the FP8 path");
    app.add_flag("--fp8-context", fp8Context_, "Consent to FP8 over cached context");
    app.add_option(
        "--policy", policy_,
        "A preset's name or a file; default: as WAVESMITH_POLICY says, else \"default\"");
    app.add_option("--tuning", tuning_,
                   "Tuning database, or off; default: as WAVESMITH_TUNING says");
    app.add_option("--chip", chip_, "Whose times count in it; default: MI325X or MI355X");
    app.add_option("--path", path_,
                   "The --dtype, or fp8, for every sequence, whatever the policy says");
    app.add_option("--splits", splits_,
                   "Pieces of each row block's keys: 1 to 64; default: as the target's chip asks");
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(const DispatchRequest request, this->request());
    PlanOptions options;
    if (!splits_.empty()) {
      WAVESMITH_ASSIGN(const std::int64_t splits, parseCount("--splits", splits_, 1, kMaxSplits));
      options.splits = static_cast<int>(splits);
    }
    WAVESMITH_ASSIGN(const Policy policy, policy_.empty()
                                              ? Policy::fromEnvironment()
                                              : withFlag("--policy", Policy::named(policy_)));
    Expected<KernelStoreOptions> store = KernelStoreOptions::fromEnvironment();
    if (!store)
      return asEnvironment(store.status());
    KernelStore kernels(*std::move(store));
    WAVESMITH_ASSIGN(const tuning::Tuning tuning,
                     this->tuning(request.problem.target, kernels.toolchain()));
    WAVESMITH_ASSIGN(const Decisions decisions,
                     decideSequences(request, policy, tuning.crossovers()));
    LaunchList list;
    if (decisions.of(Path::Refuse).empty()) {
      WAVESMITH_ASSIGN(const DispatchPlan plan, planDispatch(request, decisions, options));
      list = plan.list();
    }
    return describe(policy, decisions, list, kernels);
  }

private:
  Expected<tuning::Tuning> tuning(const std::string &target, const Toolchain &toolchain) const {
    std::string chip = chip_;
    if (chip.empty())
      chip = defaultChip(target);
    else
      WAVESMITH_TRY(checkChip("--chip", chip, target));
    const std::string path = tuning_.empty() ? env::get("WAVESMITH_TUNING") : tuning_;
    Expected<tuning::Tuning> tuning = tuning::tuningFor(path, chip, toolchain);
    if (!tuning)
      return tuning.status().withContext(tuning_.empty() ? "WAVESMITH_TUNING" : "--tuning");
    return tuning;
  }

  Expected<DispatchRequest> request() const {
    DispatchRequest request;
    AttentionProblem &problem = request.problem;
    WAVESMITH_ASSIGN(const HeadDim dim, parseHeadDim("--head-dim", headDim_));
    WAVESMITH_ASSIGN(const KernelSpec spec, checkedSpec({"--target", "--dtype", "--head-dim"},
                                                        target_, dtype_, dim, causal_));
    WAVESMITH_TRY(checkWord("--dtype", dtype_, {"bf16", "f16"})); // fp8 has nothing to choose
    problem.target = spec.target;
    problem.dtype = spec.attention.dtype;
    problem.headDimQk = dim.qk;
    problem.headDimV = dim.v;
    problem.causal = causal_;
    WAVESMITH_TRY(scores_.put(problem));
    WAVESMITH_ASSIGN(problem.heads, parseCount("--heads", heads_, 1, kMaxHeads));
    if (!kvHeads_.empty()) {
      WAVESMITH_ASSIGN(problem.kvHeads, parseCount("--kv-heads", kvHeads_, 1, kMaxHeads));
    }
    WAVESMITH_ASSIGN(problem.lengths, lengths());
    WAVESMITH_TRY(checkWord("--scales", scales_, {"none", "static", "dynamic", "unit"}));
    if (scales_ != "none") {
      Quantization how{.input = dtype_};
      WAVESMITH_ASSIGN(how.scales, withFlag("--scales", parseScales(scales_)));
      if (!rotate_.empty()) {
        WAVESMITH_ASSIGN(const std::int64_t seed, parseCount("--rotate", rotate_, 1, INT32_MAX));
        how.rotationQ = how.rotationK = static_cast<std::uint32_t>(seed);
      }
      request.quantization = how;
    } else if (!rotate_.empty()) {
      return Status(StatusCode::InvalidArgument,
                    "--rotate is of the FP8 path, which needs --scales");
    }
    request.fp8Context = fp8Context_;
    if (!path_.empty()) {
      WAVESMITH_TRY(checkWord("--path", path_, {dtype_, "fp8"}));
      request.path = path_ == "fp8" ? Path::Fp8 : Path::Bf16;
    }
    return request;
  }

  Expected<std::vector<SequenceLength>> lengths() const {
    if (!lens_.empty()) {
      if (!qLen_.empty() || !context_.empty())
        return Status(StatusCode::InvalidArgument,
                      "--lens and --q-len/--context exclude each other; give one of them");
      return withFlag("--lens", parseLengths(lens_));
    }
    if (qLen_.empty())
      return Status(StatusCode::InvalidArgument,
                    "no lengths; expected --q-len (and --context) or --lens q:kv,...");
    SequenceLength length;
    WAVESMITH_ASSIGN(length.q, parseCount("--q-len", qLen_, 0, kMaxTokens));
    length.kv = length.q;
    if (!context_.empty()) {
      WAVESMITH_ASSIGN(const std::int64_t context,
                       parseCount("--context", context_, 0, kMaxTokens));
      length.kv += context;
    }
    return std::vector<SequenceLength>{length};
  }

  static Result describe(const Policy &policy, const Decisions &decisions, const LaunchList &list,
                         KernelStore &kernels) {
    const bool one = decisions.choices.size() == 1;
    std::optional<Path> path;
    bool mixed = false;
    for (const Decisions::Choice &choice : decisions.choices) {
      mixed = mixed || path.value_or(choice.decision.path) != choice.decision.path;
      path = choice.decision.path;
    }
    Result result;
    result.json = {
        {"ok", true},        {"policy", {{"name", policy.name()}, {"origin", policy.origin()}}},
        {"path", nullptr},   {"rule", nullptr},
        {"reason", nullptr}, {"values", nullptr},
        {"flips", nullptr}};
    result.text = row("policy", policy.name() == policy.origin()
                                    ? policy.name()
                                    : fmt::format("{} ({})", policy.name(), policy.origin()));
    for (const Decisions::Choice &choice : decisions.choices)
      result.text += decisionText(choice, decisions.inputs, !one);
    putDecisions(decisions, result.json);
    if (path)
      result.json["path"] = mixed ? "mixed" : pathName(*path, decisions.inputs);
    result.json["kernels"] = Json::array();
    for (const KernelSpec &spec : list.kernels()) {
      const std::string_view provider = kernels.wouldServe(spec);
      const LaunchList::Share share = list.shareOf(spec);
      result.json["kernels"].push_back({{"name", spec.kernelName()},
                                        {"spec", spec.text()},
                                        {"key", spec.key()},
                                        {"provider", provider},
                                        {"launches", share.launches},
                                        {"bytes_moved", share.bytesMoved}});
      constexpr double kMegabyte = 1e6;
      result.text += row("kernel", fmt::format("{} ({}{}, {:.1f} MB)", spec.kernelName(), provider,
                                               share.launches == 1
                                                   ? std::string()
                                                   : fmt::format(", {} launches", share.launches),
                                               static_cast<double>(share.bytesMoved) / kMegabyte));
    }
    result.json["workspace_bytes"] = list.workspaceBytes;
    if (!list.steps.empty())
      result.text += row("workspace", fmt::format("{} B", list.workspaceBytes));
    return result;
  }

  std::string target_, dtype_ = "bf16", headDim_ = "192x128", heads_ = "12", kvHeads_, qLen_,
                       context_, lens_, scales_ = "none", rotate_, policy_, tuning_, chip_, path_,
                       splits_;
  ScoreFlags scores_;
  bool causal_ = false, fp8Context_ = false;
};

} // namespace

std::unique_ptr<Command> makeExplain() { return std::make_unique<Explain>(); }

} // namespace wavesmith::cli
