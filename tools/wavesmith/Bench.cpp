// wavesmith bench: how long a call takes on a chip. So far by the cycle model only, from a sample
// of the workgroups, so that calls of any length end in seconds.

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "runtime/dispatch/tuning/TuningDatabase.h"
#include "runtime/session/Session.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/CallFlags.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/RunCall.h"
#include "tools/wavesmith/RunTable.h"

namespace wavesmith::cli {
namespace {

std::string describe(const RunRequest &request, const RunReport &report) {
  const ModelledTime &time = *report.modelled;
  std::size_t width = 6;
  for (const ModelledTime::Kernel &kernel : time.kernels)
    width = std::max(width, kernel.name.size());
  std::string text = fmt::format("{}\n\n{:<{}} {:>10} {:>9} {:>11} {:>9} {:>6} {:>7}  {}\n",
                                 describeCall(request, report), "kernel", width, "cycles", "us",
                                 "workgroups", "executed", "MFMA", "memory", "bound by");
  for (const ModelledTime::Kernel &kernel : time.kernels)
    text +=
        fmt::format("{:<{}} {:>10} {:>9.1f} {:>11} {:>9} {:>4.0f} % {:>5.0f} %  {}\n", kernel.name,
                    width, kernel.cycles, static_cast<double>(kernel.cycles) / time.clockMhz,
                    kernel.workgroups, kernel.executed, 100 * kernel.mfmaUtilisation,
                    100 * kernel.memoryUtilisation, kernel.boundBy);
  return text + fmt::format("\nmodelled: {}\n", time.text());
}

/// The call as a record of a tuning database, or why it can be none: what no rule of a policy can
/// ask for must not be mixed with what it can.
Expected<tuning::Record> recordOf(const RunRequest &request, const std::string &chip) {
  const AttentionProblem &problem = request.problem;
  const auto refused = [](std::string_view why) {
    return error(StatusCode::InvalidArgument, "--record: {}", why);
  };
  if (problem.lengths.size() != 1)
    return refused("records are of one sequence; give --q-len and --kv-len");
  if (request.splits != 0)
    return refused("records are of calls as the planner makes them; leave --splits out");
  if (problem.window.isOn() || problem.softCap || problem.sink)
    return refused("records are of calls without window, soft cap and sink");
  if (request.quantization && request.quantization->rotationQ != 0)
    return refused("records are of calls without --rotate");
  const bool fp8 = problem.dtype == DType::FP8;
  if (fp8 && !request.quantization)
    return refused("FP8 inputs are no alternative to bf16; give --quantize, which quantises these");
  if (problem.dtype == DType::F16 || (fp8 && request.quantization->input != "bf16"))
    return refused("records are of bf16 inputs, and rules take them for f16 too; give bf16");
  tuning::Record record;
  record.device = chip;
  record.target = problem.target;
  record.headDim = fmt::format("{}x{}", problem.headDimQk, problem.headDimV);
  record.heads = problem.heads;
  record.kvHeads = problem.kvHeads ? problem.kvHeads : problem.heads;
  record.causal = problem.causal;
  record.qLen = problem.lengths.front().q;
  record.kvLen = problem.lengths.front().kv;
  if (fp8) {
    record.path = policy::Path::Fp8;
    record.scales = scalesName(request.quantization->scales);
  }
  record.microseconds = 1; // until it is known
  record.toolchain = "unknown";
  WAVESMITH_TRY(record.validate().withContext("--record"));
  return record;
}

class Bench final : public Command {
public:
  std::string name() const override { return "bench"; }
  std::string summary() const override { return "model the time of an attention call on a chip"; }

  void declare(CLI::App &app) override {
    call_.declare(app, /*needsTarget=*/false);
    app.add_flag("--modelled", modelled_,
                 "By the emulator's cycle model, from a sample of the workgroups");
    app.add_option("--chip", chip_, "MI300X, MI308X, MI325X; MI350X, MI355X")->required();
    app.add_option("--seed", seed_, "Of the inputs; default: 1");
    app.add_option("--record", record_,
                   "Tuning database that keeps the time, for policies (docs/policy.md)");
    app.add_option("--trace", trace_,
                   "File for ui.perfetto.dev: what the modelled waves do (docs/seeing.md)");
  }

  Expected<Result> run() override {
    if (!modelled_)
      return Status(StatusCode::Unsupported,
                    "bench: times of a real device are not supported yet; give --modelled");
    WAVESMITH_TRY(checkTracePath("--trace", trace_));
    WAVESMITH_ASSIGN(const std::string target, targetOfChip("--chip", chip_));
    WAVESMITH_ASSIGN(RunRequest request, call_.request(call_.hasTarget() ? "" : target));
    WAVESMITH_TRY(checkChip("--chip", chip_, request.problem.target));
    if (!seed_.empty()) {
      WAVESMITH_ASSIGN(request.seed, parseSeed("--seed", seed_));
    }
    tuning::Record record;
    if (!record_.empty()) {
      WAVESMITH_ASSIGN(record, recordOf(request, chip_));
      // What can be known of the file before the run, not after it.
      if (const Status there = tuning::writeDatabase(record_, {}); !there.isOk())
        return asEnvironment(there);
    }
    request.chip = chip_;
    request.trace = trace_;
    request.checks = "none";
    request.sample = true;
    request.verify = false;

    WAVESMITH_ASSIGN(const std::unique_ptr<Session> session, openSession(DeviceChoice::Emulator));
    WAVESMITH_ASSIGN(const RunReport report, runShowingStages(*session, request));
    if (!report.ok())
      return Status(StatusCode::EmulationFault, report.failures.front());
    if (!record_.empty() && report.modelled) {
      record.toolchain = tuning::toolchainId(session->store().toolchain());
      record.microseconds = report.modelled->microseconds;
      if (Status kept = tuning::writeDatabase(record_, {&record, 1}); !kept.isOk())
        return asEnvironment(kept);
    }
    return result(request, report);
  }

private:
  Expected<Result> result(const RunRequest &request, const RunReport &report) const {
    Result result;
    result.json = {{"ok", true},
                   {"target", report.target},
                   {"workgroups", report.workUnits},
                   {"partials", report.partials},
                   {"flops", report.flops},
                   {"emulated", nullptr},
                   {"modelled", nullptr},
                   {"recorded", nullptr}};
    if (!record_.empty() && report.modelled)
      result.json["recorded"] = record_;
    if (report.emulated)
      result.json["emulated"] = {{"instructions", report.emulated->instructions},
                                 {"seconds", report.emulated->seconds}};
    if (!report.modelled) { // an empty call launches nothing
      result.text = describeCall(request, report) + "\nnothing to launch\n";
      return result;
    }
    result.json["modelled"] = Json::parse(report.modelled->json());
    result.text = describe(request, report);
    return result;
  }

  CallFlags call_;
  std::string chip_, record_, seed_, trace_;
  bool modelled_ = false;
};

} // namespace

std::unique_ptr<Command> makeBench() { return std::make_unique<Bench>(); }

} // namespace wavesmith::cli
