#include "runtime/dispatch/Dispatch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace wavesmith {
namespace {

using policy::Path;

/// The problem as the FP8 kernel sees it.
AttentionProblem fp8Problem(const DispatchRequest &request) {
  AttentionProblem problem = request.problem;
  problem.f16Out = problem.dtype == DType::F16;
  problem.dtype = DType::FP8;
  return problem;
}

/// And as the other does.
AttentionProblem plainProblem(const DispatchRequest &request) {
  AttentionProblem problem = request.problem;
  problem.sharedDescales = {};
  return problem;
}

bool hasFp8Kernel(const DispatchRequest &request) {
  AttentionProblem problem = fp8Problem(request);
  problem.q = problem.k = problem.v = {}; // of the inputs, not of codes
  const auto checked = checkProblem(problem);
  checked.ignoreError("then there is none");
  return static_cast<bool>(checked);
}

policy::Values valuesOf(const DispatchRequest &request, const SequenceLength &length,
                        bool fp8Kernel) {
  const AttentionProblem &problem = request.problem;
  return {.target = problem.target,
          .headDim = fmt::format("{}x{}", problem.headDimQk, problem.headDimV),
          .scales = std::string(request.quantization ? scalesName(request.quantization->scales)
                                                     : std::string_view("none")),
          .heads = problem.heads,
          .kvHeads = problem.kvHeads ? problem.kvHeads : problem.heads,
          .qLen = length.q,
          .contextLen = std::max<std::int64_t>(length.kv - length.q, 0),
          .causal = problem.causal,
          .fp8Kernel = fp8Kernel,
          .fp8Context = request.fp8Context};
}

policy::Decision explicitDecision(Path path, const policy::Values &values) {
  policy::Decision decision{path, "explicit", "the caller asked for it", {}};
  if (path != Path::Fp8)
    return decision;
  if (const Status possible = policy::checkFp8(values); !possible.isOk()) {
    decision.path = Path::Refuse;
    decision.reason = fmt::format("the caller asked for FP8, but {}", possible.message());
  }
  return decision;
}

} // namespace

std::string_view pathName(Path path, DType inputs) {
  return path == Path::Bf16 ? dtypeName(inputs) : policy::pathName(path);
}

std::vector<std::size_t> Decisions::of(Path path) const {
  std::vector<std::size_t> sequences;
  for (const Choice &choice : choices)
    if (choice.decision.path == path)
      sequences.insert(sequences.end(), choice.sequences.begin(), choice.sequences.end());
  std::ranges::sort(sequences);
  return sequences;
}

Expected<Decisions> decideSequences(const DispatchRequest &request, const policy::Policy &policy,
                                    const policy::Crossovers &crossovers) {
  if (request.problem.dtype == DType::FP8)
    return Status(
        StatusCode::InvalidArgument,
        "the inputs are fp8 already, so there is nothing to choose; plan them as they are");
  WAVESMITH_TRY(checkProblem(plainProblem(request)).status());
  const bool fp8Kernel = hasFp8Kernel(request);
  Decisions decisions{.inputs = request.problem.dtype, .choices = {}};
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> known;
  for (std::size_t i = 0; i < request.problem.lengths.size(); ++i) {
    const SequenceLength &length = request.problem.lengths[i];
    const auto [at, isNew] = known.try_emplace({length.q, length.kv}, decisions.choices.size());
    if (isNew) {
      Decisions::Choice choice{valuesOf(request, length, fp8Kernel), {}, {}};
      choice.decision = request.path ? explicitDecision(*request.path, choice.values)
                                     : policy.decide(choice.values, crossovers);
      decisions.choices.push_back(std::move(choice));
    }
    decisions.choices[at->second].sequences.push_back(i);
  }
  return decisions;
}

LaunchList DispatchPlan::list() const {
  LaunchList all;
  if (plain)
    all = launchList(*plain);
  if (fp8)
    all.append(launchList(*fp8));
  return all;
}

Expected<DispatchPlan> planDispatch(const DispatchRequest &request, const Decisions &decisions,
                                    const PlanOptions &options, QuantizedWork work) {
  for (const Decisions::Choice &choice : decisions.choices)
    // Without queries there is nothing to refuse.
    if (choice.decision.path == Path::Refuse && choice.values.qLen > 0)
      return error(StatusCode::Unsupported, "sequence {} ({} queries, {} keys before them): {}",
                   choice.sequences.front(), choice.values.qLen, choice.values.contextLen,
                   choice.decision.reason);
  DispatchPlan plan;
  PlanOptions some = options;
  some.sequences = decisions.of(Path::Bf16);
  if (!some.sequences->empty() && work != QuantizedWork::Queries) {
    WAVESMITH_ASSIGN(plan.plain, planAttention(plainProblem(request), some));
    plan.fp8Workspace = alignWorkspace(plan.plain->workspaceBytes());
  }
  some.sequences = decisions.of(Path::Fp8);
  if (!some.sequences->empty()) {
    if (!request.quantization)
      return Status(StatusCode::InvalidArgument, "FP8 was decided on without scales");
    if (request.quantization->input != dtypeName(request.problem.dtype))
      return error(StatusCode::InvalidArgument, "the inputs are {}, the quantisers take {}",
                   dtypeName(request.problem.dtype), request.quantization->input);
    WAVESMITH_ASSIGN(plan.fp8,
                     planQuantized(fp8Problem(request), *request.quantization, some, work));
  }
  return plan;
}

} // namespace wavesmith
