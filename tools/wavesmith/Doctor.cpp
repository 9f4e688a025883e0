// wavesmith doctor: what works on this machine, what does not, and how to mend it. Every finding
// comes from doing the thing (opening, compiling, writing), not from looking for files.

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/hip/HipTable.h"
#include "runtime/provider/JitProvider.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Env.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

enum class State { Ok, Note, Warning, Broken };

struct Finding {
  std::string name;
  State state = State::Ok;
  std::string detail;
  std::string remedy; ///< empty when nothing is to be done
};

std::string_view stateName(State state) {
  switch (state) {
  case State::Ok:
    return "ok";
  case State::Note:
    return "note";
  case State::Warning:
    return "warning";
  case State::Broken:
    return "broken";
  }
  return "broken";
}

Finding checkVersions() {
  const Toolchain &toolchain = Toolchain::builtin();
  return {"version", State::Ok,
          fmt::format("wavesmith {}, LLVM {}, compiler {:.12}, templates {:.12}", WAVESMITH_VERSION,
                      toolchain.llvmVersion, toolchain.compilerBuild, toolchain.templateDigest),
          ""};
}

/// Compiles a small kernel without any cache.
Finding checkCompiler() {
  Finding finding{"compiler", State::Broken, "", ""};
  auto options = JitOptions::fromEnvironment();
  if (!options) {
    finding.detail = options.status().message();
    finding.remedy = "correct or unset the variable";
    return finding;
  }
  if (!options->allowed) {
    finding.state = State::Note;
    finding.detail = "compiling is forbidden by WAVESMITH_JIT=forbid";
    finding.remedy = "unset WAVESMITH_JIT to compile what no cache holds";
    return finding;
  }
  JitProvider provider(*std::move(options));
  const std::vector<KernelSpec> specs = supportedSpecs("gfx942");
  if (specs.empty()) {
    finding.detail = "this build knows no kernel";
    return finding;
  }
  const auto object = provider.get(specs.back());
  if (!object) {
    finding.detail = object.status().message();
    finding.remedy = provider.loaded()
                         ? "this is a bug: please report it with the message"
                         : "build it (scripts/setup.sh) or set WAVESMITH_COMPILER_LIBRARY";
    return finding;
  }
  return {"compiler", State::Ok,
          fmt::format("made {} in {:.0f} ms", (*object)->kernelName, (*object)->compileMs), ""};
}

std::string describe(const DeviceInfo &device) {
  return fmt::format("{} ({}, {} CUs, {} KiB LDS)", device.name, device.target, device.computeUnits,
                     device.ldsBytes / 1024);
}

Finding checkHip() {
  const auto table = HipTable::open(DeviceChoice::Hip);
  if (table)
    return {"hip", State::Ok,
            fmt::format("{}: {}", (*table)->library(), describe((*table)->device())), ""};
  // No GPU is no fault of the machine: the emulator is there for that.
  return {"hip", State::Note, table.status().message(),
          "nothing to do without a gfx942 or gfx950 GPU; with one, install ROCm or set "
          "WAVESMITH_HIP_LIBRARY"};
}

Finding checkEmulator() {
  const auto table = HipTable::open(DeviceChoice::Emulator);
  if (table)
    return {"emulator", State::Ok,
            fmt::format("{}: {}", (*table)->library(), describe((*table)->device())), ""};
  return {"emulator", State::Broken, table.status().message(),
          "build it (scripts/setup.sh), correct WAVESMITH_EMULATOR, or set "
          "WAVESMITH_EMULATOR_LIBRARY"};
}

/// The device that `run` takes without --device.
Finding checkDevice() {
  const auto choice = parseDeviceChoice(env::get("WAVESMITH_DEVICE"));
  if (!choice)
    return {"device", State::Broken, choice.status().message(),
            "set WAVESMITH_DEVICE to auto, hip or emulator, or unset it"};
  const auto table = HipTable::open(*choice);
  if (!table)
    return {"device", State::Broken, table.status().message(),
            "see hip and emulator above; WAVESMITH_DEVICE=emulator needs no GPU"};
  return {"device", State::Ok,
          fmt::format("{}{}", (*table)->isEmulator() ? "the emulator, as " : "",
                      describe((*table)->device())),
          ""};
}

