#include "tools/wavesmith/Annotation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "runtime/exec/Exec.h"
#include "runtime/session/Session.h"

namespace wavesmith::cli {
namespace {

/// Lines with at least this share of the kernel's clocks are marked, and no more than kMarks.
constexpr double kHotShare = 0.01;
constexpr std::size_t kMarks = 12;
constexpr int kSplits = 4; ///< of the call for a kernel that splits

std::uint64_t countOf(const Annotation &annotation, const std::string &kernel, std::uint64_t pc) {
  const auto found = annotation.counts.find({kernel, pc});
  return found == annotation.counts.end() ? 0 : found->second;
}

const ModelledLine &lineOf(const Annotation &annotation, const std::string &kernel,
                           std::uint64_t pc) {
  static const ModelledLine none;
  const auto found = annotation.lines.find({kernel, pc});
  return found == annotation.lines.end() ? none : found->second;
}

/// "lds 62 %, barrier 20 %": of the line's clocks, the three largest.
std::string reasonsText(const ModelledLine &line) {
  std::vector<std::pair<std::uint64_t, std::string>> reasons;
  for (const auto &[name, clocks] : line.stalls)
    reasons.emplace_back(clocks, name);
  std::sort(reasons.rbegin(), reasons.rend());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(reasons.size(), 3); ++i) {
    const double share =
        100.0 * static_cast<double>(reasons[i].first) / static_cast<double>(line.cycles);
    if (share >= 1)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", reasons[i].second, share);
  }
  return text;
}

Annotation observed(std::string call, std::string device, const std::vector<ExecCoverage> &coverage,
                    ModelledLines lines, std::vector<std::string> faults) {
  Annotation annotation{.call = std::move(call),
                        .device = std::move(device),
                        .counts = {},
                        .lines = std::move(lines),
                        .faults = std::move(faults)};
  for (const ExecCoverage &row : coverage)
    annotation.counts[{row.kernel, row.pc}] = row.count;
  return annotation;
}

} // namespace

Expected<Annotation> annotateLaunch(const CodeObject &object, const std::string &launchFile) {
  auto file = readLaunchFile(launchFile);
  if (!file)
    return Status(StatusCode::InvalidArgument, file.status().message());
  if (!std::ranges::equal(file->object->bytes(), object.bytes()))
    return error(StatusCode::InvalidArgument,
                 "--annotate: {} runs {}, which is another object than the inspected one",
                 launchFile, file->objectPath);
  // Looking leaves no files behind.
  for (LaunchBuffer &buffer : file->buffers)
    buffer.out.clear();
  const auto table = HipTable::open(DeviceChoice::Emulator);
  if (!table)
    return asEnvironment(table.status());
  ExecOptions options;
  options.device = DeviceChoice::Emulator;
  options.coverage = options.modelCycles = true;
  WAVESMITH_ASSIGN(ExecReport report, runLaunches(*file, options, *table));
  return observed(launchFile, report.device, *report.coverage, std::move(report.lines),
                  std::move(report.faults));
}

Expected<Annotation> annotateAttention(const CodeObject &object, const ObjectNote &note) {
  WAVESMITH_ASSIGN(const KernelSpec spec, KernelSpec::parse(note.spec));
  RunRequest request;
  request.problem.target = spec.target;
  request.problem.dtype = spec.attention.dtype;
  request.problem.headDimQk = spec.attention.headDimQk;
  request.problem.headDimV = spec.attention.headDimV;
  request.problem.causal = spec.attention.causal;
  request.problem.writeLse = spec.attention.writeLse;
  request.problem.schedule = spec.schedule;
  request.splits = spec.attention.splitKv ? kSplits : 1;
  request.problem.heads = 2;
  request.problem.lengths = {{512, 2048}};
  request.verify = false;
  request.coverage = request.modelCycles = true;
  auto blob = std::make_shared<CodeObjectBlob>();
  blob->bytes.assign(object.bytes().begin(), object.bytes().end());
  blob->kernelName = spec.kernelName();
  blob->provider = "memory";
  request.object = std::move(blob);
  auto session = Session::create({.device = DeviceChoice::Emulator, .store = std::nullopt});
  if (!session)
    return asEnvironment(session.status());
  WAVESMITH_ASSIGN(RunReport report, (*session)->run(request));
  return observed("attention, 2 heads, 512 queries, 2048 keys", report.device,
                  report.coverage.value_or(std::vector<ExecCoverage>()), std::move(report.lines),
                  std::move(report.faults));
}

Json annotatedJson(const Annotation &annotation, const std::string &kernel, std::uint64_t pc) {
  const ModelledLine &line = lineOf(annotation, kernel, pc);
  Json stalls = Json::object();
  for (const auto &[name, clocks] : line.stalls)
    stalls[name] = clocks;
  return {{"count", countOf(annotation, kernel, pc)},
          {"replayed", line.executed},
          {"cycles", line.cycles},
          {"stalls", std::move(stalls)}};
}

std::string annotatedText(const Annotation &annotation, const std::string &kernel,
                          const std::vector<Instruction> &instructions) {
  std::uint64_t all = 0;
  std::vector<std::uint64_t> costs;
  for (const Instruction &instruction : instructions) {
    costs.push_back(lineOf(annotation, kernel, instruction.pc).cycles);
    all += costs.back();
  }
  std::sort(costs.rbegin(), costs.rend());
  const std::uint64_t hot =
      std::max<std::uint64_t>({1, costs.size() > kMarks ? costs[kMarks - 1] : 1,
                               static_cast<std::uint64_t>(kHotShare * static_cast<double>(all))});
  std::string text =
      fmt::format("  annotated with {} on {}\n"
                  "  executed: by all waves of the launch; clocks (modelled): of the waves of the "
                  "compute unit that was replayed\n"
                  "    {:>12} {:>10} {:>6}  {:<44} pc\n",
                  annotation.call, annotation.device, "executed", "clocks", "share", "stalls");
  const Instruction *before = nullptr;
  for (const Instruction &instruction : instructions) {
    text += sourceHeading(std::exchange(before, &instruction), instruction);
    const ModelledLine &line = lineOf(annotation, kernel, instruction.pc);
    const double share =
        all ? 100.0 * static_cast<double>(line.cycles) / static_cast<double>(all) : 0;
    const std::string shareText = line.cycles ? fmt::format("{:.1f} %", share) : std::string();
    text += fmt::format("  {} {:>12} {:>10} {:>6}  {:<44} {:06x}  {}\n",
                        all && line.cycles >= hot ? '>' : ' ',
                        countOf(annotation, kernel, instruction.pc), line.cycles, shareText,
                        reasonsText(line), instruction.pc, instruction.text);
  }
  return text;
}

} // namespace wavesmith::cli
