#include "runtime/cache/RedisClient.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/support/Files.h"
#include "runtime/support/Text.h"

namespace wavesmith {
namespace {

using Clock = std::chrono::steady_clock;

/// Of a reply besides the value.
constexpr std::size_t kReplyOverhead = 64 << 10;

struct FreeContext {
  void operator()(redisContext *context) const { redisFree(context); }
};
struct FreeReader {
  void operator()(redisReader *reader) const { redisReaderFree(reader); }
};
struct FreeReply {
  void operator()(redisReply *reply) const { freeReplyObject(reply); }
};
struct FreeCommand {
  void operator()(char *command) const { redisFreeCommand(command); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

std::string shown(std::string_view text) { return printable(text.substr(0, 200)); }

/// Waits for the socket, until the deadline.
Status wait(int fd, short events, Clock::time_point deadline, std::string_view action,
            std::string_view where) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd item{.fd = fd, .events = events, .revents = 0};
    const int ready = left > 0 ? ::poll(&item, 1, static_cast<int>(left)) : 0;
    if (ready > 0)
      return Status::ok();
    if (ready == 0)
      return error(StatusCode::Timeout, "{} {}: no answer in time", action, where);
    if (errno != EINTR)
      return systemError(errno, action, where);
  }
}

} // namespace

// hiredis makes the connection and knows the protocol; the bytes are ours to move, since its own
// blocking calls bound each read but not the whole, nor what a reply may hold.
struct RedisClient::State {
  std::unique_ptr<redisContext, FreeContext> context;
  std::unique_ptr<redisReader, FreeReader> reader;
  std::string where;

  Status send(std::span<const char> bytes, Clock::time_point deadline) {
    while (!bytes.empty()) {
      WAVESMITH_TRY(wait(context->fd, POLLOUT, deadline, "send to", where));
      const ssize_t put =
          ::send(context->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && errno != EAGAIN && errno != EINTR)
        return systemError(errno, "send to", where);
      if (put > 0)
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return Status::ok();
  }

  Expected<Reply> receive(Clock::time_point deadline, std::size_t maxBytes) {
    std::array<char, 64 << 10> buffer{};
    std::size_t received = 0;
    while (true) {
      WAVESMITH_TRY(wait(context->fd, POLLIN, deadline, "receive from", where));
      const ssize_t got = ::recv(context->fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR))
        continue;
      if (got < 0)
        return systemError(errno, "receive from", where);
      if (got == 0)
        return error(StatusCode::Io, "receive from {}: the server closed the connection", where);
      // GET and SET answer with text, a value or an error; lists are what readers stumble over.
      if (received == 0 && std::strchr("+-$", buffer[0]) == nullptr)
        return error(StatusCode::Corrupt, "{} is no Redis server: it answers with byte {:#04x}",
                     where, static_cast<unsigned char>(buffer[0]));
      received += static_cast<std::size_t>(got);
      if (received > maxBytes + kReplyOverhead)
        return error(StatusCode::Corrupt, "{} answers with more than {} bytes", where, maxBytes);
      void *object = nullptr;
      if (redisReaderFeed(reader.get(), buffer.data(), static_cast<std::size_t>(got)) != REDIS_OK ||
          redisReaderGetReply(reader.get(), &object) != REDIS_OK)
        return error(StatusCode::Corrupt, "{} is no Redis server: {}", where,
                     shown(static_cast<const char *>(reader->errstr)));
      if (!object)
        continue;
      Reply reply(static_cast<redisReply *>(object));
      if (reader->pos < reader->len)
        return error(StatusCode::Corrupt, "{} is no Redis server: it answers what nobody asked",
                     where);
      if (reply->type == REDIS_REPLY_ERROR)
        return error(StatusCode::Io, "{}: {}", where,
                     shown(std::string_view(reply->str, static_cast<std::size_t>(reply->len))));
      return reply;
    }
  }

  Expected<Reply> command(std::span<const std::string_view> words,
                          std::chrono::milliseconds timeout, std::size_t maxBytes) {
    const Clock::time_point deadline = Clock::now() + timeout;
    std::vector<const char *> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    char *formatted = nullptr;
    const int size = redisFormatCommandArgv(&formatted, static_cast<int>(words.size()),
                                            texts.data(), sizes.data());
    if (size < 0)
      return error(StatusCode::ResourceExhausted, "send to {}: out of memory", where);
    const std::unique_ptr<char, FreeCommand> owner(formatted);
    WAVESMITH_TRY(send({formatted, static_cast<std::size_t>(size)}, deadline));
    return receive(deadline, maxBytes);
  }
};

RedisClient::RedisClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
RedisClient::RedisClient(RedisClient &&) noexcept = default;
RedisClient &RedisClient::operator=(RedisClient &&) noexcept = default;
RedisClient::~RedisClient() = default;

bool RedisClient::supported() { return true; }

Expected<RedisClient> RedisClient::connect(const RedisAddress &address,
                                           std::chrono::milliseconds timeout) {
  // hiredis takes a negative time for no limit.
  if (timeout.count() <= 0)
    return error(StatusCode::Timeout, "connect to {}: no time is left", address.text());
  const Clock::time_point deadline = Clock::now() + timeout;
  const auto left = [&] {
    return std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  };
  const timeval limit{.tv_sec = static_cast<time_t>(timeout.count() / 1000),
                      .tv_usec = static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  auto state = std::make_unique<State>();
  state->where = address.text();
  state->context.reset(redisConnectWithTimeout(address.host.c_str(), address.port, limit));
  state->reader.reset(redisReaderCreate());
  if (!state->context || !state->reader)
    return error(StatusCode::ResourceExhausted, "connect to {}: out of memory", state->where);
  if (state->context->err)
    return error(StatusCode::Io, "connect to {}: {}", state->where,
                 shown(static_cast<const char *>(state->context->errstr)));
  // A child that we start has no business with it.
  ::fcntl(state->context->fd, F_SETFD, FD_CLOEXEC);
  RedisClient client(std::move(state));
  if (!address.password.empty()) {
    const std::array<std::string_view, 2> words = {"AUTH", address.password};
    WAVESMITH_TRY(client.state_->command(words, left(), 0).status());
  }
  if (address.database != 0) {
    const std::string number = fmt::format("{}", address.database);
    const std::array<std::string_view, 2> words = {"SELECT", number};
    WAVESMITH_TRY(client.state_->command(words, left(), 0).status());
  }
  return client;
}

Expected<std::optional<std::vector<std::byte>>>
RedisClient::get(std::string_view key, std::chrono::milliseconds timeout, std::size_t maxBytes) {
  const std::array<std::string_view, 2> words = {"GET", key};
  WAVESMITH_ASSIGN(const Reply reply, state_->command(words, timeout, maxBytes));
  if (reply->type == REDIS_REPLY_NIL)
    return std::optional<std::vector<std::byte>>();
  if (reply->type != REDIS_REPLY_STRING)
    return error(StatusCode::Corrupt, "{}: {} is not a value of bytes", state_->where, key);
  const auto *bytes = reinterpret_cast<const std::byte *>(reply->str);
  return std::optional(std::vector<std::byte>(bytes, bytes + reply->len));
}

Status RedisClient::set(std::string_view key, std::span<const std::byte> value,
                        std::chrono::milliseconds timeout) {
  const std::array<std::string_view, 3> words = {
      "SET", key, {reinterpret_cast<const char *>(value.data()), value.size()}};
  return state_->command(words, timeout, 0).status();
}

} // namespace wavesmith
