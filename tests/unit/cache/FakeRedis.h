#pragma once
// A server on a free port of this machine that answers as a test wants, rightly or not.

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace wavesmith::test {

class FakeRedis {
public:
  /// What to do with a command.
  struct Answer {
    std::string bytes;    ///< sent as they are
    bool hang = false;    ///< then nothing, until the client leaves
    bool close = false;   ///< then the connection ends
    int dripMs = 0;       ///< between single bytes; 0: all at once
    bool endless = false; ///< zeros behind the bytes, until the client leaves
  };
  using Handler = std::function<Answer(const std::vector<std::string> &words)>;

  explicit FakeRedis(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr *>(&address), size) == 0 &&
        ::listen(listener_, 64) == 0 &&
        ::getsockname(listener_, reinterpret_cast<sockaddr *>(&address), &size) == 0)
      port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this](const std::stop_token &stop) { accept(stop); });
  }
  FakeRedis(const FakeRedis &) = delete;
  FakeRedis &operator=(const FakeRedis &) = delete;
  ~FakeRedis() {
    acceptor_.request_stop();
    acceptor_.join();
    for (std::jthread &client : clients_) {
      client.request_stop();
      client.join();
    }
    ::close(listener_);
  }

  int port() const { return port_; }
  int connections() const { return connections_; }
  int commands() const { return commands_; }

  static std::string bulk(const std::string &value) {
    return "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n";
  }
  /// A server that does what it should.
  static Handler honest() {
    auto values = std::make_shared<std::map<std::string, std::string>>();
    auto mutex = std::make_shared<std::mutex>();
    return [values, mutex](const std::vector<std::string> &words) -> Answer {
      const std::lock_guard lock(*mutex);
      if (words[0] == "SET") {
        (*values)[words[1]] = words[2];
        return {.bytes = "+OK\r\n"};
      }
      const auto found = values->find(words[1]);
      return {.bytes = found == values->end() ? "$-1\r\n" : bulk(found->second)};
    };
  }

private:
  static bool readable(int fd) {
    pollfd item{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&item, 1, 20) > 0;
  }

  void accept(const std::stop_token &stop) {
    while (!stop.stop_requested()) {
      if (!readable(listener_))
        continue;
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0)
        continue;
      ++connections_;
      clients_.emplace_back([this, fd](const std::stop_token &end) {
        serve(fd, end);
        ::close(fd);
      });
    }
  }

  /// One command in the protocol's form, if it is complete.
  static std::optional<std::vector<std::string>> take(std::string &buffer) {
    std::size_t at = 0;
    const auto number = [&](char kind) -> long {
      const std::size_t end = buffer.find("\r\n", at);
      if (end == std::string::npos || buffer[at] != kind)
        return -1;
      const long value = std::stol(buffer.substr(at + 1, end - at - 1));
      at = end + 2;
      return value;
    };
    const long count = number('*');
    std::vector<std::string> words;
    for (long i = 0; i < count; ++i) {
      const long size = number('$');
      if (size < 0 || buffer.size() < at + static_cast<std::size_t>(size) + 2)
        return std::nullopt;
      words.push_back(buffer.substr(at, static_cast<std::size_t>(size)));
      at += static_cast<std::size_t>(size) + 2;
    }
    if (count <= 0)
      return std::nullopt;
    buffer.erase(0, at);
    return words;
  }

  static bool send(int fd, const std::string &bytes) {
    return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size());
  }

  void serve(int fd, const std::stop_token &stop) {
    std::string buffer;
    while (!stop.stop_requested()) {
      if (!readable(fd))
        continue;
      std::string chunk(65536, '\0');
      const ssize_t got = ::recv(fd, chunk.data(), chunk.size(), 0);
      if (got <= 0)
        return;
      buffer.append(chunk, 0, static_cast<std::size_t>(got));
      while (const auto words = take(buffer)) {
        ++commands_;
        const Answer answer = handler_(*words);
        if (answer.dripMs == 0) {
          if (!send(fd, answer.bytes))
            return;
        } else {
          for (char c : answer.bytes) {
            std::this_thread::sleep_for(std::chrono::milliseconds(answer.dripMs));
            if (stop.stop_requested() || !send(fd, std::string(1, c)))
              return;
          }
        }
        while (answer.endless)
          if (stop.stop_requested() || !send(fd, std::string(1 << 16, '0')))
            return;
        if (answer.close)
          return;
        while (answer.hang && !stop.stop_requested())
          if (readable(fd) && ::recv(fd, chunk.data(), chunk.size(), MSG_DONTWAIT) == 0)
            return;
      }
    }
  }

  Handler handler_;
  int listener_ = -1, port_ = 0;
  std::atomic<int> connections_{0}, commands_{0};
  std::vector<std::jthread> clients_;
  std::jthread acceptor_;
};

} // namespace wavesmith::test
