// wavesmith targets: what this build can compile for, and which kernels exist.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/spec/KernelFamily.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

class Targets final : public Command {
public:
  std::string name() const override { return "targets"; }
  std::string summary() const override { return "known targets and the kernels of each"; }
  void declare(CLI::App &app) override {
    app.add_flag("--kernels", kernels_, "List every kernel with its key");
  }

  Expected<Result> run() override {
    Result result;
    result.json = {{"ok", true}, {"targets", Json::array()}};
    result.text = fmt::format("{:<8} {:>10}  {:<9} {}\n", "target", "LDS", "FP8", "kernels");
    for (const Target &target : knownTargets()) {
      const std::vector<KernelSpec> specs = kernelFamily(target.name);
      Json row = {
          {"name", target.name},
          {"lds_bytes", target.ldsBytes},
          {"fp8_format", fp8FormatName(target.fp8)},
          {"compiles", std::ranges::all_of(
                           specs, [](const KernelSpec &spec) { return spec.validate().isOk(); })},
          {"kernels", Json::array()}};
      result.text += fmt::format("{:<8} {:>10}  {:<9} {}\n", target.name, target.ldsBytes,
                                 fp8FormatName(target.fp8), specs.size());
      for (const KernelSpec &spec : specs) {
        if (!kernels_)
          break;
        row["kernels"].push_back(
            {{"name", spec.kernelName()}, {"spec", spec.text()}, {"spec_key", spec.key()}});
        result.text += fmt::format("  {}  {}\n", spec.kernelName(), spec.text());
      }
      result.json["targets"].push_back(std::move(row));
    }
    return result;
  }

private:
  bool kernels_ = false;
};

} // namespace

std::unique_ptr<Command> makeTargets() { return std::make_unique<Targets>(); }

} // namespace wavesmith::cli
