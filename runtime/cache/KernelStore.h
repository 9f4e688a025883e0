#pragma once
// The composition that the planner asks: memory cache (single flight) over the chain disk ->
// bundles -> remote -> JIT.
// One per process is enough; any thread.

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bundle/BundleProvider.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/cache/MemoryCache.h"
#include "runtime/cache/RemoteCache.h"
#include "runtime/provider/JitProvider.h"
#include "runtime/provider/ProviderChain.h"

namespace wavesmith {

struct KernelLookup {
  SharedCodeObject object;
  std::string provider; ///< who served this call: "memory", "disk", "bundle", "remote", "jit"
  double compileMs = 0; ///< of this call; 0 unless it compiled
  double lookupMs = 0;  ///< wall time of this call
};

struct KernelStoreCounters {
  MemoryCache::Counters memory;
  std::vector<ProviderCounters> providers;
};

struct KernelStoreOptions {
  std::uint64_t memoryBytes = std::uint64_t{256} << 20;
  std::optional<DiskCacheOptions> disk; ///< none: no disk cache
  BundleOptions bundles;
  std::optional<RemoteOptions> remote; ///< none: no remote cache
  JitOptions jit;
  bool verifiedOnly = false; ///< objects without a verification record are misses

  /// Verified objects only, and what is compiled is verified before anybody gets it.
  void verifyOnEmulator();
  /// As the environment says. Without a usable cache directory there is a warning and no disk
  /// cache; a malformed variable is an error.
  static Expected<KernelStoreOptions> fromEnvironment();
};

class KernelStore {
public:
  explicit KernelStore(KernelStoreOptions options);
  /// With providers of the caller's choice, in order.
  KernelStore(std::vector<std::shared_ptr<Provider>> providers, Toolchain toolchain,
              std::uint64_t memoryBytes = std::uint64_t{256} << 20);

  /// The validated spec's code object.
  Expected<KernelLookup> get(const KernelSpec &spec);
  /// Who would serve the spec now: "memory", a provider's name, or "missing". Compiles nothing.
  std::string_view wouldServe(const KernelSpec &spec);
  KernelStoreCounters counters() const;
  const Toolchain &toolchain() const { return toolchain_; }

private:
  Toolchain toolchain_;
  std::string dumpDirectory_;
  std::atomic_flag saidNoDump_;
  MemoryCache memory_;
  ProviderChain::Accept accept_ = ProviderChain::Accept::Any;
  ProviderChain chain_;
};

} // namespace wavesmith
