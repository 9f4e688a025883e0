#include "tools/wavesmith/RunTable.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace wavesmith::cli {
namespace {

std::string row(std::string_view label, std::string_view text) {
  return fmt::format("{:<10} {}\n", label, text);
}

std::string count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// " window 127,0 soft cap 50 sinks": what is on.
std::string scoreText(const AttentionProblem &problem) {
  std::string text;
  if (problem.window.isOn())
    text += fmt::format(" window {},{}", problem.window.left, problem.window.right);
  if (problem.softCap)
    text += fmt::format(" soft cap {}", *problem.softCap);
  return problem.sink ? text + " sinks" : text;
}

std::string sourceText(const RunKernel &kernel) {
  if (kernel.provider == "jit")
    return fmt::format("jit: compiled in {:.0f} ms", kernel.compileMs);
  return fmt::format("{}{}: found in {:.2f} ms", kernel.provider,
                     kernel.provider == "bundle" ? "" : " cache", kernel.lookupMs);
}

std::string resourceText(const KernelInfo &kernel) {
  return fmt::format("{} VGPR (of which {} AGPR), {} SGPR, LDS {} B, scratch {} B, code {} B",
                     kernel.vgprs, kernel.agprs, kernel.sgprs, kernel.ldsBytes, kernel.scratchBytes,
                     kernel.codeSize);
}

std::string runText(const RunReport &report) {
  if (!report.emulated)
    return fmt::format("{:.3f} ms on the device", report.launchMs);
  const EmulatedCost &cost = *report.emulated;
  const double rate = cost.seconds > 0 ? report.flops / cost.seconds / 1e9 : 0;
  return fmt::format("{} wave instructions emulated in {:.2f} s ({:.1f} GFLOP/s)",
                     cost.instructions, cost.seconds, rate);
}

std::string errorRow(std::string_view name, double value, double limit) {
  // Not "value > limit": NaN is over every limit.
  return fmt::format("  {:<50} {:>9.2e}  {:>8.1e}  {}\n", name, value, limit,
                     value <= limit ? "ok" : "TOO LARGE");
}

std::string errorTable(const ErrorReport &errors, const AttentionTolerance &limits) {
  std::string text =
      fmt::format("{:<52} {:>9}  {:>8}\n", "errors against float64", "measured", "limit");
  text += errorRow("out, relative rms", errors.outRelRms, limits.outRelRms);
  if (errors.worstOneKey.row >= 0)
    text +=
        errorRow("out, worst row of one key: steps of its type", errors.oneKeySteps, limits.oneKey);
  const auto rows = [&](std::string_view which, const RowErrors &worst, const RowBounds &bounds) {
    text +=
        errorRow(fmt::format("out, worst row{}: |error| / |row|", which), worst.rel, bounds.rel);
    text +=
        errorRow(fmt::format("out, worst row{}: max / max", which), worst.maxRel, bounds.maxRel);
    if (std::isfinite(bounds.lseRel))
      text += errorRow(fmt::format("lse, worst{}: error / max(1, |lse|)", which), worst.lseRel,
                       bounds.lseRel);
    if (std::isfinite(bounds.lseAbs))
      text += errorRow(fmt::format("lse, worst{}: error", which), worst.lseAbs, bounds.lseAbs);
  };
  if (limits.manyKeys == limits.fewKeys) {
    rows("", errors.allRows(), limits.manyKeys);
  } else {
    rows("", errors.manyKeys, limits.manyKeys);
    rows(fmt::format(" below {} keys", kManyKeys), errors.fewKeys, limits.fewKeys);
  }
  text +=
      row("rows", fmt::format("{} compared, {} without keys, of these {} wrong",
                              errors.rowsCompared, errors.rowsWithoutKeys, errors.wrongEmptyRows));
  return text;
}

/// "q 0.0181..0.0202, k ...": of all heads.
std::string descaleText(const Descales &descales) {
  std::string text;
  for (auto [name, of] : {std::pair{"q", &descales.q}, {"k", &descales.k}, {"v", &descales.v}}) {
    const auto [least, most] = std::ranges::minmax(*of);
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", name, least);
    if (of->size() > 1)
      text += fmt::format("..{:.4g}", most);
  }
  return text;
}

std::string quantizationText(const QuantizationReport &report) {
  std::string saturated, made;
  constexpr std::array kNames = {"q", "k", "v"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const QuantizationReport::Tensor &tensor = report.tensors[i];
    const std::string_view comma = i == 0 ? "" : ", ";
    saturated += fmt::format(
        "{}{} {}", comma, kNames[i],
        std::accumulate(tensor.saturated.begin(), tensor.saturated.end(), std::uint64_t{0}));
    if (tensor.relRms)
      made += fmt::format("{}{} {:.2e}", comma, kNames[i], *tensor.relRms);
  }
  return row("quantised",
             fmt::format("{} scales, {}, saturated elements: {}", report.scales,
                         report.rotation ? fmt::format("rotated by seed {}", report.rotation)
                                         : std::string("not rotated"),
                         saturated)) +
         (made.empty() ? std::string() : row("codes", "relative rms " + made));
}

std::string checksText(const RunReport &report) {
  std::string text;
  for (const CheckCount &check : report.checks)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", check.name,
                        check.faults ? fmt::format("{}", *check.faults) : "off");
  return text;
}

} // namespace

