#pragma once
// Asks providers in order and offers what a later one made to the earlier ones. Itself stateless
// but for counters; concurrent callers of one key are the memory cache's business. Any thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
  enum class Accept {
    Any,
    Verified, ///< only objects with a verification record; others are misses
  };
  explicit ProviderChain(std::vector<std::shared_ptr<Provider>> providers,
                         Accept accept = Accept::Any);

  /// The object of the first provider that has it. When none has: the last one's error; a
  /// JitForbidden also names the nearest specs that are at hand.
  Expected<SharedCodeObject> get(const KernelSpec &spec);
  /// Name of the provider that get() would have the object from; nothing is made or copied. "" when
  /// none has it and none can make it.
  std::string_view wouldServe(const KernelSpec &spec);
  std::vector<ProviderCounters> counters() const;

private:
  struct Link {
    std::shared_ptr<Provider> provider;
    std::atomic<std::uint64_t> hits{0}, misses{0}, errors{0};
  };
  using Claims = std::vector<std::unique_ptr<Claim>>;
  Expected<SharedCodeObject> ask(Link &link, const KernelSpec &spec);
  /// Claims of the links before `end`, and what one of them has by then; null when none has.
  Expected<SharedCodeObject> claim(std::size_t end, const KernelSpec &spec, Claims &claims);
  SharedCodeObject offer(std::size_t from, const KernelSpec &spec, SharedCodeObject object);
  std::string nearest(const KernelSpec &spec) const;

  const Accept accept_;
  std::vector<std::unique_ptr<Link>> links_;
};

/// How far apart two specs are, in fields that differ, target and dims weighing most.
int specDistance(const KernelSpec &a, const KernelSpec &b);

} // namespace wavesmith
