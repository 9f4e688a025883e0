#pragma once
// Makes a bundle, kernel by kernel. Each object is published under a name of its own and listed in
// manifest.partial.json at once, so that a build which is interrupted goes on from there; at the
// end manifest.json appears in one step. Until then an older bundle in the directory stays as it
// is, so its readers see the old one or the new one. One writer a directory; any thread may add.

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/bundle/Bundle.h"
#include "runtime/support/Files.h"

namespace wavesmith {

class BundleWriter {
public:
  /// Makes the directory if there is none. Io when another process writes into it; a
  /// damaged manifest that stands there is said in the log and replaced.
  static Expected<std::unique_ptr<BundleWriter>> open(const std::string &directory,
                                                      const Toolchain &toolchain);
  ~BundleWriter(); ///< removes a directory that open() made and nothing went into
  BundleWriter(const BundleWriter &) = delete;
  BundleWriter &operator=(const BundleWriter &) = delete;

  /// Whether the kernel's object already stands there: whole, of this toolchain, and with a
  /// verification record if `verified` asks for one. It then belongs to the new bundle.
  bool keep(const KernelSpec &spec, bool verified);
  Status add(const KernelSpec &spec, const CodeObjectBlob &object);
  /// The entry of a kernel that was kept or added; null when it was neither.
  const BundleEntry *find(const KernelSpec &spec) const;

  /// Publishes the bundle of exactly these kernels, all of them kept or added, and removes the
  /// objects of earlier builds. Returns how many these were.
  Expected<std::size_t> finish(std::span<const KernelSpec> specs);

  static constexpr std::string_view kPartialName = "manifest.partial.json";

private:
  BundleWriter(std::string directory, Toolchain toolchain, FileDescriptor lock, bool created)
      : directory_(std::move(directory)), toolchain_(std::move(toolchain)), lock_(std::move(lock)),
        created_(created) {}

  void readEarlier(std::string_view name);
  std::string pathOf(std::string_view name) const;
  BundleManifest manifestOf(std::span<const BundleEntry> entries) const;
  Expected<std::size_t> removeOthers(const BundleManifest &manifest) const;

  std::string directory_;
  Toolchain toolchain_;
  FileDescriptor lock_; ///< of the directory; the kernel lets go of it
  bool created_;
  std::map<std::string, BundleEntry> earlier_; ///< by spec key, of this toolchain
  mutable std::mutex mutex_;                   ///< guards what follows
  std::map<std::string, BundleEntry> entries_; ///< by spec key
};

} // namespace wavesmith
