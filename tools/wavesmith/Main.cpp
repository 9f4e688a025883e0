// `wavesmith`: one file per subcommand; this one parses, runs and prints. Errors are one line on
// stderr; with --json stdout carries an object in every case (docs/schemas/error.json on errors).

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "runtime/support/Files.h"
#include "runtime/support/Status.h"
#include "runtime/support/Text.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {

ExitCode exitCodeOf(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return ExitCode::Fine;
  case StatusCode::InvalidArgument:
  case StatusCode::Unsupported:
  case StatusCode::NotFound:
  case StatusCode::Corrupt:
    return ExitCode::BadInput;
  case StatusCode::CompileFailed:
  case StatusCode::EmulationFault:
  case StatusCode::VerificationFailed:
    return ExitCode::Failed;
  case StatusCode::ResourceExhausted:
  case StatusCode::DeviceError:
  case StatusCode::Io:
  case StatusCode::Internal:
  case StatusCode::Cancelled:
  case StatusCode::Timeout:
  case StatusCode::JitForbidden:
    return ExitCode::Environment;
  }
  return ExitCode::Environment;
}

Status asEnvironment(const Status &status) {
  const bool missing =
      status.code() == StatusCode::NotFound || status.code() == StatusCode::Unsupported;
  return missing ? Status(StatusCode::Io, status.message()) : status;
}

namespace {

/// 0, or why the text did not arrive. A reader that went away (| head) is no error of ours.
int write(std::FILE *stream, std::string_view text) {
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  return written || errno == EPIPE ? 0 : errno;
}

std::string oneLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text.replace(at, 1, "; ");
  return text;
}

int fail(bool json, ExitCode exitCode, std::string_view code, std::string_view message) {
  const std::string line = printable(oneLine(std::string(message)));
  // Where stderr itself is lost, the exit code is all that is left to say.
  (void)write(stderr, fmt::format("wavesmith: error: {}\n", line));
  if (json) {
    const Json document = {{"ok", false}, {"error", {{"code", code}, {"message", line}}}};
    (void)write(stdout, document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return static_cast<int>(exitCode);
}

/// Prints what was asked for; an answer that nobody got is no success.
int answer(ExitCode exitCode, std::string_view text) {
  if (const int reason = write(stdout, text))
    return fail(false, ExitCode::Environment, "io",
                systemError(reason, "write", "standard output").message());
  return static_cast<int>(exitCode);
}

/// An empty value is most often a shell variable that was not set: never a quiet default.
Status refuseEmptyValues(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options())
    for (const std::string &value : option->results())
      if (value.empty() && option->get_expected_min() > 0)
        return error(StatusCode::InvalidArgument,
                     "{} is \"\"; expected a value (without the option: its default)",
                     option->get_name());
  return Status::ok();
}

bool isJsonFlag(std::string_view argument) { return argument == "--json"; }

std::vector<std::unique_ptr<Command>> makeCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(makeRun());
  commands.push_back(makeBuild());
  commands.push_back(makeBundle());
  commands.push_back(makeCache());
  commands.push_back(makeCalibrate());
  commands.push_back(makeExec());
  commands.push_back(makeInspect());
  commands.push_back(makeBench());
  commands.push_back(makeTargets());
  commands.push_back(makeExplain());
  commands.push_back(makeDoctor());
  commands.push_back(makeUnsupported("tune", "sweep over schedules"));
  return commands;
}

int runMain(int argc, char **argv) {
  CLI::App app("Attention kernels for AMD GPUs: compile, run, check, inspect.", "wavesmith");
  app.require_subcommand(1);
  app.set_version_flag("--version", "wavesmith " WAVESMITH_VERSION);
  app.failure_message([](const CLI::App *, const CLI::Error &error) { return error.what(); });

  bool json = false;
  auto commands = makeCommands();
  std::vector<std::pair<CLI::App *, Command *>> declared;
  declared.reserve(commands.size());
  for (const auto &command : commands) {
    CLI::App *sub = app.add_subcommand(command->name(), command->summary());
    sub->add_flag("--json", json, "Print one JSON object (schema: docs/schemas/)");
    command->declare(*sub);
    for (CLI::Option *option : sub->get_options())
      if (option->get_items_expected_max() == 0)
        option->disable_flag_override(); // --causal=no is no way to write nothing
    declared.emplace_back(sub, command.get());
  }

  // CLI11 would only say that a subcommand, or something in it, is required.
  static constexpr std::string_view kGlobal[] = {"--json", "--help", "-h", "--version"};
  if (argc > 1 && argv[1][0] == '-' && std::ranges::find(kGlobal, argv[1]) == std::end(kGlobal))
    return fail(std::any_of(argv + 1, argv + argc, isJsonFlag), ExitCode::BadInput,
                "invalid-argument",
                fmt::format("unknown option \"{}\" before the subcommand; expected one of: {}",
                            argv[1], fmt::join(kGlobal, ", ")));
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto &command : commands)
    names.push_back(command->name());
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(names.begin(), names.end(), argv[1]) == names.end())
    return fail(std::any_of(argv + 1, argv + argc, isJsonFlag), ExitCode::BadInput,
                "invalid-argument",
                fmt::format("unknown subcommand \"{}\"; expected one of: {}", argv[1],
                            fmt::join(names, ", ")));

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    const auto chosen = app.get_subcommands();
    return answer(ExitCode::Fine, chosen.empty() ? app.help() : chosen.front()->help());
  } catch (const CLI::CallForVersion &) {
    return answer(ExitCode::Fine, "wavesmith " WAVESMITH_VERSION "\n");
  } catch (const CLI::ParseError &error) {
    // The parse may have stopped before it reached the flag.
    const bool wantsJson = std::any_of(argv + 1, argv + argc, isJsonFlag);
    const auto chosen = app.get_subcommands();
    return fail(wantsJson, ExitCode::BadInput, "invalid-argument",
                fmt::format("{} (see wavesmith {}--help)", oneLine(error.what()),
                            chosen.empty() ? "" : chosen.front()->get_name() + " "));
  }

  for (const auto &[sub, command] : declared) {
    if (!sub->parsed())
      continue;
    if (const Status status = refuseEmptyValues(*sub); !status.isOk())
      return fail(json, exitCodeOf(status.code()), statusCodeName(status.code()), status.message());
    Expected<Result> result = command->run();
    if (!result) {
      const Status status = result.status();
      return fail(json, exitCodeOf(status.code()), statusCodeName(status.code()), status.message());
    }
    return answer(result->exitCode,
                  json ? result->json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                       : result->text);
  }
  return static_cast<int>(ExitCode::BadInput);
}

} // namespace
} // namespace wavesmith::cli

int main(int argc, char **argv) {
  // Whoever writes deals with a reader that is gone and a file that may not grow.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // Our own code throws nothing; memory may run out, and the parsing library throws. What handles
  // that must not allocate.
  try {
    return wavesmith::cli::runMain(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("wavesmith: error: out of memory; want a smaller call or more memory\n", stderr);
    if (std::any_of(argv + 1, argv + argc, wavesmith::cli::isJsonFlag))
      std::puts(R"({"ok": false, "error": {"code": "resource-exhausted", )"
                R"("message": "out of memory; want a smaller call or more memory"}})");
    return static_cast<int>(wavesmith::cli::ExitCode::Environment);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "wavesmith: error: %s\n", error.what());
    if (std::any_of(argv + 1, argv + argc, wavesmith::cli::isJsonFlag))
      std::puts(R"({"ok": false, "error": {"code": "internal", "message": "an exception"}})");
    return static_cast<int>(wavesmith::cli::ExitCode::Environment);
  }
}
