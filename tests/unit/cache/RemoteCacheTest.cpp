// The remote cache against servers that do what they should, and against every kind that does not:
// requests always go on, nothing wrong is ever taken, and it is said once.

#include "runtime/cache/RemoteCache.h"

#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "runtime/cache/KernelStore.h"
#include "runtime/support/Log.h"
#include "tests/unit/cache/FakeRedis.h"
#include "tests/unit/provider/FakeCompiler.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using namespace std::chrono_literals;
using test::FakeRedis;
using test::mainJobSpec;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

struct RemoteCacheTest : ::testing::Test {
  void SetUp() override {
    if (!RedisClient::supported())
      GTEST_SKIP() << "built without hiredis";
    log::setSink(
        [](void *to, log::Level, std::string_view line) {
          static_cast<RemoteCacheTest *>(to)->lines.emplace_back(line);
        },
        this);
  }
  void TearDown() override { log::setSink(nullptr, nullptr); }

  RemoteOptions options(int port) const {
    RemoteOptions options;
    options.address = {.host = "127.0.0.1", .port = port};
    options.timeout = 300ms;
    return options;
  }
  KernelStore store(int port) {
    KernelStoreOptions store;
    store.remote = options(port);
    store.jit.create = [this] { return std::make_unique<test::BorrowedCompiler>(compiler); };
    return KernelStore(std::move(store));
  }
  static SharedCodeObject object() {
    auto blob = std::make_shared<CodeObjectBlob>();
    blob->bytes = test::bytesOf(mainJobSpec().text());
    blob->kernelName = "ws_kernel";
    return blob;
  }
  /// The value of the main spec as an honest client would have stored it.
  static std::string value(const KernelSpec &spec = mainJobSpec()) {
    const SharedCodeObject blob = object();
    const auto header = encodeEnvelope(*blob, spec, Toolchain::builtin());
    std::string text(reinterpret_cast<const char *>(header.data()), header.size());
    for (const std::byte b : blob->bytes)
      text += static_cast<char>(b);
    return text;
  }
  int warnings() const {
    return static_cast<int>(std::ranges::count_if(
        lines, [](const std::string &line) { return line.find(" warn ") != std::string::npos; }));
  }

  test::FakeCompiler compiler;
  std::vector<std::string> lines;
};

TEST_F(RemoteCacheTest, OneProcessCompilesForAll) {
  FakeRedis server(FakeRedis::honest());
  EXPECT_EQ(store(server.port()).get(mainJobSpec())->provider, "jit");
  const auto lookup = store(server.port()).get(mainJobSpec());
  ASSERT_TRUE(lookup) << lookup.status().message();
  EXPECT_EQ(lookup->provider, "remote");
  EXPECT_EQ(lookup->object->bytes, object()->bytes);
  EXPECT_EQ(compiler.compiles, 1);
  EXPECT_TRUE(lines.empty());
}

TEST_F(RemoteCacheTest, TheTimeoutIsOfTheWholeCall) {
  FakeRedis server([](const std::vector<std::string> &words) {
    std::this_thread::sleep_for(200ms); // each of the three within the 300 ms
    return FakeRedis::Answer{.bytes = words[0] == "GET" ? "$-1\r\n" : "+OK\r\n"};
  });
  RemoteOptions with = options(server.port());
  with.address.password = "p";
  with.address.database = 3;
  RemoteCache remote(with);
  EXPECT_FALSE(remote.get(mainJobSpec()));
  EXPECT_EQ(remote.counters().failures, 1u);
}

TEST_F(RemoteCacheTest, NoTimeIsNoConnection) {
  FakeRedis server(FakeRedis::honest());
  for (const std::chrono::milliseconds none : {0ms, -2ms}) {
    const auto client = RedisClient::connect(options(server.port()).address, none);
    ASSERT_FALSE(client);
    EXPECT_EQ(client.status().code(), StatusCode::Timeout);
  }
}

