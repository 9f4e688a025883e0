#pragma once
// A bundle: a directory of code objects made ahead of time and the manifest that lists them. Only
// read here; BundleWriter.h makes one. Immutable after open, any thread.

#include <string>
#include <vector>

#include "runtime/bundle/Manifest.h"
#include "runtime/provider/Provider.h"

namespace wavesmith {

struct BundleProblem {
  std::string file;    ///< name in the bundle
  std::string message; ///< what is wrong with it
};

class Bundle {
public:
  /// NotFound when the directory has no manifest, Corrupt when that is damaged.
  static Expected<Bundle> open(const std::string &directory);

  const std::string &directory() const { return directory_; }
  const BundleManifest &manifest() const { return manifest_; }
  std::string pathOf(const BundleEntry &entry) const;

  /// The object of an entry: Corrupt or Unsupported, naming the file, unless size, digest, note and
  /// kernel are what the manifest and the spec say.
  Expected<SharedCodeObject> load(const BundleEntry &entry) const {
    return load(directory_, entry);
  }
  static Expected<SharedCodeObject> load(const std::string &directory, const BundleEntry &entry);
  /// Loads every entry, and looks for code objects that no entry names.
  std::vector<BundleProblem> verify() const;

private:
  Bundle(std::string directory, BundleManifest manifest)
      : directory_(std::move(directory)), manifest_(std::move(manifest)) {}

  std::string directory_;
  BundleManifest manifest_;
};

} // namespace wavesmith
