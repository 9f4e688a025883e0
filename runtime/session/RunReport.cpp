#include "runtime/session/RunReport.h"

#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

namespace wavesmith {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <typename T, typename Convert>
Json orNull(const std::optional<T> &value, Convert convert) {
  return value ? Json(convert(*value)) : Json(nullptr);
}

Json errorsJson(const ErrorReport &e) {
  return {{"out_max_abs", number(e.outMaxAbs)},
          {"out_rel_rms", number(e.outRelRms)},
          {"out_row_rel_max", number(e.allRows().rel)},
          {"lse_max_abs", number(e.allRows().lseAbs)}};
}

Json quantizationJson(const QuantizationReport &q) {
  Json json{{"scales", q.scales}, {"rotation", q.rotation}};
  constexpr std::array kNames = {"q", "k", "v"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    json["tensors"][kNames[i]] = {{"saturated", q.tensors[i].saturated},
                                  {"codes_rel_rms", orNull(q.tensors[i].relRms, number)}};
  json["errors_unquantised"] = orNull(q.errors, errorsJson);
  return json;
}

} // namespace

const std::vector<std::string> &checkNames() {
  static const std::vector<std::string> names = {
      "memory", "uninitialised", "waits", "races", "barriers", "hazards", "alignment", "registers"};
  return names;
}

std::string RunReport::json(int indent) const {
  Json root;
  root["ok"] = ok();
  root["target"] = target;
  root["device"] = device;
  root["provider"] = provider.empty() ? Json(nullptr) : Json(provider);
  root["compile_ms"] = compileMs;
  root["workgroups"] = workUnits;
  root["partials"] = partials;
  root["kernels"] = Json::array();
  for (const RunKernel &kernel : kernels)
    root["kernels"].push_back({{"name", kernel.info.name},
                               {"key", kernel.key},
                               {"provider", kernel.provider},
                               {"vgprs", kernel.info.vgprs},
                               {"agprs", kernel.info.agprs},
                               {"sgprs", kernel.info.sgprs},
                               {"lds_bytes", kernel.info.ldsBytes},
                               {"scratch_bytes", kernel.info.scratchBytes},
                               {"code_bytes", kernel.info.codeSize}});
  root["errors"] = orNull(errors, errorsJson);
  root["quantization"] = orNull(quantization, quantizationJson);
  root["descales"] = nullptr;
  if (!descales.q.empty())
    root["descales"] = {{"q", descales.q}, {"k", descales.k}, {"v", descales.v}};
  root["output_digest"] = outputDigest.empty() ? Json(nullptr) : Json(outputDigest);
  root["checks"] = Json::object();
  for (const std::string &name : checkNames())
    root["checks"][name] = nullptr;
  for (const CheckCount &check : checks)
    if (root["checks"].contains(check.name))
      root["checks"][check.name] = orNull(check.faults, [](std::uint64_t n) { return n; });
  root["faults"] = faults;
  root["emulated"] = orNull(emulated, [](const EmulatedCost &cost) {
    return Json{{"instructions", cost.instructions}, {"seconds", cost.seconds}};
  });
  root["modelled"] =
      orNull(modelled, [](const ModelledTime &time) { return Json::parse(time.json()); });
  root["coverage"] =
      orNull(coverage, [](const auto &rows) { return Json::parse(coverageJson(rows)); });
  root["trace"] = orNull(trace, [](const TraceResult &it) { return Json::parse(it.json()); });
  return root.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Status readEmulatorReport(std::string_view text, RunReport &report) {
  const Json root = Json::parse(text, nullptr, false);
  const auto bad = [&](const char *field) {
    return error(StatusCode::Internal, "the emulator's report lacks \"{}\"", field);
  };
  if (!root.is_object())
    return bad("{}");
  const auto checks = root.find("checks");
  if (checks == root.end() || !checks->is_object())
    return bad("checks");
  report.checks.clear();
  for (const std::string &name : checkNames()) {
    const auto count = checks->find(name);
    CheckCount check{name, std::nullopt};
    if (count != checks->end() && count->is_number_unsigned())
      check.faults = count->get<std::uint64_t>();
    report.checks.push_back(std::move(check));
  }
  const auto instructions = root.find("instructions"), seconds = root.find("seconds");
  if (instructions == root.end() || !instructions->is_number_unsigned())
    return bad("instructions");
  if (seconds == root.end() || !seconds->is_number())
    return bad("seconds");
  report.emulated = {instructions->get<std::uint64_t>(), seconds->get<double>()};
  WAVESMITH_ASSIGN(report.modelled, readModelled(text));
  std::vector<ExecCoverage> rows;
  WAVESMITH_TRY(addCoverage(text, rows));
  if (!rows.empty()) // there are always rows when it was asked for
    report.coverage = std::move(rows);
  WAVESMITH_ASSIGN(report.lines, readModelledLines(text));
  WAVESMITH_ASSIGN(report.trace, readTrace(text));
  report.faults.clear();
  if (const auto faults = root.find("faults"); faults != root.end() && faults->is_array())
    for (const Json &fault : *faults)
      if (fault.is_object() && fault.contains("text") && fault["text"].is_string())
        report.faults.push_back(fault["text"].get<std::string>());
  return Status::ok();
}

} // namespace wavesmith
