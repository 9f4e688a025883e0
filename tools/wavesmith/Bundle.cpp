// wavesmith bundle: what bundles hold, whether they are whole, and how two of them differ.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/bundle/Bundle.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

std::string describe(const Toolchain &toolchain) {
  return fmt::format("LLVM {}, compiler {:.12}, templates {:.12}{}", toolchain.llvmVersion,
                     toolchain.compilerBuild, toolchain.templateDigest,
                     sameToolchain(toolchain, Toolchain::builtin()) ? " (this one)" : "");
}

Json toolchainJson(const Toolchain &toolchain) {
  return {{"template_digest", toolchain.templateDigest},
          {"compiler_build", toolchain.compilerBuild},
          {"llvm_version", toolchain.llvmVersion},
          {"environment", toolchain.environment},
          {"same", sameToolchain(toolchain, Toolchain::builtin())}};
}

Json entryJson(const BundleEntry &entry) {
  return {{"name", entry.kernel},
          {"file", entry.file},
          {"target", entry.target},
          {"spec", entry.specText},
          {"spec_key", entry.specKey},
          {"build_key", entry.buildKey},
          {"sha256", entry.sha256},
          {"bytes", entry.bytes},
          {"verified", !entry.verification.empty()}};
}

struct Totals {
  std::uint64_t bytes = 0, verified = 0;

  explicit Totals(const BundleManifest &manifest) {
    for (const BundleEntry &entry : manifest.entries) {
      bytes += entry.bytes;
      verified += !entry.verification.empty();
    }
  }
};

class BundleCommand final : public Command {
public:
  std::string name() const override { return "bundle"; }
  std::string summary() const override { return "list, verify or compare bundles of `build`"; }

  void declare(CLI::App &app) override {
    app.add_option("action", action_, "list, verify or diff")->required();
    app.add_option("directories", directories_, "Bundles; for diff two of them")->required();
    app.add_option("--targets", targets_, "verify: it must hold kernels of exactly these");
    app.add_flag("--require-verified", requireVerified_,
                 "verify: every kernel must have a verification record");
  }

  Expected<Result> run() override {
    WAVESMITH_TRY(checkWord("action", action_, {"list", "verify", "diff"}));
    if (action_ != "verify" && (!targets_.empty() || requireVerified_))
      return error(StatusCode::InvalidArgument,
                   "--targets and --require-verified belong to verify, not to {}", action_);
    if (action_ == "list")
      return list();
    if (action_ == "verify")
      return verify();
    if (directories_.size() != 2)
      return error(StatusCode::InvalidArgument, "diff compares 2 bundles, {} are given",
                   directories_.size());
    return diff();
  }

private:
  Expected<Result> list() const {
    Result result;
    result.json = {{"ok", true}, {"bundles", Json::array()}};
    for (const std::string &directory : directories_) {
      WAVESMITH_ASSIGN(const Bundle bundle, Bundle::open(directory));
      const BundleManifest &manifest = bundle.manifest();
      Json row = {{"directory", directory},
                  {"targets", manifest.targets},
                  {"toolchain", toolchainJson(manifest.toolchain)},
                  {"kernels", Json::array()}};
      result.text += fmt::format("{}: for {}; {}\n", directory, fmt::join(manifest.targets, ", "),
                                 describe(manifest.toolchain));
      for (const BundleEntry &entry : manifest.entries) {
        row["kernels"].push_back(entryJson(entry));
        result.text += fmt::format("  {:<58} {:>8}  {}\n", entry.kernel, entry.bytes,
                                   entry.verification.empty() ? "" : "verified");
      }
      const Totals totals(manifest);
      result.text += fmt::format("  {} kernels, {:.1f} MB, {} verified\n", manifest.entries.size(),
                                 double(totals.bytes) / 1e6, totals.verified);
      result.json["bundles"].push_back(std::move(row));
    }
    return result;
  }

