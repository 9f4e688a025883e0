#pragma once
// Asks providers in order and offers what a later one made to the earlier ones. Itself stateless
// but for counters; concurrent callers of one key are the memory cache's business. Any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/provider/Provider.h"

namespace wavesmith {

struct ProviderCounters {
  std::string name;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t errors = 0;
};

class ProviderChain {
public:
  explicit ProviderChain(std::vector<std::shared_ptr<Provider>> providers);

  /// The object of the first provider that has it. When none has: the last one's error; a
  /// JitForbidden also names the nearest specs that are at hand.
  Expected<SharedCodeObject> get(const KernelSpec &spec);
  std::vector<ProviderCounters> counters() const;

private:
  struct Link {
    std::shared_ptr<Provider> provider;
    std::atomic<std::uint64_t> hits{0}, misses{0}, errors{0};
  };
  Expected<SharedCodeObject> ask(Link &link, const KernelSpec &spec);
  std::string nearest(const KernelSpec &spec) const;

  std::vector<std::unique_ptr<Link>> links_;
};

/// How far apart two specs are, in fields that differ, target and dims weighing most.
int specDistance(const KernelSpec &a, const KernelSpec &b);

} // namespace wavesmith
