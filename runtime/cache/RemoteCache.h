#pragma once
// A cache that a fleet shares: a Redis server that holds entries as the disk cache does, under
// their build keys. What it sends is checked before anybody sees it. Without an answer, or with
// wrong ones, requests go on without it: one warning, then it is left alone for a while that
// doubles with each failure. Any thread; calls take turns on one connection.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/cache/RedisClient.h"
#include "runtime/provider/Provider.h"

namespace wavesmith {

struct RemoteOptions {
  RedisAddress address;
  std::chrono::milliseconds timeout{500}; ///< of each call, connecting included
  std::chrono::milliseconds backoff{1'000}, maxBackoff{60'000};
  Toolchain toolchain = Toolchain::builtin();
};

struct RemoteCounters {
  std::uint64_t hits = 0, misses = 0, stored = 0;
  std::uint64_t damaged = 0;  ///< values that were not what their key says
  std::uint64_t failures = 0; ///< calls without an answer
  std::uint64_t skipped = 0;  ///< calls not made after a failure
};

class RemoteCache : public Provider {
public:
  explicit RemoteCache(RemoteOptions options);

  std::string_view name() const override { return "remote"; }
  Expected<SharedCodeObject> get(const KernelSpec &spec) override;
  void put(const KernelSpec &spec, const SharedCodeObject &object) override;
  std::string trouble() const override;
  RemoteCounters counters() const;
  /// The key of a spec's value.
  std::string keyOf(const KernelSpec &spec) const;

private:
  using Clock = std::chrono::steady_clock;
  template <typename Call> Status call(Call &&call);
  void fail(const Status &status);

  const RemoteOptions options_;
  mutable std::mutex mutex_; ///< guards the connection and what follows
  std::optional<RedisClient> client_;
  Clock::time_point retryAt_{};
  std::chrono::milliseconds wait_;
  bool warned_ = false;
  std::string trouble_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, stored_{0}, damaged_{0}, failures_{0},
      skipped_{0};
};

} // namespace wavesmith
