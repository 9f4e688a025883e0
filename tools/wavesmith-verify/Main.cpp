// wavesmith-verify: judges one kernel on the emulator and prints its verification record. A program
// of its own, because the runtime runs it for kernels that nobody trusts yet (EmulatorVerifier.h).
// Exit codes: 0 it passed, 1 it failed, 2 bad input, 3 the environment.

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "runtime/codeobject/Note.h"
#include "runtime/judge/VerifyKernel.h"
#include "runtime/provider/ObjectCheck.h"
#include "runtime/support/Files.h"

namespace wavesmith {
namespace {

constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{256} << 20;
constexpr int kFailed = 1, kBadInput = 2, kEnvironment = 3;

int exitCode(StatusCode code) {
  switch (code) {
  case StatusCode::VerificationFailed:
    return kFailed;
  case StatusCode::InvalidArgument:
  case StatusCode::Corrupt:
  case StatusCode::NotFound:
  case StatusCode::Unsupported:
    return kBadInput;
  default:
    return kEnvironment;
  }
}

Expected<VerificationRecord> verify(const std::string &path) {
  WAVESMITH_ASSIGN(std::vector<std::byte> bytes,
                   readFile(path == "-" ? "/proc/self/fd/0" : path, kMaxObjectBytes));
  WAVESMITH_ASSIGN(const CodeObject object, CodeObject::parse(bytes, path));
  if (!object.wavesmithNote())
    return error(StatusCode::InvalidArgument, "{} is no kernel of Wavesmith: it has no note", path);
  WAVESMITH_ASSIGN(const ObjectNote note, parseNote(*object.wavesmithNote(), path));
  WAVESMITH_ASSIGN(const KernelSpec spec, KernelSpec::parse(note.spec));
  auto blob = std::make_shared<CodeObjectBlob>();
  blob->bytes = std::move(bytes);
  blob->kernelName = spec.kernelName();
  WAVESMITH_TRY(checkKernelObject(spec, *blob).status());
  return verifyKernel(spec, blob);
}

int run(int argc, char **argv) {
  if (argc != 2 || std::string_view(argv[1]).starts_with("--")) {
    fmt::print(stderr, "usage: wavesmith-verify OBJECT.co | -\n");
    return kBadInput;
  }
  const auto record = verify(argv[1]);
  if (!record) {
    fmt::print(stderr, "wavesmith-verify: {}\n", record.status().message());
    return exitCode(record.status().code());
  }
  fmt::print("{}\n", printVerification(*record));
  return std::fflush(stdout) == 0 ? 0 : kEnvironment;
}

} // namespace
} // namespace wavesmith

int main(int argc, char **argv) {
  try {
    return wavesmith::run(argc, argv);
  } catch (const std::exception &error) { // memory may run out
    std::fprintf(stderr, "wavesmith-verify: %s\n", error.what());
    return wavesmith::kEnvironment;
  }
}
