// Stands in for RedisClient.cpp in builds without hiredis: whoever asks for a remote cache is told.

#include "runtime/cache/RedisClient.h"

namespace wavesmith {

struct RedisClient::State {};

RedisClient::RedisClient(RedisClient &&) noexcept = default;
RedisClient &RedisClient::operator=(RedisClient &&) noexcept = default;
RedisClient::~RedisClient() = default;

bool RedisClient::supported() { return false; }

Expected<RedisClient> RedisClient::connect(const RedisAddress &address, std::chrono::milliseconds) {
  return error(StatusCode::Unsupported,
               "{}: this build has no Redis client; build it with hiredis and -DWAVESMITH_REDIS=ON",
               address.text());
}

// Nobody has a client to call these on.
Expected<std::optional<std::vector<std::byte>>>
RedisClient::get(std::string_view, std::chrono::milliseconds, std::size_t) {
  return std::optional<std::vector<std::byte>>();
}
Status RedisClient::set(std::string_view, std::span<const std::byte>, std::chrono::milliseconds) {
  return Status::ok();
}

} // namespace wavesmith
