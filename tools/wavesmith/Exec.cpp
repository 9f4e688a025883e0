// wavesmith exec: runs any code object as a launch file says.

#include <memory>
#include <string>

#include <fmt/format.h>

#include "runtime/exec/Exec.h"
#include "runtime/support/Env.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

std::string describe(const ExecReport &report) {
  std::string text = fmt::format("device     {}\n", report.device);
  for (const ExecLaunch &launch : report.launches)
    text += fmt::format("launch     {}: {} workgroups, {} wave instructions in {:.3f} s\n",
                        launch.kernel.name, launch.workgroups, launch.instructions, launch.seconds);
  for (const ExecLaunch &launch : report.launches)
    if (launch.modelled)
      text += fmt::format("modelled   {}: {}\n", launch.kernel.name, launch.modelled->text());
  std::string checks;
  for (const auto &[name, count] : report.checks)
    checks += fmt::format("{}{} {}", checks.empty() ? "" : ", ", name,
                          count ? fmt::format("{}", *count) : "off");
  text += fmt::format("checks     {}\n", checks.empty() ? "none on a device" : checks);
  for (const std::string &output : report.outputs)
    text += fmt::format("output     {}\n", output);
  if (report.trace)
    text += fmt::format("trace      {}\n", report.trace->text());
  if (report.coverage)
    text += coverageText(*report.coverage);
  for (const std::string &warning : report.warnings)
    text += fmt::format("warning    {}\n", warning);
  for (const std::string &fault : report.faults)
    text += fmt::format("fault      {}\n", fault);
  return text + fmt::format("result     {}\n", report.ok() ? "clean" : "FAILED");
}

class Exec final : public Command {
public:
  std::string name() const override { return "exec"; }
  std::string summary() const override { return "run any code object as a launch file says"; }

  void declare(CLI::App &app) override {
    app.add_option("launch", file_, "Launch file (docs/launch-json.md)")->required();
    app.add_option("--checks", checks_, "all, none, or check names with commas; default: all");
    app.add_option("--order", order_, "Execution order (docs/emulator.md)");
    app.add_option("--seed", seed_, "Of preemptive orders; default: 1");
    app.add_option("--chip", chip_, "Chip that the emulator models");
    app.add_flag("--coverage", coverage_, "Count executions per instruction");
    app.add_flag("--model-cycles", modelCycles_,
                 "Model the time of each launch on the chip (docs/emulator.md)");
    app.add_option("--trace", trace_,
                   "File for ui.perfetto.dev: what the modelled waves do (docs/seeing.md)");
  }

  Expected<Result> run() override {
    WAVESMITH_TRY(checkTracePath("--trace", trace_));
    WAVESMITH_ASSIGN(const EmulatorSettings emulator,
                     emulatorSettings(checks_, order_, seed_, chip_));
    ExecOptions options{.checks = emulator.checks,
                        .order = emulator.order,
                        .seed = emulator.seed,
                        .chip = emulator.chip,
                        .coverage = coverage_,
                        .modelCycles = modelCycles_ || emulator.modelCycles,
                        .trace = trace_};
    WAVESMITH_ASSIGN(options.device,
                     withFlag("WAVESMITH_DEVICE", parseDeviceChoice(env::get("WAVESMITH_DEVICE"))));

    const auto file = readLaunchFile(file_);
    // A file that the user names and that cannot be read is bad input, whatever the reason.
    if (!file)
      return Status(StatusCode::InvalidArgument, file.status().message());
    if (!chip_.empty())
      WAVESMITH_TRY(checkChip("--chip", chip_, file->object->target()));
    const auto table = HipTable::open(options.device);
    if (!table)
      return asEnvironment(table.status());
    WAVESMITH_ASSIGN(const ExecReport report, runLaunches(*file, options, *table));

    Result result;
    result.exitCode = report.ok() ? ExitCode::Fine : ExitCode::Failed;
    result.json = Json::parse(report.json());
    result.text = describe(report);
    return result;
  }

private:
  std::string file_, checks_, order_, seed_, chip_, trace_;
  bool coverage_ = false, modelCycles_ = false;
};

} // namespace

std::unique_ptr<Command> makeExec() { return std::make_unique<Exec>(); }

} // namespace wavesmith::cli
