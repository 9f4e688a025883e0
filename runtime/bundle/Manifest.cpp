#include "runtime/bundle/Manifest.h"

#include <algorithm>
#include <set>

#include "runtime/codeobject/Verification.h"
#include "runtime/json/Json.h"
#include "runtime/support/Hash.h"

namespace wavesmith {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kExtension = ".co";
constexpr std::size_t kFileDigits = 8, kMaxNameBytes = 200;
constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{256} << 20;

bool isHex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Of a kernel or a file: cannot leave the directory, hide in it or confuse a terminal.
bool isPlainName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

std::string dump(const OrderedJson &json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Expected<std::string> plainName(const json::Value &from, const char *name) {
  WAVESMITH_ASSIGN(std::string value, from.requiredText(name));
  if (!isPlainName(value))
    return from.at(name).wrong("want a name of letters, digits, '_', '-' and '.'");
  return value;
}

Expected<std::string> digest(const json::Value &from, const char *name) {
  WAVESMITH_ASSIGN(std::string value, from.requiredText(name));
  if (!isHex(value, 64))
    return from.at(name).wrong("want 64 hex digits");
  return value;
}

Expected<Toolchain> readToolchain(const json::Value &value) {
  WAVESMITH_TRY(
      value.expectObject({"template_digest", "compiler_build", "llvm_version", "environment"}));
  Toolchain toolchain;
  WAVESMITH_ASSIGN(toolchain.templateDigest, value.requiredText("template_digest"));
  WAVESMITH_ASSIGN(toolchain.compilerBuild, value.requiredText("compiler_build"));
  WAVESMITH_ASSIGN(toolchain.llvmVersion, value.requiredText("llvm_version"));
  WAVESMITH_ASSIGN(toolchain.environment, value.requiredText("environment"));
  return toolchain;
}

Expected<BundleEntry> readEntry(const json::Value &value) {
  WAVESMITH_TRY(value.expectObject({"name", "file", "target", "spec", "spec_key", "build_key",
                                    "sha256", "bytes", "verification"}));
  BundleEntry entry;
  WAVESMITH_ASSIGN(entry.kernel, plainName(value, "name"));
  WAVESMITH_ASSIGN(entry.file, plainName(value, "file"));
  WAVESMITH_ASSIGN(entry.target, plainName(value, "target"));
  WAVESMITH_ASSIGN(entry.specText, value.requiredText("spec"));
  WAVESMITH_ASSIGN(entry.specKey, digest(value, "spec_key"));
  WAVESMITH_ASSIGN(entry.buildKey, digest(value, "build_key"));
  WAVESMITH_ASSIGN(entry.sha256, digest(value, "sha256"));
  WAVESMITH_ASSIGN(const json::Value bytes, value.required("bytes"));
  WAVESMITH_ASSIGN(entry.bytes, bytes.number(0, kMaxObjectBytes));
  if (sha256Hex(entry.specText) != entry.specKey)
    return value.at("spec_key").wrong("want the SHA-256 of the spec");
  WAVESMITH_ASSIGN(const json::Value verification, value.required("verification"));
  if (!verification.raw().is_null()) {
    WAVESMITH_ASSIGN(const VerificationRecord record,
                     parseVerification(verification.raw().dump(), verification.path()));
    if (record.objectSha256 != entry.sha256)
      return verification.at("object_sha256").wrong("want the digest of the object");
    entry.verification = printVerification(record);
  }
  return entry;
}

Expected<BundleManifest> read(const json::Value &root) {
  WAVESMITH_TRY(root.expectObject({"version", "sha256", "toolchain", "targets", "kernels"}));
  WAVESMITH_ASSIGN(const json::Value version, root.required("version"));
  WAVESMITH_TRY(version.number(kVersion, kVersion).status());
  WAVESMITH_TRY(digest(root, "sha256").status());
  BundleManifest manifest;
  WAVESMITH_ASSIGN(const json::Value toolchain, root.required("toolchain"));
  WAVESMITH_ASSIGN(manifest.toolchain, readToolchain(toolchain));
  WAVESMITH_ASSIGN(const json::Value targets, root.required("targets"));
  WAVESMITH_ASSIGN(const std::vector<json::Value> names, targets.list("targets"));
  for (const json::Value &value : names) {
    WAVESMITH_ASSIGN(std::string name, value.text());
    if (!manifest.targets.empty() && manifest.targets.back() >= name)
      return targets.wrong("want sorted names, each once");
    manifest.targets.push_back(std::move(name));
  }
  WAVESMITH_ASSIGN(const json::Value kernels, root.required("kernels"));
  WAVESMITH_ASSIGN(const std::vector<json::Value> rows, kernels.list("kernels"));
  std::set<std::string> keys, files;
  for (const json::Value &row : rows) {
    WAVESMITH_ASSIGN(BundleEntry entry, readEntry(row));
    if (!std::ranges::binary_search(manifest.targets, entry.target))
      return row.at("target").wrong(
          fmt::format("want one of the targets: {}", fmt::join(manifest.targets, ", ")));
    if (!keys.insert(entry.specKey).second)
      return row.at("spec_key").wrong("want each kernel once");
    if (!files.insert(entry.file).second)
      return row.at("file").wrong("want a file of its own for each kernel");
    manifest.entries.push_back(std::move(entry));
  }
  return manifest;
}

} // namespace

std::string BundleManifest::print() const {
  OrderedJson root = {{"version", kVersion},
                      {"toolchain",
                       {{"template_digest", toolchain.templateDigest},
                        {"compiler_build", toolchain.compilerBuild},
                        {"llvm_version", toolchain.llvmVersion},
                        {"environment", toolchain.environment}}},
                      {"targets", targets},
                      {"kernels", OrderedJson::array()}};
  for (const BundleEntry &entry : entries)
    root["kernels"].push_back(
        {{"name", entry.kernel},
         {"file", entry.file},
         {"target", entry.target},
         {"spec", entry.specText},
         {"spec_key", entry.specKey},
         {"build_key", entry.buildKey},
         {"sha256", entry.sha256},
         {"bytes", entry.bytes},
         {"verification", entry.verification.empty()
                              ? OrderedJson(nullptr)
                              : OrderedJson::parse(entry.verification, nullptr, false)}});
  root["sha256"] = sha256Hex(dump(root));
  return dump(root);
}

Expected<BundleManifest> BundleManifest::parse(std::string_view text, std::string_view origin) {
  Expected<nlohmann::json> document = json::parse(text, origin);
  if (!document)
    return Status(StatusCode::Corrupt, document.status().message());
  Expected<BundleManifest> manifest = read({*document, std::string(origin)});
  if (!manifest)
    return Status(StatusCode::Corrupt, manifest.status().message());
  // What it says must be what print() would write: the digest covers the values, not their layout.
  const nlohmann::json printed = nlohmann::json::parse(manifest->print());
  if (*document != printed)
    return error(StatusCode::Corrupt, "{}.sha256: is {}, the contents have {}: damaged or edited",
                 origin, json::describe((*document)["sha256"]), printed["sha256"].dump());
  return manifest;
}

const BundleEntry *BundleManifest::find(std::string_view specKey) const {
  const auto found = std::ranges::find(entries, specKey, &BundleEntry::specKey);
  return found == entries.end() ? nullptr : &*found;
}

std::string bundleFileName(const KernelSpec &spec, std::string_view sha256) {
  return fmt::format("{}-{}{}", spec.kernelName(), sha256.substr(0, kFileDigits), kExtension);
}

bool isBundleFileName(std::string_view name) {
  if (!name.starts_with("ws_") || !name.ends_with(kExtension))
    return false;
  name.remove_suffix(kExtension.size());
  return name.size() > kFileDigits + 1 && name[name.size() - kFileDigits - 1] == '-' &&
         isHex(name.substr(name.size() - kFileDigits), kFileDigits);
}

bool sameToolchain(const Toolchain &a, const Toolchain &b) {
  return a.templateDigest == b.templateDigest && a.compilerBuild == b.compilerBuild &&
         a.llvmVersion == b.llvmVersion && a.environment == b.environment;
}

} // namespace wavesmith
