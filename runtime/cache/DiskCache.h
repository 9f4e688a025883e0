#pragma once
// Code objects on disk, one file per entry, shared by every process of one user. Entries appear
// whole or not at all; what fails its checksum is reported, set aside and made anew. Nothing here
// fails a request: without a usable directory the cache is merely empty. Any thread.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/cache/CacheFiles.h"
#include "runtime/cache/Envelope.h"
#include "runtime/provider/Provider.h"
#include "runtime/support/Files.h"

namespace wavesmith {

struct DiskCacheOptions {
  std::string directory; ///< made with mode 0700 at the first write
  std::uint64_t maxBytes = std::uint64_t{1} << 30;
  /// How long to wait for another process that makes the same kernel before making it as well.
  std::chrono::milliseconds lockDeadline{10'000};
  /// A longer wait for that process is said in the log.
  std::chrono::milliseconds lockNotice{2'000};
  Toolchain toolchain = Toolchain::builtin();
  /// Told of every damaged entry, besides the log.
  std::function<void(const std::string &path, const Status &reason)> onDamaged;
};

struct DiskCacheCounters {
  std::uint64_t hits = 0, misses = 0, stored = 0, storeFailures = 0;
  std::uint64_t damaged = 0, evicted = 0, lockWaits = 0, lockTimeouts = 0;
};

class DiskCache : public Provider {
public:
  explicit DiskCache(DiskCacheOptions options);

  std::string_view name() const override { return "disk"; }
  Expected<SharedCodeObject> get(const KernelSpec &spec) override;
  void put(const KernelSpec &spec, const SharedCodeObject &object) override;
  std::unique_ptr<Claim> claim(const KernelSpec &spec) override;
  std::vector<KernelSpec> list() const override;

  /// Evicts the least recently used entries until at most `maxBytes` remain; the rest of dead
  /// writers goes too. Says what went.
  Expected<Removed> prune(std::uint64_t maxBytes);
  /// Removes the file of that name, if it is there.
  Status remove(const std::string &name);
  DiskCacheCounters counters() const;
  /// Path of the entry of a spec, whether it exists or not.
  std::string entryPath(const KernelSpec &spec) const;

private:
  std::string entryName(const KernelSpec &spec) const;
  /// The directory, opened on demand; null when it is missing or refused.
  const Directory *directory(Directory::Create create);
  void setAside(const Directory &at, const FileEntry &entry, const Status &reason);
  void warnOnce(const Status &status);

  const DiskCacheOptions options_;
  std::mutex mutex_; ///< guards opening
  std::optional<Directory> directory_;
  std::atomic<const Directory *> opened_{nullptr};
  std::atomic<bool> refused_{false}, warned_{false};
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, stored_{0}, storeFailures_{0}, damaged_{0},
      evicted_{0}, lockWaits_{0}, lockTimeouts_{0};
};

} // namespace wavesmith
