#include "runtime/cache/RedisClient.h"

#include <charconv>

#include "runtime/support/Text.h"

namespace wavesmith {
namespace {

constexpr std::string_view kScheme = "redis://";
constexpr int kMaxPort = 65535, kMaxDatabase = 1'000'000;

std::string shown(std::string_view text) { return printable(text.substr(0, 80)); }

Status wrong(std::string_view what) {
  return error(StatusCode::InvalidArgument,
               "WAVESMITH_REMOTE: {}; expected redis://[:password@]host[:port][/database]", what);
}

bool parseNumber(std::string_view text, int low, int high, int &to) {
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), to);
  return code == std::errc() && rest == text.data() + text.size() && to >= low && to <= high;
}

} // namespace

Expected<RedisAddress> RedisAddress::parse(std::string_view url) {
  if (!url.starts_with(kScheme))
    return wrong("it does not start with redis://");
  url.remove_prefix(kScheme.size());
  RedisAddress address;
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    if (url.front() != ':')
      return wrong("a user's name is not supported, only a password");
    address.password = url.substr(1, at - 1);
    url.remove_prefix(at + 1);
  }
  if (const std::size_t slash = url.find('/'); slash != std::string_view::npos) {
    const std::string_view database = url.substr(slash + 1);
    if (!database.empty() && !parseNumber(database, 0, kMaxDatabase, address.database))
      return wrong(fmt::format("the database is \"{}\"", shown(database)));
    url = url.substr(0, slash);
  }
  // An IPv6 address has colons of its own, hence the brackets.
  std::size_t end = url.find(':');
  if (url.starts_with('[')) {
    end = url.find(']');
    if (end == std::string_view::npos)
      return wrong("the address lacks a ]");
    address.host = url.substr(1, end - 1);
    ++end;
  } else {
    address.host = url.substr(0, end);
  }
  if (address.host.empty())
    return wrong("the host is missing");
  if (end < url.size() &&
      (url[end] != ':' || !parseNumber(url.substr(end + 1), 1, kMaxPort, address.port)))
    return wrong(fmt::format("the port is \"{}\"", shown(url.substr(end))));
  return address;
}

std::string RedisAddress::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("redis://{}{}{}:{}/{}", v6 ? "[" : "", host, v6 ? "]" : "", port, database);
}

} // namespace wavesmith
