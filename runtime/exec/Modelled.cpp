#include "runtime/exec/Modelled.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace wavesmith {

using Json = nlohmann::ordered_json;

std::string ModelledTime::json() const {
  Json root = {{"chip", chip},
               {"cycles", cycles},
               {"microseconds", microseconds},
               {"sustained_microseconds", sustainedMicroseconds},
               {"mfma_utilisation", mfmaUtilisation},
               {"valu_utilisation", valuUtilisation},
               {"lds_utilisation", ldsUtilisation},
               {"memory_utilisation", memoryUtilisation},
               {"balance", balance},
               {"bound_by", boundBy},
               {"clock_mhz", clockMhz},
               {"sustained_mhz", sustainedMhz},
               {"dtype", dtype},
               {"cold_cycles", coldCycles}};
  root["kernels"] = Json::array();
  for (const Kernel &kernel : kernels)
    root["kernels"].push_back({{"name", kernel.name},
                               {"launches", kernel.launches},
                               {"cycles", kernel.cycles},
                               {"workgroups", kernel.workgroups},
                               {"executed", kernel.executed},
                               {"mfma_utilisation", kernel.mfmaUtilisation},
                               {"memory_utilisation", kernel.memoryUtilisation},
                               {"bound_by", kernel.boundBy}});
  root["loops"] = Json::array();
  for (const Loop &loop : loops)
    root["loops"].push_back({{"pc", loop.pc},
                             {"iterations", loop.iterations},
                             {"cycles", loop.cycles},
                             {"mfma_occupancy", loop.mfmaOccupancy}});
  return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ModelledTime::text() const {
  std::string line = fmt::format(
      "{} cycles on {}, {:.1f} us at {:.0f} MHz, {:.1f} us at {:.0f} MHz (sustained, {}); MFMA "
      "{:.0f} %, bound by {}",
      cycles, chip, microseconds, clockMhz, sustainedMicroseconds, sustainedMhz, dtype,
      100 * mfmaUtilisation, boundBy);
  if (!loops.empty() && loops.front().mfmaOccupancy > 0)
    line += fmt::format("; main loop {:.0f} cycles, MFMA {:.1f} %", loops.front().cycles,
                        100 * loops.front().mfmaOccupancy);
  return line;
}

Expected<std::optional<ModelledTime>> readModelled(std::string_view emulatorReport) {
  const Json root = Json::parse(emulatorReport, nullptr, false);
  if (!root.is_object())
    return error(StatusCode::Internal, "the emulator's report is no JSON object");
  const auto found = root.find("modelled");
  if (found == root.end() || found->is_null())
    return std::optional<ModelledTime>();
  const Json &source = *found;
  ModelledTime time;
  bool complete = source.is_object();
  auto text = [&](const Json &from, const char *key, std::string &to) {
    complete = complete && from.is_object() && from.contains(key) && from[key].is_string();
    if (complete)
      to = from[key].get<std::string>();
  };
  auto number = [&](const Json &from, const char *key, auto &to) {
    complete = complete && from.is_object() && from.contains(key) && from[key].is_number();
    if (complete)
      to = from[key].get<std::remove_reference_t<decltype(to)>>();
  };
  text(source, "chip", time.chip);
  text(source, "bound_by", time.boundBy);
  text(source, "dtype", time.dtype);
  number(source, "cycles", time.cycles);
  number(source, "microseconds", time.microseconds);
  number(source, "sustained_microseconds", time.sustainedMicroseconds);
  number(source, "mfma_utilisation", time.mfmaUtilisation);
  number(source, "valu_utilisation", time.valuUtilisation);
  number(source, "lds_utilisation", time.ldsUtilisation);
  number(source, "memory_utilisation", time.memoryUtilisation);
  number(source, "balance", time.balance);
  number(source, "clock_mhz", time.clockMhz);
  number(source, "sustained_mhz", time.sustainedMhz);
  number(source, "cold_cycles", time.coldCycles);
  if (complete && source.contains("kernels") && source["kernels"].is_array())
    for (const Json &row : source["kernels"]) {
      ModelledTime::Kernel &kernel = time.kernels.emplace_back();
      text(row, "name", kernel.name);
      number(row, "launches", kernel.launches);
      number(row, "cycles", kernel.cycles);
      number(row, "workgroups", kernel.workgroups);
      number(row, "executed", kernel.executed);
      number(row, "mfma_utilisation", kernel.mfmaUtilisation);
      number(row, "memory_utilisation", kernel.memoryUtilisation);
      text(row, "bound_by", kernel.boundBy);
    }
  if (complete && source.contains("loops") && source["loops"].is_array())
    for (const Json &row : source["loops"]) {
      ModelledTime::Loop loop;
      number(row, "pc", loop.pc);
      number(row, "iterations", loop.iterations);
      number(row, "cycles", loop.cycles);
      number(row, "mfma_occupancy", loop.mfmaOccupancy);
      time.loops.push_back(loop);
    }
  if (!complete)
    return error(StatusCode::Internal, "the emulator's report has an incomplete \"modelled\"");
  return std::optional<ModelledTime>(std::move(time));
}

} // namespace wavesmith
