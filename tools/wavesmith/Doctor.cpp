// wavesmith doctor: what works on this machine, what does not, and how to mend it.

#include <memory>
#include <string>

#include <fmt/format.h>

#include "runtime/support/Status.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

class Doctor final : public Command {
public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override {
    return "what works on this machine, and how to mend the rest";
  }
  void declare(CLI::App &) override {}
  Expected<Result> run() override {
    return error(StatusCode::Unsupported, "doctor: not supported yet");
  }
};

} // namespace

std::unique_ptr<Command> makeDoctor() { return std::make_unique<Doctor>(); }

} // namespace wavesmith::cli