TEST_F(RemoteCacheTest, AHitIsKeptOnTheDisk) {
  test::TestDirectory scratch;
  FakeRedis server(
      [](const auto &) { return FakeRedis::Answer{.bytes = FakeRedis::bulk(value())}; });
  for (const char *from : {"remote", "disk"}) {
    KernelStoreOptions both;
    both.disk = DiskCacheOptions{.directory = scratch / "cache"};
    both.remote = options(server.port());
    both.jit.allowed = false;
    const auto lookup = KernelStore(std::move(both)).get(mainJobSpec());
    ASSERT_TRUE(lookup) << lookup.status().message() << fmt::format("{}", fmt::join(lines, "\n"));
    EXPECT_EQ(lookup->provider, from);
  }
}

TEST_F(RemoteCacheTest, WrongValuesAreSaidAndCompiledAnew) {
  std::string answer;
  FakeRedis server([&](const std::vector<std::string> &words) -> FakeRedis::Answer {
    return {.bytes = words[0] == "GET" ? FakeRedis::bulk(answer) : "+OK\r\n"};
  });
  KernelSpec other = mainJobSpec();
  other.attention.causal = false;
  const std::string good = value();
  std::vector<std::string> wrong = {"", "x", value(other), good + "x"};
  for (std::size_t at = 0; at < good.size(); at += 37) {
    wrong.push_back(good);
    wrong.back()[at] = static_cast<char>(wrong.back()[at] ^ 8);
    wrong.push_back(good.substr(0, at));
  }
  for (const std::string &text : wrong) {
    answer = text;
    RemoteCache remote(options(server.port()));
    EXPECT_EQ(remote.get(mainJobSpec()).status().code(), StatusCode::NotFound);
    EXPECT_EQ(remote.counters().damaged, 1u);
    EXPECT_EQ(remote.counters().failures, 0u) << "the server is fine";
  }
  EXPECT_EQ(warnings(), static_cast<int>(wrong.size()));
  answer = wrong[2];
  EXPECT_EQ(store(server.port()).get(mainJobSpec())->provider, "jit");
  answer = good;
  EXPECT_EQ(store(server.port()).get(mainJobSpec())->provider, "remote");
}

/// Each of these servers costs one warning and a bounded time, then it is left alone.
TEST_F(RemoteCacheTest, BadServersCostAWarningAndNothingElse) {
  const std::string good = FakeRedis::bulk(value());
  const FakeRedis::Answer answers[] = {
      {.bytes = "", .close = true},
      {.bytes = "", .hang = true},
      {.bytes = "$", .hang = true},
      {.bytes = good.substr(0, good.size() / 2), .close = true},
      {.bytes = good.substr(0, good.size() / 2), .hang = true},
      {.bytes = good, .dripMs = 20},
      {.bytes = "-LOADING Redis is loading the dataset in memory\r\n"},
      {.bytes = "-ERR \x1b[2J\r\n"},
      {.bytes = ":7\r\n"},
      {.bytes = "*1000000000\r\n"},
      {.bytes = "*-1\r\n"},
      {.bytes = "$99999999999999999999\r\n"},
      {.bytes = "$-7\r\n", .hang = true},
      {.bytes = "$536870912\r\n", .endless = true},
      {.bytes = "$3\r\nabcdefgh", .hang = true},
      {.bytes = "+OK\r\n"},
      {.bytes = "HTTP/1.1 400 Bad Request\r\n\r\n", .close = true},
      {.bytes = std::string("\0\0\0\0", 4), .close = true},
  };
  for (const FakeRedis::Answer &answer : answers) {
    SCOPED_TRACE(answer.bytes.substr(0, 40));
    lines.clear();
    FakeRedis server([&](const auto &) { return answer; });
    KernelStore kernels = store(server.port());
    const auto start = Clock::now();
    const auto lookup = kernels.get(mainJobSpec());
    ASSERT_TRUE(lookup) << lookup.status().message();
    EXPECT_EQ(lookup->provider, "jit");
    EXPECT_LT(Clock::now() - start, 10s) << "bounded, whatever comes";
    EXPECT_EQ(warnings(), 1);
    for (const std::string &line : lines)
      EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
    // Another kernel does not ask again so soon.
    const int before = server.commands();
    KernelSpec other = mainJobSpec();
    other.attention.causal = false;
    EXPECT_EQ(kernels.get(other)->provider, "jit");
    EXPECT_EQ(server.commands(), before);
    EXPECT_EQ(warnings(), 1);
  }
}

