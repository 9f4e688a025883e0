#include "runtime/cache/RemoteCache.h"

#include <algorithm>

#include "runtime/cache/Envelope.h"
#include "runtime/support/Log.h"

namespace wavesmith {
namespace {

constexpr std::string_view kPrefix = "wavesmith:1:";

} // namespace

RemoteCache::RemoteCache(RemoteOptions options)
    : options_(std::move(options)), wait_(options_.backoff) {}

std::string RemoteCache::keyOf(const KernelSpec &spec) const {
  return fmt::format("{}{}", kPrefix, buildKey(spec, options_.toolchain));
}

void RemoteCache::fail(const Status &status) {
  ++failures_;
  client_.reset();
  trouble_ = status.message();
  retryAt_ = Clock::now() + wait_;
  if (!std::exchange(warned_, true))
    log::warn("remote", "going on without the remote cache: {}", status.message());
  else
    log::info("remote", "remote cache: {}; next try in {} ms", status.message(), wait_.count());
  wait_ = std::min(wait_ * 2, options_.maxBackoff);
}

/// Makes a call on the connection, which is opened on demand. A connection that was open before may
/// have died of age: then once more on a new one.
template <typename Call> Status RemoteCache::call(Call &&call) {
  const std::lock_guard lock(mutex_);
  if (Clock::now() < retryAt_) {
    ++skipped_;
    return error(StatusCode::Io, "left alone after: {}", trouble_);
  }
  const Clock::time_point deadline = Clock::now() + options_.timeout;
  const auto left = [&] {
    return std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  };
  Status status;
  for (bool old = client_.has_value();; old = false) {
    status = Status::ok();
    if (!client_) {
      Expected<RedisClient> opened = RedisClient::connect(options_.address, left());
      if (opened)
        client_.emplace(*std::move(opened));
      else
        status = opened.status();
    }
    if (client_)
      status = call(*client_, left());
    if (status.isOk()) {
      wait_ = options_.backoff;
      trouble_.clear();
      return status;
    }
    client_.reset();
    if (!old || status.code() != StatusCode::Io || left().count() <= 0)
      break;
  }
  fail(status);
  return status;
}

Expected<SharedCodeObject> RemoteCache::get(const KernelSpec &spec) {
  const auto miss = [&] {
    ++misses_;
    return error(StatusCode::NotFound, "the remote cache has no entry of [{}]", spec.text());
  };
  const std::string key = keyOf(spec);
  std::optional<std::vector<std::byte>> bytes;
  const Status status = call([&](RedisClient &client, std::chrono::milliseconds left) {
    auto got = client.get(key, left, kMaxEnvelopeBytes);
    if (got)
      bytes = *std::move(got);
    return got.status();
  });
  if (!status.isOk() || !bytes)
    return miss();
  Expected<SharedCodeObject> object =
      openEnvelope(*bytes, spec, buildKey(spec, options_.toolchain), name());
  if (!object) {
    ++damaged_;
    log::warn("remote", "value not used key={} reason=\"{}\"", key, object.status().message());
    return miss();
  }
  ++hits_;
  return object;
}

void RemoteCache::put(const KernelSpec &spec, const SharedCodeObject &object) {
  std::vector<std::byte> value = encodeEnvelope(*object, spec, options_.toolchain);
  value.insert(value.end(), object->bytes.begin(), object->bytes.end());
  if (value.size() > kMaxEnvelopeBytes)
    return;
  const std::string key = keyOf(spec);
  const Status status = call([&](RedisClient &client, std::chrono::milliseconds left) {
    return client.set(key, value, left);
  });
  if (status.isOk())
    ++stored_;
}

std::string RemoteCache::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

RemoteCounters RemoteCache::counters() const {
  return {hits_, misses_, stored_, damaged_, failures_, skipped_};
}

} // namespace wavesmith
