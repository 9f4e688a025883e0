#include "runtime/bundle/BundleWriter.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/codeobject/Verification.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Log.h"

namespace wavesmith {
namespace {

namespace fs = std::filesystem;

} // namespace

Expected<std::unique_ptr<BundleWriter>> BundleWriter::open(const std::string &directory,
                                                           const Toolchain &toolchain) {
  std::error_code code;
  const bool existed = fs::exists(directory, code);
  fs::create_directories(directory, code);
  if (code)
    return systemError(code.value(), "create directory", directory);
  FileDescriptor lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock)
    return systemError(errno, "open directory", directory);
  // A file system without locks has nothing to refuse with; then the user is the lock.
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return error(StatusCode::Io, "another build writes into {}; wait for it or name another",
                 directory);
  std::unique_ptr<BundleWriter> writer(
      new BundleWriter(directory, toolchain, std::move(lock), !existed));
  writer->readEarlier(BundleManifest::kName);
  writer->readEarlier(kPartialName);
  return writer;
}

BundleWriter::~BundleWriter() {
  if (created_)
    ::rmdir(directory_.c_str()); // refused unless it is empty
}

std::string BundleWriter::pathOf(std::string_view name) const {
  return (fs::path(directory_) / name).string();
}

void BundleWriter::readEarlier(std::string_view name) {
  const std::string path = pathOf(name);
  Expected<std::string> text = readTextFile(path, BundleManifest::kMaxBytes);
  if (!text) {
    if (text.status().code() != StatusCode::NotFound)
      log::warn("bundle", "earlier manifest not used: {}", text.status().message());
    return;
  }
  Expected<BundleManifest> manifest = BundleManifest::parse(*text, path);
  if (!manifest) {
    log::warn("bundle", "earlier manifest not used: {}", manifest.status().message());
    return;
  }
  if (!sameToolchain(manifest->toolchain, toolchain_))
    return;
  for (BundleEntry &entry : manifest->entries) {
    std::string key = entry.specKey;
    earlier_.insert_or_assign(std::move(key), std::move(entry));
  }
}

bool BundleWriter::keep(const KernelSpec &spec, bool verified) {
  const auto found = earlier_.find(spec.key());
  if (found == earlier_.end() || found->second.buildKey != buildKey(spec, toolchain_) ||
      (verified && found->second.verification.empty()))
    return false;
  const Status whole = Bundle::load(directory_, found->second).status();
  if (!whole.isOk()) {
    log::warn("bundle", "made anew: {}", whole.message());
    return false;
  }
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(found->first, found->second);
  return true;
}

Status BundleWriter::add(const KernelSpec &spec, const CodeObjectBlob &object) {
  BundleEntry entry{.kernel = object.kernelName,
                    .target = spec.target,
                    .specText = spec.text(),
                    .specKey = spec.key(),
                    .buildKey = buildKey(spec, toolchain_),
                    .sha256 = sha256Hex(object.bytes),
                    .bytes = object.bytes.size(),
                    .verification = {}};
  entry.file = bundleFileName(spec, entry.sha256);
  // One of another object, or damaged, says nothing here, and the manifest would be refused for it.
  if (isVerificationOf(object.verification, entry.sha256))
    entry.verification = object.verification;
  WAVESMITH_TRY(publishFile(pathOf(entry.file), object.bytes));
  const std::lock_guard lock(mutex_);
  created_ = false;
  entries_.insert_or_assign(entry.specKey, std::move(entry));
  std::vector<BundleEntry> all;
  // Also what nobody asked for yet: an interrupted build loses nothing.
  for (const auto &[key, earlier] : earlier_)
    if (!entries_.contains(key))
      all.push_back(earlier);
  for (const auto &[key, added] : entries_)
    all.push_back(added);
  return publishFile(pathOf(kPartialName), asBytes(manifestOf(all).print()));
}

const BundleEntry *BundleWriter::find(const KernelSpec &spec) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(spec.key());
  return found == entries_.end() ? nullptr : &found->second;
}

BundleManifest BundleWriter::manifestOf(std::span<const BundleEntry> entries) const {
  BundleManifest manifest{.toolchain = toolchain_, .targets = {}, .entries = {}};
  std::set<std::string> targets;
  for (const BundleEntry &entry : entries) {
    targets.insert(entry.target);
    manifest.entries.push_back(entry);
  }
  manifest.targets.assign(targets.begin(), targets.end());
  return manifest;
}

Expected<std::size_t> BundleWriter::finish(std::span<const KernelSpec> specs) {
  std::vector<BundleEntry> entries;
  for (const KernelSpec &spec : specs) {
    const BundleEntry *entry = find(spec);
    if (!entry)
      return error(StatusCode::Internal, "the bundle lacks the kernel [{}]", spec.text());
    entries.push_back(*entry);
  }
  const BundleManifest manifest = manifestOf(entries);
  // One that nobody could read must not take the place of one that is read.
  WAVESMITH_TRY(BundleManifest::parse(manifest.print(), pathOf(BundleManifest::kName)).status());
  WAVESMITH_TRY(publishFile(pathOf(BundleManifest::kName), asBytes(manifest.print())));
  created_ = false;
  return removeOthers(manifest);
}

/// Only what a build of ours wrote; the manifest no longer names any of it.
Expected<std::size_t> BundleWriter::removeOthers(const BundleManifest &manifest) const {
  std::size_t objects = 0;
  std::vector<fs::path> others;
  std::error_code code;
  fs::directory_iterator item(directory_, code);
  for (; !code && item != fs::directory_iterator(); item.increment(code)) {
    const std::string name = item->path().filename().string();
    const bool listed =
        std::ranges::find(manifest.entries, name, &BundleEntry::file) != manifest.entries.end();
    const bool object = isBundleFileName(name) && !listed;
    if (object || name == kPartialName || name.starts_with(Directory::kTemporaryPrefix))
      others.push_back(item->path());
    objects += object;
  }
  for (const fs::path &path : others)
    if (!code)
      fs::remove(path, code);
  if (code)
    return error(StatusCode::Io, "remove the objects of an earlier build from {}: {}", directory_,
                 code.message());
  return objects;
}

} // namespace wavesmith