/// Every call works without the cache, only slower: no directory is a warning. A variable that
/// cannot be read stops `run`.
Finding checkCache() {
  Finding finding{"cache", State::Warning, "", ""};
  const auto path = env::cacheDirectory();
  if (!path) {
    finding.detail = path.status().message();
    finding.remedy = "set WAVESMITH_CACHE_DIR to a directory of yours";
    return finding;
  }
  if (*path == "off") {
    finding.state = State::Note;
    finding.detail = "switched off by WAVESMITH_CACHE_DIR=off";
    return finding;
  }
  if (const auto limit = env::cacheSizeBytes(); !limit) {
    finding.state = State::Broken;
    finding.detail = limit.status().message();
    finding.remedy = "correct or unset WAVESMITH_CACHE_SIZE";
    return finding;
  }
  const auto directory = Directory::openPrivate(*path, Directory::Create::Yes);
  if (!directory) {
    finding.detail = directory.status().message();
    finding.remedy =
        fmt::format("mkdir -p {0} && chmod 700 {0}, or set WAVESMITH_CACHE_DIR", *path);
    return finding;
  }
  const std::string probe = fmt::format(".doctor-{}", getpid());
  const std::span<const std::byte> part = asBytes("probe");
  Status written = directory->publish(probe, {&part, 1});
  if (written.isOk())
    written = directory->remove(probe);
  if (!written.isOk()) {
    finding.detail = written.message();
    finding.remedy = "make room or correct the permissions, or set WAVESMITH_CACHE_DIR";
    return finding;
  }
  std::uint64_t bytes = 0, files = 0;
  const auto entries = directory->list();
  entries.ignoreError("the sizes are only for information");
  if (entries)
    for (const FileEntry &entry : *entries)
      bytes += entry.bytes, ++files;
  struct statvfs space{};
  const bool known = statvfs(path->c_str(), &space) == 0;
  const double freeMb = known ? double(space.f_bavail) * double(space.f_frsize) / 1e6 : 0;
  finding.state = State::Ok;
  finding.detail = fmt::format("{}: {} files, {:.1f} MB, {:.0f} MB free", *path, files,
                               double(bytes) / 1e6, freeMb);
  if (known && freeMb < 100) {
    finding.state = State::Note;
    finding.remedy = "the file system is nearly full; entries that do not fit are not kept";
  }
  return finding;
}

class Doctor final : public Command {
public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override {
    return "what works on this machine, and how to mend the rest";
  }
  void declare(CLI::App &) override {}

  Expected<Result> run() override {
    std::vector<Finding> findings;
    findings.push_back(checkVersions());
    findings.push_back(checkHip());
    findings.push_back(checkEmulator());
    findings.push_back(checkDevice());
    findings.push_back(checkCompiler());
    findings.push_back(checkCache());

    const bool ok = std::none_of(findings.begin(), findings.end(), [](const Finding &finding) {
      return finding.state == State::Broken;
    });
    Result result;
    result.exitCode = ok ? ExitCode::Fine : ExitCode::Environment;
    result.json = {{"ok", ok}, {"version", WAVESMITH_VERSION}, {"checks", Json::array()}};
    for (const Finding &finding : findings) {
      result.json["checks"].push_back({{"name", finding.name},
                                       {"state", stateName(finding.state)},
                                       {"detail", finding.detail},
                                       {"remedy", finding.remedy}});
      result.text +=
          fmt::format("{:<7} {:<9} {}\n", stateName(finding.state), finding.name, finding.detail);
      if (!finding.remedy.empty())
        result.text += fmt::format("{:17} -> {}\n", "", finding.remedy);
    }
    return result;
  }
};

} // namespace

std::unique_ptr<Command> makeDoctor() { return std::make_unique<Doctor>(); }

} // namespace wavesmith::cli
