// A plan's decision, for each sequence and as JSON: what `wavesmith explain --json` prints
// (docs/schemas/explain.json), and what only a plan on a device knows.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/capi/Call.h"
#include "runtime/capi/Plan.h"
#include "runtime/dispatch/DecisionJson.h"

namespace wavesmith::capi {
namespace {

using Json = nlohmann::ordered_json;

std::string_view pathText(std::int32_t path, DType inputs) {
  switch (path) {
  case WAVESMITH_PATH_BF16:
    return dtypeName(inputs);
  case WAVESMITH_PATH_FP8:
    return "fp8";
  case WAVESMITH_PATH_MIXED:
    return "mixed";
  default:
    return "rows";
  }
}

} // namespace

Explanation explanationOf(const Decisions &decisions, const policy::Policy &policy) {
  Explanation explanation;
  explanation.policy = policy.name();
  explanation.policyOrigin = policy.origin();
  explanation.decisions = decisions;
  explanation.inputs = decisions.inputs;
  if (decisions.choices.empty()) {
    explanation.path = WAVESMITH_PATH_BF16;
    explanation.rule = "none";
    explanation.reason = "there are no sequences";
    return explanation;
  }
  const std::size_t plain = decisions.of(policy::Path::Bf16).size(),
                    fp8 = decisions.of(policy::Path::Fp8).size();
  explanation.sequences = static_cast<std::int64_t>(plain + fp8);
  explanation.path = plain == 0 ? WAVESMITH_PATH_FP8
                     : fp8 == 0 ? WAVESMITH_PATH_BF16
                                : WAVESMITH_PATH_MIXED;
  const policy::Decision &first = decisions.choices.front().decision;
  explanation.rule = first.rule;
  explanation.reason = first.reason;
  const auto differs = [&](const Decisions::Choice &choice) {
    return choice.decision.rule != first.rule;
  };
  if (std::ranges::any_of(decisions.choices, differs)) {
    explanation.rule = "several";
    explanation.reason =
        fmt::format("{} sequences take {}, {} take fp8; the rules of each are in the explanation",
                    plain, dtypeName(decisions.inputs), fp8);
  }
  return explanation;
}

Status Explanation::decisionOf(std::int64_t sequence, wavesmith_decision &decision) const {
  if (sequence < 0 || sequence >= sequences)
    return error(StatusCode::InvalidArgument, "sequence is {}; the batch has {}", sequence,
                 sequences);
  decision.path = path;
  decision.rule = rule.c_str();
  decision.reason = reason.c_str();
  if (decisions)
    for (const Decisions::Choice &choice : decisions->choices)
      if (std::ranges::binary_search(choice.sequences, static_cast<std::size_t>(sequence))) {
        decision.path =
            choice.decision.path == policy::Path::Fp8 ? WAVESMITH_PATH_FP8 : WAVESMITH_PATH_BF16;
        decision.rule = choice.decision.rule.c_str();
        decision.reason = choice.decision.reason.c_str();
      }
  return Status::ok();
}

Json Explanation::json(const char *kind, const Device &device) const {
  Json json = {{"kind", kind},
               {"path", pathText(path, inputs)},
               {"rule", rule},
               {"reason", reason},
               {"values", Json::parse(values)},
               {"flips", Json::array()},
               {"sequences", Json::array()}};
  if (decisions) {
    json["policy"] = {{"name", policy}, {"origin", policyOrigin}};
    putDecisions(*decisions, json);
  }
  json["device"] = device.info().name;
  json["target"] = device.info().target;
  return json;
}

void putKernels(const LoadedLaunchList &list, Json &kernels) {
  for (const ResolvedKernel &kernel : list.kernels()) {
    const KernelSpec &spec = kernel.kernel->spec();
    const LaunchList::Share share = list.list().shareOf(spec);
    const std::string key = spec.key();
    const auto known =
        std::ranges::find_if(kernels, [&](const Json &other) { return other["key"] == key; });
    if (known != kernels.end()) {
      (*known)["launches"] = (*known)["launches"].get<int>() + share.launches;
      (*known)["bytes_moved"] = (*known)["bytes_moved"].get<std::uint64_t>() + share.bytesMoved;
      continue;
    }
    kernels.push_back({{"name", kernel.kernel->info().name},
                       {"spec", spec.text()},
                       {"key", key},
                       {"provider", kernel.provider},
                       {"compile_ms", kernel.compileMs},
                       {"launches", share.launches},
                       {"bytes_moved", share.bytesMoved}});
  }
}

Expected<const char *> Plan::explain() {
  WAVESMITH_TRY(makeReady()); // the origin of its kernels is part of the answer
  const std::lock_guard lock(mutex_);
  if (!explained_.empty())
    return explained_.c_str();
  Json json = explanation_.json(planKindName(kind_), *device_);
  json["splits"] = explanation_.splits;
  json["launches"] = launches_;
  json["workspace_bytes"] = workspaceBytes_;
  putKernels(*loaded_, json["kernels"] = Json::array());
  explained_ = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return explained_.c_str();
}

} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_plan_get_decision(wavesmith_plan plan, int64_t sequence,
                                             wavesmith_decision *decision) {
  return call("wavesmith_plan_get_decision", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(plan));
    wavesmith_decision filled{};
    WAVESMITH_TRY(found->explanation().decisionOf(sequence, filled));
    return writeStruct(decision, filled, "decision");
  });
}
