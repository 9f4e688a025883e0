#pragma once
// Bundles as a provider: read-only, several, asked in order. An object of our own build is
// preferred wherever it stands; one of another toolchain is served if the policy allows, and said
// once. What is damaged is said, passed over and never loaded. Bundles are opened at the first
// request. Any thread.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/bundle/Bundle.h"

namespace wavesmith {

struct BundleOptions {
  std::vector<std::string> directories;
  bool anyToolchain = true; ///< serve objects of other toolchains that fit the spec
  Toolchain toolchain = Toolchain::builtin();
  /// Told of every damaged object or manifest once, besides the log.
  std::function<void(const std::string &path, const Status &reason)> onDamaged;
};

struct BundleCounters {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t otherToolchain = 0; ///< of the hits
  std::uint64_t refused = 0;        ///< had the kernel, but of a toolchain that the policy refuses
  std::uint64_t damaged = 0;
};

class BundleProvider : public Provider {
public:
  explicit BundleProvider(BundleOptions options);

  std::string_view name() const override { return "bundle"; }
  Expected<SharedCodeObject> get(const KernelSpec &spec) override;
  std::vector<KernelSpec> list() const override;
  std::string trouble() const override;
  bool offersCopies() const override { return false; }
  BundleCounters counters() const;

private:
  struct Slot {
    std::string directory;
    bool tried = false;
    std::shared_ptr<const Bundle> bundle; ///< null: not open, or not usable
    std::string trouble;
    bool saidToolchain = false;
  };
  std::shared_ptr<const Bundle> bundle(std::size_t index) const;
  /// The bundle as it is now, when it is not the one that we know: it was replaced meanwhile.
  std::shared_ptr<const Bundle> replacement(std::size_t index, const Bundle &known);
  Expected<SharedCodeObject> load(std::size_t index, const KernelSpec &spec, bool ours);
  void reportDamage(const std::string &path, const Status &reason) const;
  void reportToolchain(std::size_t index, const BundleManifest &manifest, std::string_view what);

  const BundleOptions options_;
  mutable std::mutex mutex_; ///< guards the slots and what was said
  mutable std::vector<Slot> slots_;
  mutable std::set<std::string> said_;
  mutable std::atomic<std::uint64_t> damaged_{0};
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, otherToolchain_{0}, refused_{0};
};

} // namespace wavesmith
