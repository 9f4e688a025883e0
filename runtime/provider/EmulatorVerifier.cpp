#include "runtime/provider/EmulatorVerifier.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/codeobject/Verification.h"
#include "runtime/provider/ObjectCheck.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Log.h"
#include "runtime/support/OwnDirectory.h"
#include "runtime/support/Text.h"

namespace wavesmith {
namespace {

constexpr std::string_view kProgram = "wavesmith-verify";
constexpr std::size_t kMaxAnswer = std::size_t{1} << 20;
/// The exit code of wavesmith-verify for a kernel that failed.
constexpr int kFailed = 1;

/// A file without a name: passes bytes to and from a child without anybody waiting for a pipe.
Expected<FileDescriptor> memoryFile(const char *name) {
  FileDescriptor fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd)
    return systemError(errno, "create memory file", name);
  return fd;
}

std::string readAll(const FileDescriptor &fd) {
  std::string text(kMaxAnswer, '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// Ours without what would change the judge's settings or make it ask a judge in turn, and without
/// the remote cache's password: what is judged may not be trusted.
std::vector<char *> childEnvironment() {
  std::vector<char *> variables;
  for (char **item = environ; item && *item; ++item) {
    const std::string_view text = *item;
    if (!text.starts_with("WAVESMITH_EMULATOR=") && !text.starts_with("WAVESMITH_VERIFY=") &&
        !text.starts_with("WAVESMITH_REMOTE="))
      variables.push_back(*item);
  }
  variables.push_back(nullptr);
  return variables;
}

/// The exit status; none when somebody else in this process waits for every child.
Expected<std::optional<int>> waitFor(pid_t child, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (auto pause = std::chrono::milliseconds(1);;
       pause = std::min(pause * 2, decltype(pause){20})) {
    int status = 0;
    const pid_t got = ::waitpid(child, &status, WNOHANG);
    if (got == child)
      return std::optional(status);
    if (got < 0 && errno != EINTR)
      return std::optional<int>();
    if (std::chrono::steady_clock::now() >= end) {
      ::kill(child, SIGKILL);
      while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      return error(StatusCode::Timeout, "{} did not end within {} ms", kProgram, timeout.count());
    }
    std::this_thread::sleep_for(pause);
  }
}

std::string lastLine(std::string text) {
  while (text.ends_with('\n'))
    text.pop_back();
  return printable(text.substr(text.rfind('\n') + 1));
}

Expected<std::string> findProgram(const std::string &named) {
  std::string tried;
  for (const std::string &path : named.empty() ? verifierCandidates() : std::vector{named}) {
    if (::access(path.c_str(), X_OK) == 0)
      return path;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return error(StatusCode::Unsupported,
               "no {} to verify kernels with: tried {}; install it or unset WAVESMITH_VERIFY",
               kProgram, tried);
}

} // namespace

std::vector<std::string> verifierCandidates() {
  const std::string directory = ownDirectory();
  return {fmt::format("{}/{}", directory, kProgram),
          fmt::format("{}/../bin/{}", directory, kProgram)};
}

Expected<std::string> verifyOnEmulator(const KernelSpec &spec, const SharedCodeObject &object,
                                       const VerifierOptions &options) {
  // The program takes the spec from the object's note, so that must be the one that was asked for.
  WAVESMITH_TRY(checkKernelObject(spec, *object).status());
  WAVESMITH_ASSIGN(std::string program, findProgram(options.program));
  WAVESMITH_ASSIGN(const FileDescriptor input, memoryFile("wavesmith-object"));
  WAVESMITH_ASSIGN(const FileDescriptor output, memoryFile("wavesmith-record"));
  WAVESMITH_ASSIGN(const FileDescriptor messages, memoryFile("wavesmith-messages"));
  const std::size_t size = object->bytes.size();
  if (::write(input.get(), object->bytes.data(), size) != static_cast<ssize_t>(size) ||
      ::lseek(input.get(), 0, SEEK_SET) != 0)
    return systemError(errno, "write", "memory file");

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, messages.get(), STDERR_FILENO);
  std::string standardInput = "-";
  std::array<char *, 3> arguments = {program.data(), standardInput.data(), nullptr};
  std::vector<char *> environment = childEnvironment();
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(),
                                    environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return systemError(failure, "run", program);
  WAVESMITH_ASSIGN(const std::optional<int> status, waitFor(child, options.timeout));

  // The record names the object's digest, so it is proof whoever reaped the child.
  std::string record = readAll(output);
  while (record.ends_with('\n'))
    record.pop_back();
  if (isVerificationOf(record, sha256Hex(object->bytes))) {
    log::info("verify", "verified kernel={}", object->kernelName);
    return record;
  }
  std::string reason = lastLine(readAll(messages));
  const std::string_view prefix = "wavesmith-verify: ";
  if (reason.starts_with(prefix))
    reason.erase(0, prefix.size());
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == kFailed)
    return error(StatusCode::VerificationFailed, "{} failed its verification: {}",
                 object->kernelName, reason);
  return error(StatusCode::Internal, "{} was not verified: {}", object->kernelName,
               reason.empty() ? "the verifier died without a word" : reason);
}

} // namespace wavesmith
