// A plan's decision as JSON: what `wavesmith explain --json` prints (docs/schemas/explain.json),
// and what only a plan on a device knows.

#include <nlohmann/json.hpp>

#include "runtime/capi/Plan.h"

namespace wavesmith::capi {
namespace {

using Json = nlohmann::ordered_json;

std::string_view pathText(std::int32_t path) {
  switch (path) {
  case WAVESMITH_PATH_BF16:
    return "bf16";
  case WAVESMITH_PATH_FP8:
    return "fp8";
  case WAVESMITH_PATH_MIXED:
    return "mixed";
  default:
    return "rows";
  }
}

Json valuesJson(const policy::Values &values) {
  Json json = Json::object();
  for (const policy::Variable &variable : policy::variables())
    std::visit([&](const auto &value) { json[std::string(variable.name)] = value; },
               variable.get(values));
  return json;
}

Json choiceJson(const Decisions::Choice &choice) {
  const policy::Decision &decision = choice.decision;
  Json flips = Json::array();
  for (const policy::Flip &flip : decision.flips)
    flips.push_back({{"variable", flip.variable},
                     {"value", flip.value},
                     {"path", policy::pathName(flip.path)},
                     {"rule", flip.rule}});
  return {{"path", policy::pathName(decision.path)},
          {"rule", decision.rule},
          {"reason", decision.reason},
          {"values", valuesJson(choice.values)},
          {"flips", std::move(flips)}};
}

} // namespace

Expected<const char *> Plan::explain() {
  WAVESMITH_TRY(makeReady()); // the origin of its kernels is part of the answer
  const std::lock_guard lock(mutex_);
  if (!explained_.empty())
    return explained_.c_str();
  const Explanation &e = explanation_;
  Json json = {
      {"kind", planKindName(kind_)}, {"path", pathText(e.path)},        {"rule", e.rule},
      {"reason", e.reason},          {"values", Json::parse(e.values)}, {"flips", Json::array()},
      {"sequences", Json::array()}};
  if (e.decisions) {
    json["policy"] = {{"name", e.policy}, {"origin", e.policyOrigin}};
    for (const Decisions::Choice &choice : e.decisions->choices) {
      Json one = choiceJson(choice);
      if (e.decisions->choices.size() == 1)
        json.update(one);
      one["sequences"] = choice.sequences;
      json["sequences"].push_back(std::move(one));
    }
  }
  json["device"] = device_->info().name;
  json["target"] = device_->info().target;
  json["splits"] = e.splits;
  json["launches"] = launches_;
  json["workspace_bytes"] = workspaceBytes_;
  json["kernels"] = Json::array();
  for (const ResolvedKernel &kernel : loaded_->kernels()) {
    const KernelSpec &spec = kernel.kernel->spec();
    int launches = 0;
    std::uint64_t bytes = 0;
    for (const LaunchStep &step : loaded_->list().steps)
      if (step.spec == spec) {
        ++launches;
        bytes += step.bytesMoved;
      }
    json["kernels"].push_back({{"name", kernel.kernel->info().name},
                               {"spec", spec.text()},
                               {"key", spec.key()},
                               {"provider", kernel.provider},
                               {"compile_ms", kernel.compileMs},
                               {"launches", launches},
                               {"bytes_moved", bytes}});
  }
  explained_ = json.dump();
  return explained_.c_str();
}

} // namespace wavesmith::capi