TEST_F(RemoteCacheTest, AbsenceIsOneWarningAndABackOff) {
  int port = 0;
  {
    port = FakeRedis(FakeRedis::honest()).port();
  }
  RemoteOptions patient = options(port);
  patient.backoff = 50ms;
  patient.maxBackoff = 200ms;
  RemoteCache remote(patient);
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(remote.get(mainJobSpec()));
  EXPECT_EQ(remote.counters().failures, 1u);
  EXPECT_EQ(remote.counters().skipped, 19u);
  EXPECT_EQ(warnings(), 1);
  EXPECT_THAT(remote.trouble(), HasSubstr(fmt::format("redis://127.0.0.1:{}/0", port)));
  std::this_thread::sleep_for(60ms);
  EXPECT_FALSE(remote.get(mainJobSpec()));
  EXPECT_EQ(remote.counters().failures, 2u);
  EXPECT_EQ(warnings(), 1);
}

TEST_F(RemoteCacheTest, ComesBackWhenTheServerDoes) {
  std::atomic<bool> dead = true;
  const auto honest = FakeRedis::honest();
  FakeRedis server([&](const std::vector<std::string> &words) {
    return dead ? FakeRedis::Answer{.close = true} : honest(words);
  });
  RemoteOptions patient = options(server.port());
  patient.backoff = 1ms;
  RemoteCache remote(patient);
  remote.put(mainJobSpec(), object());
  EXPECT_EQ(remote.counters().failures, 1u);
  dead = false;
  std::this_thread::sleep_for(5ms);
  remote.put(mainJobSpec(), object());
  EXPECT_EQ(remote.counters().stored, 1u);
  EXPECT_TRUE(remote.get(mainJobSpec()));
  EXPECT_EQ(remote.trouble(), "");
}

TEST_F(RemoteCacheTest, AConnectionThatDiedOfAgeIsMadeAnew) {
  std::atomic<int> commands = 0;
  const auto honest = FakeRedis::honest();
  FakeRedis server([&](const std::vector<std::string> &words) {
    FakeRedis::Answer answer = honest(words);
    answer.close = ++commands == 1; // after the answer
    return answer;
  });
  RemoteCache remote(options(server.port()));
  remote.put(mainJobSpec(), object());
  EXPECT_TRUE(remote.get(mainJobSpec()));
  EXPECT_EQ(remote.counters().failures, 0u);
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(RemoteCacheTest, ManyThreadsOneConnection) {
  FakeRedis server(FakeRedis::honest());
  RemoteCache remote(options(server.port()));
  remote.put(mainJobSpec(), object());
  std::atomic<int> hits = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 20; ++j)
          if (const auto found = remote.get(mainJobSpec()))
            hits += (*found)->bytes == object()->bytes;
      });
  }
  EXPECT_EQ(hits, 160);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(RemoteCacheTest, PasswordAndDatabaseAreSentFirst) {
  std::vector<std::vector<std::string>> seen;
  const auto honest = FakeRedis::honest();
  FakeRedis server([&](const std::vector<std::string> &words) -> FakeRedis::Answer {
    seen.push_back(words);
    if (words[0] == "AUTH")
      return {.bytes = words[1] == "secret" ? "+OK\r\n" : "-WRONGPASS no\r\n"};
    return words[0] == "SELECT" ? FakeRedis::Answer{.bytes = "+OK\r\n"} : honest(words);
  });
  RemoteOptions with = options(server.port());
  with.address.database = 3;
  with.address.password = "secret";
  RemoteCache(with).put(mainJobSpec(), object());
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0], (std::vector<std::string>{"AUTH", "secret"}));
  EXPECT_EQ(seen[1], (std::vector<std::string>{"SELECT", "3"}));
  with.address.password = "sesame";
  RemoteCache refused(with);
  EXPECT_FALSE(refused.get(mainJobSpec()));
  EXPECT_THAT(refused.trouble(), HasSubstr("WRONGPASS"));
  for (const std::string &line : lines)
    EXPECT_EQ(line.find("sesame"), std::string::npos) << line;
}

