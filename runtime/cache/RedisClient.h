#pragma once
// One connection to a Redis server, through hiredis: GET and SET with a deadline for each call and
// a bound on what a reply may hold, whatever the server does. Any error closes it. One thread at a
// time.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct RedisAddress {
  std::string host;
  int port = 6379;
  int database = 0;
  std::string password; ///< "" = none; never in messages

  /// "redis://[:password@]host[:port][/database]"; the error says what is wrong, without the
  /// password.
  static Expected<RedisAddress> parse(std::string_view url);
  std::string text() const; ///< without the password
};

class RedisClient {
public:
  /// Whether this build has hiredis; connect() is Unsupported without it.
  static bool supported();
  static Expected<RedisClient> connect(const RedisAddress &address,
                                       std::chrono::milliseconds timeout);
  RedisClient(RedisClient &&) noexcept;
  RedisClient &operator=(RedisClient &&) noexcept;
  ~RedisClient();

  /// The value, or none. Timeout, Io, or Corrupt for a reply that is none of Redis's or too large.
  Expected<std::optional<std::vector<std::byte>>>
  get(std::string_view key, std::chrono::milliseconds timeout, std::size_t maxBytes);
  Status set(std::string_view key, std::span<const std::byte> value,
             std::chrono::milliseconds timeout);

private:
  struct State;
  explicit RedisClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace wavesmith
