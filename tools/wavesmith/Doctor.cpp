// wavesmith doctor: what works on this machine, what does not, and how to mend it. Every finding
// comes from doing the thing (opening, compiling, writing), not from looking for files.

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/bundle/Bundle.h"
#include "runtime/cache/KernelStore.h"
#include "runtime/dispatch/policy/Policy.h"
#include "runtime/dispatch/tuning/TuningDatabase.h"
#include "runtime/hip/HipTable.h"
#include "runtime/provider/JitProvider.h"
#include "runtime/spec/KernelFamily.h"
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
  const auto object = provider.get(attentionFamily("gfx942").front());
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

/// Every bundle, and every object in it.
Finding checkBundles() {
  Finding finding{"bundles", State::Note, "none: WAVESMITH_BUNDLES is not set", ""};
  if (const auto any = env::anyBundleToolchain(); !any)
    return {"bundles", State::Broken, any.status().message(),
            "correct or unset WAVESMITH_BUNDLE_TOOLCHAIN"};
  const std::vector<std::string> directories = env::bundleDirectories();
  if (directories.empty())
    return finding;
  std::string fine, wrong;
  for (const std::string &directory : directories) {
    const auto bundle = Bundle::open(directory);
    if (!bundle) {
      wrong += fmt::format("{}{}", wrong.empty() ? "" : "; ", bundle.status().message());
      continue;
    }
    for (const BundleProblem &problem : bundle->verify())
      wrong += fmt::format("{}{}: {}", wrong.empty() ? "" : "; ", problem.file, problem.message);
    fine +=
        fmt::format("{}{}: {} kernels for {}{}", fine.empty() ? "" : "; ", directory,
                    bundle->manifest().entries.size(), fmt::join(bundle->manifest().targets, ", "),
                    sameToolchain(bundle->manifest().toolchain, Toolchain::builtin())
                        ? ""
                        : ", of another toolchain");
  }
  if (!wrong.empty())
    return {"bundles", State::Warning, wrong,
            "correct WAVESMITH_BUNDLES, or build the bundle again: wavesmith build ... -o DIR"};
  return {"bundles", State::Ok, fine, ""};
}

/// Asks it for a key that nobody stores.
Finding checkRemote() {
  const std::string url = env::get("WAVESMITH_REMOTE");
  if (url.empty())
    return {"remote", State::Note, "none: WAVESMITH_REMOTE is not set", ""};
  const auto wrong = [](const Status &status) {
    return Finding{"remote", State::Broken, status.message(), "correct or unset the variable"};
  };
  const auto address = RedisAddress::parse(url);
  if (!address)
    return wrong(address.status());
  const auto limit = env::remoteTimeoutMs();
  if (!limit)
    return wrong(limit.status());
  const std::chrono::milliseconds timeout(*limit);
  const auto start = std::chrono::steady_clock::now();
  auto client = RedisClient::connect(*address, timeout);
  Status status = client.status();
  if (client)
    status = client->get("wavesmith:doctor", timeout, 1024).status();
  if (!status.isOk())
    return {
        "remote", State::Warning, status.message(),
        "start the server, or correct or unset WAVESMITH_REMOTE; kernels are compiled meanwhile"};
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return {"remote", State::Ok,
          fmt::format("{}: answers in {:.1f} ms", address->text(), elapsed.count()), ""};
}

/// What decides between BF16 and FP8.
Finding checkDispatch() {
  const auto policy = policy::Policy::fromEnvironment();
  if (!policy)
    return {"dispatch", State::Broken, policy.status().message(),
            "correct or unset WAVESMITH_POLICY"};
  const std::string text = fmt::format("policy {}", policy->name());
  const std::string path = env::get("WAVESMITH_TUNING");
  if (path.empty() || path == "off")
    return {"dispatch", State::Ok, text + ", no tuning database", ""};
  const auto records = tuning::readDatabase(path);
  if (!records)
    return {"dispatch", State::Broken, records.status().message(),
            "correct or unset WAVESMITH_TUNING"};
  const std::string ours = tuning::toolchainId(Toolchain::builtin());
  const auto usable = std::ranges::count(*records, ours, &tuning::Record::toolchain);
  return {
      "dispatch", State::Ok,
      fmt::format("{}, {}: {} records, {} of this version", text, path, records->size(), usable),
      usable > 0 ? "" : "record again: wavesmith bench --record"};
}

/// What the settings allow, and whether verification works if they ask for it. A variable that
/// cannot be read is reported where it belongs.
Finding checkPolicy() {
  const auto verified = env::verifyKernels();
  if (!verified)
    return {"policy", State::Broken, verified.status().message(),
            "correct or unset WAVESMITH_VERIFY"};
  const auto jit = JitOptions::fromEnvironment();
  const auto anyToolchain = env::anyBundleToolchain();
  if (!jit || !anyToolchain)
    return {"policy", State::Note, "not known: see compiler and bundles above", ""};
  const std::string policy = fmt::format(
      "compiling {}, bundles of {}, verification {}", jit->allowed ? "allowed" : "forbidden",
      *anyToolchain ? "any toolchain" : "this toolchain", *verified ? "by the emulator" : "off");
  if (!*verified || !jit->allowed)
    return {"policy", State::Ok, policy, ""};
  KernelStoreOptions options;
  options.jit = *jit;
  options.verifyOnEmulator();
  const auto object = JitProvider(options.jit).get(attentionFamily("gfx942").front());
  if (object)
    return {"policy", State::Ok, policy + ", which works", ""};
  return {
      "policy", State::Broken, object.status().message(),
      "install wavesmith-verify beside wavesmith (scripts/setup.sh), set WAVESMITH_VERIFIER, or "
      "unset WAVESMITH_VERIFY"};
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
    findings.push_back(checkBundles());
    findings.push_back(checkRemote());
    findings.push_back(checkPolicy());
    findings.push_back(checkDispatch());

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