/// Debian's redis-tools holds the server too, under another name.
const char *realServer() {
  for (const char *path : {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb"})
    if (std::filesystem::exists(path))
      return path;
  return nullptr;
}

TEST_F(RemoteCacheTest, WorksWithRedis) {
  const char *binary = realServer();
  if (!binary)
    GTEST_SKIP() << "no redis-server (Debian: redis-tools)";
  int port = 0;
  {
    port = FakeRedis(FakeRedis::honest()).port();
  }
  test::TestDirectory scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string number = std::to_string(port);
    if (::freopen("/dev/null", "w", stdout))
      ::execl(binary, "redis-server", "--port", number.c_str(), "--bind", "127.0.0.1", "--save", "",
              "--dir", scratch.path().c_str(), nullptr);
    ::_exit(127);
  }
  RemoteOptions patient = options(port);
  patient.timeout = 5s;
  patient.backoff = patient.maxBackoff = 20ms;
  RemoteCache remote(patient);
  const auto end = Clock::now() + 30s;
  while (remote.counters().stored == 0 && Clock::now() < end) {
    remote.put(mainJobSpec(), object());
    std::this_thread::sleep_for(20ms);
  }
  const auto found = RemoteCache(patient).get(mainJobSpec());
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(found) << remote.trouble();
  EXPECT_EQ((*found)->bytes, object()->bytes);
  EXPECT_EQ((*found)->provider, "remote");
  EXPECT_FALSE(remote.get(mainJobSpec())) << "it is dead now";
}

TEST(RemoteSettings, AreReadOrRefused) {
  const test::ScopedEnv url("WAVESMITH_REMOTE", "redis://cache:7000/2");
  const auto options = KernelStoreOptions::fromEnvironment();
  if (!RedisClient::supported()) {
    EXPECT_THAT(options.status().message(), HasSubstr("this build has no Redis client"));
    EXPECT_EQ(RedisClient::connect({.host = "cache"}, 1ms).status().code(),
              StatusCode::Unsupported);
    return;
  }
  ASSERT_TRUE(options) << options.status().message();
  EXPECT_EQ(options->remote->address.text(), "redis://cache:7000/2");
  EXPECT_EQ(options->remote->timeout, 500ms);
  const test::ScopedEnv timeout("WAVESMITH_REMOTE_TIMEOUT", "0");
  EXPECT_THAT(KernelStoreOptions::fromEnvironment().status().message(),
              HasSubstr("WAVESMITH_REMOTE_TIMEOUT is \"0\""));
}

TEST(RedisAddress, IsReadStrictly) {
  const auto read = [](const char *url) {
    const auto address = RedisAddress::parse(url);
    return address ? address->text() : address.status().message();
  };
  EXPECT_EQ(read("redis://cache"), "redis://cache:6379/0");
  EXPECT_EQ(read("redis://10.0.0.1:7000/2"), "redis://10.0.0.1:7000/2");
  EXPECT_EQ(read("redis://[::1]:7000"), "redis://[::1]:7000/0");
  EXPECT_EQ(read("redis://:p@ss@cache/"), "redis://cache:6379/0");
  EXPECT_EQ(RedisAddress::parse("redis://:p@ss@cache")->password, "p@ss");
  for (const char *url :
       {"", "cache:6379", "http://cache", "redis://", "redis://:6379", "redis://cache:0",
        "redis://cache:65536", "redis://cache:x", "redis://cache/x", "redis://cache/-1",
        "redis://[::1", "redis://[::1]x", "redis://user:secret@cache"}) {
    EXPECT_THAT(read(url), HasSubstr("WAVESMITH_REMOTE")) << url;
    EXPECT_EQ(read(url).find("secret"), std::string::npos);
  }
}

} // namespace
} // namespace wavesmith