  Expected<Result> verify() const {
    std::vector<std::string> targets;
    if (!targets_.empty()) {
      WAVESMITH_ASSIGN(targets, parseList("--targets", targets_));
      for (const std::string &target : targets)
        WAVESMITH_TRY(withFlag("--targets", parseTarget(target)).status());
      std::ranges::sort(targets);
      targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    }
    Result result;
    result.json = {{"ok", true}, {"bundles", Json::array()}};
    for (const std::string &directory : directories_) {
      Json row = {{"directory", directory}, {"kernels", 0}, {"verified", 0}, {"bytes", 0}};
      std::vector<BundleProblem> problems;
      const Expected<Bundle> bundle = Bundle::open(directory);
      if (bundle) {
        problems = check(*bundle, targets);
        const Totals totals(bundle->manifest());
        row["kernels"] = bundle->manifest().entries.size();
        row["verified"] = totals.verified;
        row["bytes"] = totals.bytes;
      } else if (bundle.status().code() == StatusCode::Corrupt) {
        problems.push_back({std::string(BundleManifest::kName), bundle.status().message()});
      } else {
        return bundle.status();
      }
      row["problems"] = Json::array();
      for (const BundleProblem &problem : problems) {
        row["problems"].push_back({{"file", problem.file}, {"message", problem.message}});
        result.text += fmt::format("damaged  {}: {}\n", problem.file, problem.message);
      }
      if (!problems.empty()) {
        result.exitCode = ExitCode::Failed;
        result.json["ok"] = false;
      }
      result.text += fmt::format("{:<8} {}: {} kernels, {} verified, {} problems\n",
                                 problems.empty() ? "ok" : "failed", directory,
                                 row["kernels"].get<std::uint64_t>(),
                                 row["verified"].get<std::uint64_t>(), problems.size());
      result.json["bundles"].push_back(std::move(row));
    }
    return result;
  }

  std::vector<BundleProblem> check(const Bundle &bundle,
                                   const std::vector<std::string> &targets) const {
    std::vector<BundleProblem> problems = bundle.verify();
    const BundleManifest &manifest = bundle.manifest();
    const auto wrong = [&](std::string message) {
      problems.push_back({std::string(BundleManifest::kName), std::move(message)});
    };
    if (!targets.empty() && manifest.targets != targets)
      wrong(fmt::format("it is for {}, --targets asks for {}", fmt::join(manifest.targets, ", "),
                        fmt::join(targets, ", ")));
    if (requireVerified_)
      for (const BundleEntry &entry : manifest.entries)
        if (entry.verification.empty())
          wrong(fmt::format("{} has no verification record", entry.kernel));
    return problems;
  }

  Expected<Result> diff() const {
    WAVESMITH_ASSIGN(const Bundle a, Bundle::open(directories_[0]));
    WAVESMITH_ASSIGN(const Bundle b, Bundle::open(directories_[1]));
    Json onlyA = Json::array(), onlyB = Json::array(), changed = Json::array();
    Result result;
    for (const BundleEntry &entry : a.manifest().entries) {
      const BundleEntry *other = b.manifest().find(entry.specKey);
      if (!other) {
        onlyA.push_back(entryJson(entry));
        result.text += fmt::format("-  {}\n", entry.kernel);
      } else if (other->sha256 != entry.sha256 || other->buildKey != entry.buildKey) {
        const bool sameBuild = other->buildKey == entry.buildKey;
        changed.push_back({{"name", entry.kernel},
                           {"spec", entry.specText},
                           {"spec_key", entry.specKey},
                           {"same_build_key", sameBuild},
                           {"sha256", {entry.sha256, other->sha256}},
                           {"bytes", {entry.bytes, other->bytes}}});
        result.text += fmt::format("!  {}  {} -> {} bytes{}{}\n", entry.kernel, entry.bytes,
                                   other->bytes, entry.sha256 == other->sha256 ? ", same code" : "",
                                   sameBuild ? "" : ", another toolchain");
      }
    }
    for (const BundleEntry &entry : b.manifest().entries)
      if (!a.manifest().find(entry.specKey)) {
        onlyB.push_back(entryJson(entry));
        result.text += fmt::format("+  {}\n", entry.kernel);
      }
    const bool same = onlyA.empty() && onlyB.empty() && changed.empty();
    result.exitCode = same ? ExitCode::Fine : ExitCode::Failed;
    result.text += fmt::format("{} only in {}, {} only in {}, {} changed\n", onlyA.size(),
                               directories_[0], onlyB.size(), directories_[1], changed.size());
    result.json = {
        {"ok", same},
        {"a", directories_[0]},
        {"b", directories_[1]},
        {"same_toolchain", sameToolchain(a.manifest().toolchain, b.manifest().toolchain)},
        {"only_a", std::move(onlyA)},
        {"only_b", std::move(onlyB)},
        {"changed", std::move(changed)}};
    return result;
  }

  std::string action_, targets_;
  std::vector<std::string> directories_;
  bool requireVerified_ = false;
};

} // namespace

std::unique_ptr<Command> makeBundle() { return std::make_unique<BundleCommand>(); }

} // namespace wavesmith::cli
