#pragma once
// A subcommand of `wavesmith`: declares its options, then runs once. What it prints is a Result:
// one JSON object (--json) or text, and an exit code; only Main.cpp writes it to stdout. Commands
// live for the whole process and run on the main thread.

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "runtime/support/Status.h"

namespace wavesmith::cli {

using Json = nlohmann::ordered_json;

/// The exit codes of design: stable, documented in docs/cli.md.
enum class ExitCode : int {
  Fine = 0,
  Failed = 1,      ///< a verification or check failed
  BadInput = 2,    ///< the caller's arguments or files
  Environment = 3, ///< the machine: no device, no compiler library, no permission, no space
};
ExitCode exitCodeOf(StatusCode code);
/// A thing that is missing though the user did not name it (a library, say) is the machine's fault.
Status asEnvironment(const Status &status);

struct Result {
  ExitCode exitCode = ExitCode::Fine;
  Json json = Json::object();
  std::string text; ///< ends in a newline
};

class Command {
public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual void declare(CLI::App &app) = 0;
  virtual Expected<Result> run() = 0;
};

std::unique_ptr<Command> makeRun();
std::unique_ptr<Command> makeBench();
std::unique_ptr<Command> makeBuild();
std::unique_ptr<Command> makeBundle();
std::unique_ptr<Command> makeCache();
std::unique_ptr<Command> makeCalibrate();
std::unique_ptr<Command> makeExec();
std::unique_ptr<Command> makeInspect();
std::unique_ptr<Command> makeTargets();
std::unique_ptr<Command> makeExplain();
std::unique_ptr<Command> makeDoctor();
/// A subcommand that this version does not have: takes anything, answers with exit code 2.
std::unique_ptr<Command> makeUnsupported(std::string name, std::string summary);

} // namespace wavesmith::cli
