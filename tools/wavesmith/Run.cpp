// wavesmith run: one attention call from spec to verified result.

#include <memory>
#include <optional>
#include <string>

#include "runtime/hip/HipTable.h"
#include "runtime/session/Session.h"
#include "runtime/support/Env.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/CallFlags.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/RunCall.h"
#include "tools/wavesmith/RunTable.h"

namespace wavesmith::cli {
namespace {

/// Where this process's kernels came from, and what stood in the way.
Json countersJson(const KernelStoreCounters &counters) {
  Json providers = Json::array();
  for (const ProviderCounters &provider : counters.providers)
    providers.push_back({{"name", provider.name},
                         {"hits", provider.hits},
                         {"misses", provider.misses},
                         {"errors", provider.errors}});
  return {{"memory_hits", counters.memory.hits},
          {"waits", counters.memory.waits},
          {"failures", counters.memory.failures},
          {"providers", std::move(providers)}};
}

class Run final : public Command {
public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "compile, run and verify one attention call"; }

  void declare(CLI::App &app) override {
    call_.declare(app);
    app.add_flag("--verify", verify_, "Compare with a float64 reference; exit 1 on a mismatch");
    app.add_option("--checks", checks_,
                   "all, none, or of: memory,uninitialised,waits,races,barriers,hazards,alignment,"
                   "registers; default: all");
    app.add_option("--order", order_,
                   "Emulator's execution order: default, or of: vmem-early vmem-late lds-early "
                   "lds-late lockstep run-to-barrier preemptive poison, with commas");
    app.add_option("--seed", seed_, "Of the inputs and of preemptive orders; default: 1");
    app.add_option("--chip", chip_,
                   "Chip that the emulator models: MI300X, MI308X, MI325X; MI350X, MI355X");
    app.add_option("--device", device_,
                   "auto, hip or emulator; auto takes a real GPU if one is there");
    app.add_flag("--model-cycles", modelCycles_, "Model the time on the chip (docs/emulator.md)");
    app.add_flag("--coverage", coverage_, "Count executions per instruction");
    app.add_option("--trace", trace_,
                   "File for ui.perfetto.dev: what the modelled waves do (docs/seeing.md)");
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(const DeviceChoice device, deviceChoice());
    WAVESMITH_ASSIGN(const RunRequest request, check());
    WAVESMITH_ASSIGN(const std::unique_ptr<Session> session, openSession(device));
    WAVESMITH_ASSIGN(const RunReport report, runShowingStages(*session, request));

    Result result;
    result.exitCode = report.ok() ? ExitCode::Fine : ExitCode::Failed;
    result.json = Json::parse(report.json());
    result.json["counters"] = countersJson(session->store().counters());
    result.text = describeRun(request, report);
    return result;
  }

private:
  Expected<RunRequest> check() const {
    WAVESMITH_TRY(checkTracePath("--trace", trace_));

    WAVESMITH_ASSIGN(RunRequest request, call_.request());
    WAVESMITH_ASSIGN(const EmulatorSettings emulator,
                     emulatorSettings(checks_, order_, seed_, chip_));
    request.checks = emulator.checks;
    request.order = emulator.order;
    request.seed = emulator.seed;
    if (!chip_.empty())
      WAVESMITH_TRY(checkChip("--chip", chip_, request.problem.target));
    request.chip = chip_;
    request.modelCycles = modelCycles_ || emulator.modelCycles;
    request.coverage = coverage_;
    request.trace = trace_;
    request.verify = verify_;
    return request;
  }

  Expected<DeviceChoice> deviceChoice() const {
    if (!device_.empty())
      return withFlag("--device", parseDeviceChoice(device_));
    return withFlag("WAVESMITH_DEVICE", parseDeviceChoice(env::get("WAVESMITH_DEVICE")));
  }

  CallFlags call_;
  std::string checks_, order_, seed_, chip_, device_, trace_;
  bool verify_ = false, modelCycles_ = false, coverage_ = false;
};

} // namespace

std::unique_ptr<Command> makeRun() { return std::make_unique<Run>(); }

} // namespace wavesmith::cli
