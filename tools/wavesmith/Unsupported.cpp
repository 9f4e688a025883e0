// Subcommands that the documentation promises and this version does not have yet.

#include <memory>
#include <string>
#include <utility>

#include "runtime/support/Status.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

class Unsupported final : public Command {
public:
  Unsupported(std::string name, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)) {}
  std::string name() const override { return name_; }
  std::string summary() const override { return summary_ + " (not supported yet)"; }
  void declare(CLI::App &app) override { app.allow_extras(); }
  Expected<Result> run() override {
    return error(StatusCode::Unsupported, "{}: not supported yet", name_);
  }

private:
  std::string name_, summary_;
};

} // namespace

std::unique_ptr<Command> makeUnsupported(std::string name, std::string summary) {
  return std::make_unique<Unsupported>(std::move(name), std::move(summary));
}

} // namespace wavesmith::cli
