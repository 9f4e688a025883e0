#include "runtime/bundle/Bundle.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "runtime/codeobject/Note.h"
#include "runtime/provider/ObjectCheck.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"

namespace wavesmith {
namespace {

namespace fs = std::filesystem;

/// A fifo in a file's place would block whoever opens it.
Expected<std::vector<std::byte>> readRegular(const std::string &path, std::uint64_t limit) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found)
    return error(StatusCode::NotFound, "open {}: there is no such file", path);
  if (!fs::is_regular_file(status))
    return error(StatusCode::Corrupt, "open {}: {}", path,
                 code ? code.message() : "not a regular file");
  return readFile(path, limit);
}

Status checkBuildKey(const BundleEntry &entry, const SharedCodeObject &object) {
  WAVESMITH_ASSIGN(const CodeObject parsed, CodeObject::parse(object->bytes, entry.file));
  WAVESMITH_ASSIGN(const ObjectNote note,
                   parseNote(parsed.wavesmithNote().value_or(""), entry.file));
  if (note.buildKey == entry.buildKey)
    return Status::ok();
  return error(StatusCode::Corrupt, "the object is of build key {}, the manifest says {}",
               note.buildKey, entry.buildKey);
}

} // namespace

Expected<Bundle> Bundle::open(const std::string &directory) {
  const std::string path = (fs::path(directory) / BundleManifest::kName).string();
  WAVESMITH_ASSIGN(const std::vector<std::byte> bytes,
                   readRegular(path, BundleManifest::kMaxBytes));
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  WAVESMITH_ASSIGN(BundleManifest manifest, BundleManifest::parse(text, path));
  return Bundle(directory, std::move(manifest));
}

std::string Bundle::pathOf(const BundleEntry &entry) const {
  return (fs::path(directory_) / entry.file).string();
}

Expected<SharedCodeObject> Bundle::load(const std::string &directory, const BundleEntry &entry) {
  const std::string path = (fs::path(directory) / entry.file).string();
  std::error_code code;
  if (const std::uintmax_t size = fs::file_size(path, code); !code && size > entry.bytes)
    return error(StatusCode::Corrupt, "{}: {} bytes, the manifest says {}", path, size,
                 entry.bytes);
  Expected<std::vector<std::byte>> bytes = readRegular(path, entry.bytes + 1);
  if (!bytes)
    return bytes.status();
  if (bytes->size() != entry.bytes)
    return error(StatusCode::Corrupt, "{}: {} bytes, the manifest says {}", path, bytes->size(),
                 entry.bytes);
  if (const std::string digest = sha256Hex(*bytes); digest != entry.sha256)
    return error(StatusCode::Corrupt, "{}: SHA-256 {}, the manifest says {}", path, digest,
                 entry.sha256);
  const Expected<KernelSpec> spec = KernelSpec::parse(entry.specText);
  if (!spec)
    return spec.status().withContext(path);
  auto object = std::make_shared<CodeObjectBlob>();
  object->bytes = *std::move(bytes);
  object->kernelName = entry.kernel;
  object->provider = "bundle";
  object->verification = entry.verification;
  if (entry.target != spec->target)
    return error(StatusCode::Corrupt, "{}: the manifest says target {}, the spec [{}]", path,
                 entry.target, entry.specText);
  WAVESMITH_TRY(checkKernelObject(*spec, *object).status().withContext(path));
  WAVESMITH_TRY(checkBuildKey(entry, object).withContext(path));
  return SharedCodeObject(std::move(object));
}

std::vector<BundleProblem> Bundle::verify() const {
  std::vector<BundleProblem> problems;
  for (const BundleEntry &entry : manifest_.entries)
    if (const Status status = load(entry).status(); !status.isOk())
      problems.push_back({entry.file, status.message()});
  std::vector<BundleProblem> strays;
  std::error_code code;
  fs::directory_iterator item(directory_, code);
  for (; !code && item != fs::directory_iterator(); item.increment(code)) {
    const std::string name = item->path().filename().string();
    const bool listed =
        std::ranges::find(manifest_.entries, name, &BundleEntry::file) != manifest_.entries.end();
    if (!listed && item->path().extension() == ".co")
      strays.push_back({name, "the manifest does not list it"});
  }
  if (code)
    strays.push_back({"", fmt::format("list {}: {}", directory_, code.message())});
  std::ranges::sort(strays, {}, &BundleProblem::file);
  problems.insert(problems.end(), strays.begin(), strays.end());
  return problems;
}

} // namespace wavesmith
