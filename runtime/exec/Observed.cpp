#include "runtime/exec/Observed.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace wavesmith {
namespace {

using Json = nlohmann::ordered_json;

Expected<Json> parseReport(std::string_view text) {
  Json root = Json::parse(text, nullptr, false);
  if (!root.is_object())
    return error(StatusCode::Internal, "the emulator's report is no JSON object");
  return root;
}

} // namespace

Status addCoverage(std::string_view emulatorReport, std::vector<ExecCoverage> &rows) {
  WAVESMITH_ASSIGN(const Json root, parseReport(emulatorReport));
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> known;
  for (std::size_t i = 0; i < rows.size(); ++i)
    known[{rows[i].kernel, rows[i].pc}] = i;
  for (const Json &row : root.value("coverage", Json::array())) {
    ExecCoverage line{row.value("kernel", std::string()), row.value("pc", std::uint64_t{0}),
                      row.value("disassembly", std::string()),
                      row.value("count", std::uint64_t{0})};
    const auto [entry, isNew] = known.try_emplace({line.kernel, line.pc}, rows.size());
    if (isNew)
      rows.push_back(std::move(line));
    else
      rows[entry->second].count += line.count;
  }
  return Status::ok();
}

std::string coverageJson(const std::vector<ExecCoverage> &rows) {
  Json list = Json::array();
  for (const ExecCoverage &row : rows)
    list.push_back(
        {{"kernel", row.kernel}, {"pc", row.pc}, {"text", row.text}, {"count", row.count}});
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string coverageText(const std::vector<ExecCoverage> &rows) {
  std::string text = "coverage\n";
  for (const ExecCoverage &row : rows)
    text += fmt::format("  {:>12}  {} + {:#06x}  {}\n", row.count, row.kernel, row.pc, row.text);
  return text;
}

Expected<ModelledLines> readModelledLines(std::string_view emulatorReport) {
  WAVESMITH_ASSIGN(const Json root, parseReport(emulatorReport));
  ModelledLines lines;
  for (const Json &kernel : root.value("kernels", Json::array()))
    for (const Json &row : kernel.value("lines", Json::array())) {
      ModelledLine &line =
          lines[{kernel.value("name", std::string()), row.value("pc", std::uint64_t{0})}];
      line.executed = row.value("executed", std::uint64_t{0});
      line.cycles = row.value("cycles", std::uint64_t{0});
      line.stalls = row.value("stalls", std::map<std::string, std::uint64_t>());
    }
  return lines;
}

std::string TraceResult::json() const {
  return Json({{"file", file}, {"events", events}, {"bytes", bytes}, {"complete", complete}})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string TraceResult::text() const {
  return fmt::format("{}: {} events, {:.1f} MB{}; open it at ui.perfetto.dev", file, events,
                     static_cast<double>(bytes) / 1e6,
                     complete ? "" : ", cut at its size bound (trace_mib)");
}

Expected<std::optional<TraceResult>> readTrace(std::string_view emulatorReport) {
  WAVESMITH_ASSIGN(const Json root, parseReport(emulatorReport));
  const auto found = root.find("trace");
  if (found == root.end() || !found->is_object())
    return std::optional<TraceResult>();
  TraceResult trace{found->value("file", std::string()), found->value("events", std::uint64_t{0}),
                    found->value("bytes", std::uint64_t{0}), found->value("complete", true),
                    found->value("problem", std::string())};
  // The kernel is fine, the file that was asked for is not there.
  if (!trace.problem.empty())
    return Status(StatusCode::Io, trace.problem);
  return std::optional<TraceResult>(std::move(trace));
}

} // namespace wavesmith
