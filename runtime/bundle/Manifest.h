#pragma once
// What a bundle holds, as its manifest.json says: objects with keys, digests and verification
// records, and the toolchain that made them. The format is docs/schemas/manifest.json. The text
// carries a digest over itself, so damage is found before anything is loaded. Plain values.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith {

struct BundleEntry {
  std::string kernel; ///< the symbol
  std::string file;   ///< a plain name beside the manifest
  std::string target;
  std::string specText, specKey, buildKey;
  std::string sha256; ///< of the file
  std::uint64_t bytes = 0;
  std::string verification; ///< JSON text, of this very object; "" = none

  friend bool operator==(const BundleEntry &, const BundleEntry &) = default;
};

struct BundleManifest {
  static constexpr std::string_view kName = "manifest.json";
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;

  Toolchain toolchain;
  std::vector<std::string> targets; ///< that it was built for, sorted
  std::vector<BundleEntry> entries; ///< of these targets and no other, by spec key unique

  /// Corrupt unless everything fits; the message leads with `origin` and names the place.
  static Expected<BundleManifest> parse(std::string_view text, std::string_view origin);
  std::string print() const;
  /// Null when there is none.
  const BundleEntry *find(std::string_view specKey) const;
};

/// The name of an object's file. The digest in it keeps the objects of two builds apart, so that
/// the manifest alone decides which of them counts.
std::string bundleFileName(const KernelSpec &spec, std::string_view sha256);
/// Whether it has the form of bundleFileName().
bool isBundleFileName(std::string_view name);
/// In every ingredient, so that build keys of the same spec are the same.
bool sameToolchain(const Toolchain &a, const Toolchain &b);

} // namespace wavesmith
