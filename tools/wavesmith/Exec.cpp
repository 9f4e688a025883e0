// wavesmith exec: runs any code object as a launch file says.

#include <memory>
#include <string>

#include <fmt/format.h>

#include "emulator/Emulator.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

class Exec final : public Command {
public:
  std::string name() const override { return "exec"; }
  std::string summary() const override { return "run any code object as a launch file says"; }

  void declare(CLI::App &app) override {
    app.add_option("launch", file_, "Launch file (docs/launch-json.md)")->required();
    app.add_option("--checks", checks_, "all, none, or check names with commas")
        ->default_val("all");
    app.add_option("--order", order_, "Execution order (docs/emulator.md)")->default_val("default");
    app.add_option("--seed", seed_, "Of preemptive orders")->default_val("1");
    app.add_option("--chip", chip_, "Chip that the emulator models");
    app.add_flag("--coverage", coverage_, "Count executions per instruction");
    app.add_flag("--model-cycles", modelCycles_, "Not supported yet");
    app.add_option("--trace", trace_, "Not supported yet");
  }

  Expected<Result> run() override {
    WAVESMITH_TRY(refuseLater("--model-cycles", modelCycles_));
    WAVESMITH_TRY(refuseLater("--trace", !trace_.empty()));
    WAVESMITH_ASSIGN(const auto checks, withFlag("--checks", emulator::Checks::parse(checks_)));
    WAVESMITH_ASSIGN(const auto order,
                     withFlag("--order", emulator::ExecutionOrder::parse(order_)));
    WAVESMITH_ASSIGN(const std::uint64_t seed, parseSeed("--seed", seed_));
    (void)checks, (void)order, (void)seed;
    return error(StatusCode::Unsupported, "exec: not supported yet");
  }

private:
  std::string file_, checks_, order_, seed_, chip_, trace_;
  bool coverage_ = false, modelCycles_ = false;
};

} // namespace

std::unique_ptr<Command> makeExec() { return std::make_unique<Exec>(); }

} // namespace wavesmith::cli
