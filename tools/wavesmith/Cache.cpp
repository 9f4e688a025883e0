// wavesmith cache: what the disk cache holds, whether it is whole, and making room in it.

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/cache/CacheFiles.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/provider/JitProvider.h"
#include "runtime/support/Env.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

constexpr double kNsPerSecond = 1e9, kMegabyte = 1e6;

std::string_view kindName(CacheFileKind kind) {
  switch (kind) {
  case CacheFileKind::Entry:
    return "entry";
  case CacheFileKind::Damaged:
    return "damaged";
  case CacheFileKind::Lock:
    return "lock";
  case CacheFileKind::Temporary:
    return "temporary";
  case CacheFileKind::Foreign:
    return "foreign";
  }
  return "foreign";
}

/// Whether a process of this build would find it.
bool isCurrent(const CacheFile &item, const Toolchain &toolchain) {
  const auto spec = KernelSpec::parse(item.specText);
  spec.ignoreError("another version's");
  return spec && buildKey(*spec, toolchain) == item.buildKey;
}

std::uint64_t totalBytes(const std::vector<CacheFile> &items) {
  std::uint64_t bytes = 0;
  for (const CacheFile &item : items)
    if (item.kind == CacheFileKind::Entry || item.kind == CacheFileKind::Damaged)
      bytes += item.file.bytes;
  return bytes;
}

class Cache final : public Command {
public:
  std::string name() const override { return "cache"; }
  std::string summary() const override { return "list, verify, prune or clear the disk cache"; }

  void declare(CLI::App &app) override {
    app.add_option("action", action_, "list, verify, prune or clear")->required();
    app.add_option("--size", size_,
                   "prune: the bytes that may stay, such as 500M; default WAVESMITH_CACHE_SIZE");
    app.add_flag("--outdated", outdated_, "prune: also every entry of another toolchain");
  }

  Expected<Result> run() override {
    WAVESMITH_TRY(checkWord("action", action_, {"list", "verify", "prune", "clear"}));
    if (action_ != "prune" && (!size_.empty() || outdated_))
      return error(StatusCode::InvalidArgument, "--size and --outdated belong to prune, not to {}",
                   action_);
    WAVESMITH_ASSIGN(bound_, size_.empty() ? env::cacheSizeBytes()
                                           : withFlag("--size", env::parseBytes(size_)));
    WAVESMITH_ASSIGN(const JitOptions jit, JitOptions::fromEnvironment());
    toolchain_ = jit.toolchain;
    WAVESMITH_ASSIGN(directory_, env::cacheDirectory());
    if (directory_ == "off")
      return Status(StatusCode::InvalidArgument,
                    "the disk cache is switched off by WAVESMITH_CACHE_DIR=off");
    if (action_ == "clear")
      return clear();
    if (action_ == "prune")
      return prune();
    WAVESMITH_ASSIGN(const std::vector<CacheFile> items, inspect());
    return action_ == "list" ? list(items) : verify(items);
  }

private:
  /// A cache that nothing was written to is empty; one that cannot be used is the machine's fault.
  Expected<std::vector<CacheFile>> inspect() const {
    Expected<std::vector<CacheFile>> items = inspectCache(directory_);
    if (items)
      return items;
    if (items.status().code() == StatusCode::NotFound)
      return std::vector<CacheFile>();
    return Status(StatusCode::Io, items.status().message());
  }

  Result answer() const {
    Result result;
    result.json = {{"ok", true}, {"directory", directory_}};
    return result;
  }

