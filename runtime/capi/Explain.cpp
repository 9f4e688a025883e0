// A plan's decision as JSON: what `wavesmith explain --json` prints (docs/schemas/explain.json),
// and what only a plan on a device knows.

#include <nlohmann/json.hpp>

#include "runtime/capi/Plan.h"
#include "runtime/dispatch/DecisionJson.h"

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
    putDecisions(*e.decisions, json);
  }
  json["device"] = device_->info().name;
  json["target"] = device_->info().target;
  json["splits"] = e.splits;
  json["launches"] = launches_;
  json["workspace_bytes"] = workspaceBytes_;
  json["kernels"] = Json::array();
  for (const ResolvedKernel &kernel : loaded_->kernels()) {
    const KernelSpec &spec = kernel.kernel->spec();
    const LaunchList::Share share = loaded_->list().shareOf(spec);
    json["kernels"].push_back({{"name", kernel.kernel->info().name},
                               {"spec", spec.text()},
                               {"key", spec.key()},
                               {"provider", kernel.provider},
                               {"compile_ms", kernel.compileMs},
                               {"launches", share.launches},
                               {"bytes_moved", share.bytesMoved}});
  }
  explained_ = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return explained_.c_str();
}

} // namespace wavesmith::capi
