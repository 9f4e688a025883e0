#include "runtime/cache/DiskCache.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "runtime/cache/CacheFiles.h"
#include "runtime/support/FileLock.h"
#include "runtime/support/Log.h"

namespace wavesmith {
namespace {

constexpr int kDamagedNames = 16; ///< of one entry
constexpr std::int64_t kSecond = 1'000'000'000;
// A hit moves its entry up the LRU order at most this often: a write per hit buys nothing.
constexpr std::int64_t kTouchAfter = 60 * kSecond;
// No writer takes this long, so an older temporary file is what a killed one left.
constexpr std::int64_t kDeadAfter = 3600 * kSecond;

std::int64_t nowNs() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

class DiskClaim : public Claim {
public:
  explicit DiskClaim(FileLock lock) : lock_(std::move(lock)) {}

private:
  FileLock lock_;
};

} // namespace

DiskCache::DiskCache(DiskCacheOptions options) : options_(std::move(options)) {}

std::string DiskCache::entryName(const KernelSpec &spec) const {
  return fmt::format("{}-{}{}", spec.key(), buildKey(spec, options_.toolchain), kEntrySuffix);
}

std::string DiskCache::entryPath(const KernelSpec &spec) const {
  return options_.directory + "/" + entryName(spec);
}

void DiskCache::warnOnce(const Status &status) {
  if (!warned_.exchange(true))
    log::warn("cache", "going on without the disk cache: {}", status.message());
  else
    log::info("cache", "disk cache: {}", status.message());
}

const Directory *DiskCache::directory(Directory::Create create) {
  if (const Directory *opened = opened_.load(std::memory_order_acquire))
    return opened;
  if (refused_.load(std::memory_order_relaxed))
    return nullptr;
  const std::lock_guard lock(mutex_);
  if (directory_)
    return &*directory_;
  Expected<Directory> opened = Directory::openPrivate(options_.directory, create);
  if (!opened) {
    const Status status = opened.status();
    // A missing directory is an empty cache until the first write has to make it.
    if (create == Directory::Create::Yes || status.code() != StatusCode::NotFound) {
      refused_ = true;
      warnOnce(status);
    }
    return nullptr;
  }
  directory_.emplace(*std::move(opened));
  opened_.store(&*directory_, std::memory_order_release);
  return &*directory_;
}

Expected<SharedCodeObject> DiskCache::get(const KernelSpec &spec) {
  const std::string build = buildKey(spec, options_.toolchain);
  const auto miss = [&] {
    ++misses_;
    return error(StatusCode::NotFound, "the disk cache has no entry of [{}], build key {}",
                 spec.text(), build);
  };
  const Directory *at = directory(Directory::Create::No);
  if (!at)
    return miss();
  FileEntry entry;
  entry.name = entryName(spec);
  const Expected<std::vector<std::byte>> bytes = at->read(entry.name, kMaxEnvelopeBytes, &entry);
  if (!bytes) {
    const Status status = bytes.status();
    // Out of descriptors or memory says nothing about the entry.
    if (status.code() != StatusCode::NotFound && status.code() != StatusCode::ResourceExhausted)
      setAside(*at, entry, status);
    return miss();
  }
  Expected<SharedCodeObject> object = openEnvelope(*bytes, spec, build, name());
  if (!object) {
    setAside(*at, entry, object.status());
    return miss();
  }
  if (nowNs() - entry.modifiedNs > kTouchAfter)
    at->touch(entry.name).ignoreError("a read-only cache has no LRU order to keep");
  ++hits_;
  return object;
}

void DiskCache::setAside(const Directory &at, const FileEntry &entry, const Status &reason) {
  ++damaged_;
  const std::string path = at.path() + "/" + entry.name;
  log::warn("cache", "entry damaged, set aside and rebuilt path={} reason=\"{}\"", path,
            reason.message());
  if (options_.onDamaged)
    options_.onDamaged(path, reason);
  // Another process may have put a good entry there since; what we did not read stays.
  const Expected<FileEntry> now = at.stat(entry.name);
  if (!now || (entry.inode != 0 && now->inode != entry.inode)) {
    now.ignoreError("gone or replaced: nothing to set aside");
    return;
  }
  // A directory takes no file's name, nor a file a directory's: then under another one.
  Status renamed = at.rename(entry.name, entry.name + std::string(kDamagedSuffix));
  for (int i = 2; i <= kDamagedNames && !renamed.isOk(); ++i)
    renamed = at.rename(entry.name, fmt::format("{}.{}{}", entry.name, i, kDamagedSuffix));
  if (!renamed.isOk() && renamed.code() != StatusCode::NotFound)
    warnOnce(renamed);
}

void DiskCache::put(const KernelSpec &spec, const SharedCodeObject &object) {
  const Directory *at = directory(Directory::Create::Yes);
  if (!at)
    return;
  const std::vector<std::byte> header = encodeEnvelope(*object, spec, options_.toolchain);
  if (header.size() + object->bytes.size() > std::min(options_.maxBytes, kMaxEnvelopeBytes))
    return;
  const std::array parts = {std::span<const std::byte>(header),
                            std::span<const std::byte>(object->bytes)};
  Status status = at->publish(entryName(spec), parts);
  if (status.code() == StatusCode::NotFound) // `wavesmith cache clear` took the file on its way
    status = at->publish(entryName(spec), parts);
  if (!status.isOk()) {
    ++storeFailures_;
    warnOnce(status);
    return;
  }
  ++stored_;
  if (const auto pruned = prune(options_.maxBytes); !pruned)
    log::info("cache", "not pruned: {}", pruned.status().message());
}

std::unique_ptr<Claim> DiskCache::claim(const KernelSpec &spec) {
  const Directory *at = directory(Directory::Create::Yes);
  if (!at)
    return nullptr;
  Expected<FileLock> lock = FileLock::acquire(*at, entryName(spec) + std::string(kLockSuffix),
                                              options_.lockDeadline, options_.lockNotice);
  if (lock) {
    if (lock->waited())
      ++lockWaits_;
    return std::make_unique<DiskClaim>(*std::move(lock));
  }
  const Status status = lock.status();
  if (status.code() == StatusCode::Timeout) {
    // The holder may hang; two builders are fine, the rename decides.
    ++lockTimeouts_;
    log::warn("cache", "building without the lock: {}", status.message());
  } else {
    log::info("cache", "building without a lock: {}", status.message());
  }
  return nullptr;
}

std::vector<KernelSpec> DiskCache::list() const {
  std::vector<KernelSpec> specs;
  // Its own descriptor: listing is for messages and must not change what get() sees.
  const Expected<Directory> at = Directory::openPrivate(options_.directory, Directory::Create::No);
  if (!at) {
    at.ignoreError("no directory, no entries");
    return specs;
  }
  const Expected<std::vector<FileEntry>> files = at->list();
  if (!files) {
    files.ignoreError("for messages only");
    return specs;
  }
  for (const FileEntry &file : *files) {
    if (!file.name.ends_with(kEntrySuffix))
      continue;
    const auto bytes = at->read(file.name, kMaxEnvelopeBytes);
    if (!bytes) {
      bytes.ignoreError("evicted meanwhile");
      continue;
    }
    const auto envelope = decodeEnvelope(*bytes);
    const auto spec = envelope ? KernelSpec::parse(envelope->specText) : envelope.status();
    if (spec)
      specs.push_back(*spec);
    envelope.ignoreError("get() reports damage, a list does not");
    spec.ignoreError("a spec of another version is not at hand");
  }
  return specs;
}

Expected<Removed> DiskCache::prune(std::uint64_t maxBytes) {
  Removed removed;
  const Directory *at = directory(Directory::Create::No);
  if (!at)
    return removed;
  WAVESMITH_ASSIGN(std::vector<FileEntry> files, at->list());
  const std::int64_t now = nowNs();
  std::uint64_t total = 0;
  for (FileEntry &file : files) {
    // A lock's file that is removed while held costs a second build at worst.
    if (file.name.starts_with(Directory::kTemporaryPrefix) || file.name.ends_with(kLockSuffix)) {
      if (now - file.modifiedNs > kDeadAfter) {
        WAVESMITH_TRY(at->remove(file.name));
        ++removed.files;
        removed.bytes += file.bytes;
      }
      file.bytes = 0;
      continue;
    }
    // What is damaged is kept for a look, but is the first to go.
    if (file.name.ends_with(kDamagedSuffix))
      file.modifiedNs = 0;
    else if (!file.name.ends_with(kEntrySuffix))
      file.bytes = 0;
    total += file.bytes;
  }
  std::ranges::sort(files, {}, &FileEntry::modifiedNs);
  for (const FileEntry &file : files) {
    if (total <= maxBytes)
      break;
    if (file.bytes == 0)
      continue;
    WAVESMITH_TRY(at->remove(file.name));
    total -= file.bytes;
    ++removed.files;
    removed.bytes += file.bytes;
    ++evicted_;
    log::info("cache", "entry evicted name={} bytes={}", file.name, file.bytes);
  }
  return removed;
}

Status DiskCache::remove(const std::string &name) {
  const Directory *at = directory(Directory::Create::No);
  return at ? at->remove(name) : Status::ok();
}

DiskCacheCounters DiskCache::counters() const {
  return {hits_, misses_, stored_, storeFailures_, damaged_, evicted_, lockWaits_, lockTimeouts_};
}

} // namespace wavesmith