std::string describeCall(const RunRequest &request, const RunReport &report) {
  const AttentionProblem &problem = request.problem;
  std::int64_t queries = 0, keys = 0;
  for (const SequenceLength &length : problem.lengths) {
    queries += length.q;
    keys += length.kv;
  }
  const std::int64_t kvHeads = problem.kvHeads ? problem.kvHeads : problem.heads;
  return fmt::format("{} attention {}x{}{}, {}{}, {}, {} queries, {} keys, {}",
                     dtypeName(problem.dtype), problem.headDimQk, problem.headDimV,
                     (problem.causal ? " causal" : "") + scoreText(problem),
                     count(problem.heads, "head"),
                     kvHeads == problem.heads ? "" : fmt::format(" over {}", kvHeads),
                     count(problem.lengths.size(), "sequence"), queries, keys,
                     count(report.workUnits, "workgroup") +
                         (report.partials ? fmt::format(" ({} partials)", report.partials) : ""));
}

std::string describeRun(const RunRequest &request, const RunReport &report) {
  std::string text = row("call", describeCall(request, report));
  text += row("device",
              fmt::format("{}, order {}, seed {}", report.device, request.order, request.seed));
  for (const RunKernel &kernel : report.kernels) {
    text += row("kernel", kernel.info.name);
    text += row("from", sourceText(kernel));
    if (kernel.attention)
      text += row("resources", resourceText(kernel.info));
  }
  text += row("run", runText(report));
  if (report.modelled)
    text += row("modelled", report.modelled->text());
  if (report.trace)
    text += row("trace", report.trace->text());
  text += row("checks", checksText(report));
  if (!report.descales.q.empty())
    text += row("descales", descaleText(report.descales));
  if (report.quantization)
    text += quantizationText(*report.quantization);
  if (report.errors)
    text += errorTable(*report.errors, report.tolerance);
  if (report.quantization && report.quantization->errors)
    text += row("unquantised",
                fmt::format("out is {:.2e} relative rms, lse {:.2e} from float64 on the {} inputs",
                            report.quantization->errors->outRelRms,
                            report.quantization->errors->allRows().lseAbs,
                            request.quantization ? request.quantization->input : "16-bit"));
  if (report.coverage)
    text += coverageText(*report.coverage);
  for (const std::string &fault : report.faults)
    text += row("fault", fault);
  for (const std::string &failure : report.failures)
    text += row("failure", failure);
  if (!report.ok())
    text += row("result", "FAILED");
  else
    text += row("result", report.errors ? "verified" : "ran, not verified (--verify)");
  return text;
}

} // namespace wavesmith::cli