  Expected<Result> list(const std::vector<CacheFile> &items) const {
    Result result = answer();
    result.json["bound_bytes"] = bound_;
    result.json["bytes"] = totalBytes(items);
    result.json["files"] = Json::array();
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::size_t entries = 0;
    for (const CacheFile &item : items) {
      const bool entry = item.kind == CacheFileKind::Entry;
      const bool current = entry && item.damage.empty() && isCurrent(item, toolchain_);
      const double age = double(now.tv_sec) + double(now.tv_nsec) / kNsPerSecond -
                         double(item.file.modifiedNs) / kNsPerSecond;
      entries += entry;
      result.json["files"].push_back({{"file", item.file.name},
                                      {"kind", kindName(item.kind)},
                                      {"bytes", item.file.bytes},
                                      {"used_seconds_ago", std::max(0.0, age)},
                                      {"name", item.kernelName},
                                      {"spec", item.specText},
                                      {"build_key", item.buildKey},
                                      {"current", current},
                                      {"verified", item.verified},
                                      {"damage", item.damage}});
      if (entry)
        result.text += fmt::format("{:<58} {:>8} {:>10.0f} s  {}{}\n",
                                   item.damage.empty() ? item.kernelName : item.file.name,
                                   item.file.bytes, age,
                                   !item.damage.empty() ? "damaged"
                                   : current            ? "current"
                                                        : "other toolchain",
                                   item.verified ? ", verified" : "");
    }
    result.text += fmt::format("{}: {} entries, {:.1f} of at most {:.1f} MB\n", directory_, entries,
                               double(totalBytes(items)) / kMegabyte, double(bound_) / kMegabyte);
    return result;
  }

  Expected<Result> verify(const std::vector<CacheFile> &items) const {
    Result result = answer();
    std::size_t entries = 0;
    Json problems = Json::array();
    for (const CacheFile &item : items) {
      entries += item.kind == CacheFileKind::Entry;
      std::string message = item.damage;
      if (item.kind == CacheFileKind::Damaged)
        message = "it was found damaged and set aside";
      if (message.empty())
        continue;
      problems.push_back({{"file", item.file.name}, {"message", message}});
      result.text += fmt::format("damaged  {}: {}\n", item.file.name, message);
    }
    result.exitCode = problems.empty() ? ExitCode::Fine : ExitCode::Failed;
    result.text +=
        fmt::format("{:<8} {}: {} entries, {} problems\n", problems.empty() ? "ok" : "failed",
                    directory_, entries, problems.size());
    result.json["ok"] = problems.empty();
    result.json["entries"] = entries;
    result.json["problems"] = std::move(problems);
    return result;
  }

  Expected<Result> prune() const {
    // A cache goes on without a directory that it cannot use; who prunes it must be told.
    const Status usable = Directory::openPrivate(directory_, Directory::Create::No).status();
    if (usable.code() == StatusCode::NotFound)
      return removed(0, 0);
    if (!usable.isOk())
      return Status(StatusCode::Io, usable.message());
    DiskCache cache({.directory = directory_, .maxBytes = bound_});
    Removed outdated;
    if (outdated_) {
      WAVESMITH_ASSIGN(const std::vector<CacheFile> items, inspect());
      for (const CacheFile &item : items)
        if (item.kind == CacheFileKind::Entry && item.damage.empty() &&
            !isCurrent(item, toolchain_)) {
          WAVESMITH_TRY(cache.remove(item.file.name));
          ++outdated.files;
          outdated.bytes += item.file.bytes;
        }
    }
    WAVESMITH_ASSIGN(const Removed pruned, cache.prune(bound_));
    return removed(outdated.files + pruned.files, outdated.bytes + pruned.bytes);
  }

  Expected<Result> clear() const {
    const Expected<Removed> cleared = clearCache(directory_);
    if (cleared)
      return removed(cleared->files, cleared->bytes);
    if (cleared.status().code() == StatusCode::NotFound)
      return removed(0, 0);
    return Status(StatusCode::Io, cleared.status().message());
  }

  Result removed(std::uint64_t files, std::uint64_t bytes) const {
    Result result = answer();
    result.json["removed_files"] = files;
    result.json["removed_bytes"] = bytes;
    result.text = fmt::format("{}: {} files removed, {:.1f} MB\n", directory_, files,
                              double(bytes) / kMegabyte);
    return result;
  }

  std::string action_, size_, directory_;
  bool outdated_ = false;
  std::uint64_t bound_ = 0;
  Toolchain toolchain_;
};

} // namespace

std::unique_ptr<Command> makeCache() { return std::make_unique<Cache>(); }

} // namespace wavesmith::cli
