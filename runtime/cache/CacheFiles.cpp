#include "runtime/cache/CacheFiles.h"

#include <algorithm>

#include "runtime/cache/Envelope.h"
#include "runtime/codeobject/Verification.h"

namespace wavesmith {
namespace {

void readEntry(const Directory &at, CacheFile &item) {
  const auto bytes = at.read(item.file.name, kMaxEnvelopeBytes);
  if (!bytes) {
    item.damage = bytes.status().message();
    return;
  }
  const auto envelope = decodeEnvelope(*bytes);
  if (!envelope) {
    item.damage = envelope.status().message();
    return;
  }
  item.specText = envelope->specText;
  item.buildKey = envelope->buildKey;
  item.kernelName = envelope->kernelName;
  item.verified = isVerificationOf(envelope->verification, envelope->payloadSha256);
  const auto spec = KernelSpec::parse(envelope->specText);
  spec.ignoreError("of another version: whole, but not of this build");
  if (spec)
    item.target = spec->target;
  const std::string name =
      fmt::format("{}-{}{}", envelope->specKey, envelope->buildKey, kEntrySuffix);
  if (name != item.file.name)
    item.damage = fmt::format("it belongs into {}", name);
}

} // namespace

CacheFileKind cacheFileKind(std::string_view name) {
  if (name.starts_with(Directory::kTemporaryPrefix))
    return CacheFileKind::Temporary;
  if (name.find(kEntrySuffix) == std::string_view::npos)
    return CacheFileKind::Foreign;
  if (name.ends_with(kDamagedSuffix))
    return CacheFileKind::Damaged;
  if (name.ends_with(kLockSuffix))
    return CacheFileKind::Lock;
  return name.ends_with(kEntrySuffix) ? CacheFileKind::Entry : CacheFileKind::Foreign;
}

Expected<std::vector<CacheFile>> inspectCache(const std::string &directory) {
  WAVESMITH_ASSIGN(const Directory at, Directory::openPrivate(directory, Directory::Create::No));
  WAVESMITH_ASSIGN(std::vector<FileEntry> files, at.list());
  std::ranges::sort(files, [](const FileEntry &a, const FileEntry &b) {
    return a.modifiedNs != b.modifiedNs ? a.modifiedNs > b.modifiedNs : a.name < b.name;
  });
  std::vector<CacheFile> items;
  for (FileEntry &file : files) {
    CacheFile item{.file = std::move(file)};
    item.kind = cacheFileKind(item.file.name);
    if (item.kind == CacheFileKind::Entry)
      readEntry(at, item);
    items.push_back(std::move(item));
  }
  return items;
}

Expected<Removed> clearCache(const std::string &directory) {
  WAVESMITH_ASSIGN(const Directory at, Directory::openPrivate(directory, Directory::Create::No));
  WAVESMITH_ASSIGN(const std::vector<FileEntry> files, at.list());
  Removed removed;
  for (const FileEntry &file : files) {
    if (cacheFileKind(file.name) == CacheFileKind::Foreign)
      continue;
    WAVESMITH_TRY(at.remove(file.name));
    ++removed.files;
    removed.bytes += file.bytes;
  }
  return removed;
}

} // namespace wavesmith
