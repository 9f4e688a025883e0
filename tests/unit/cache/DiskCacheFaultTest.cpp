// What processes, disks and people do to a cache: damage at every region, SIGKILL at any instant,
// many processes on one key, no room, no permission.

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/cache/KernelStore.h"
#include "tests/unit/provider/FakeCompiler.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using namespace std::chrono_literals;
using test::FakeCompiler;
using test::mainJobSpec;

struct DiskCacheFaultTest : ::testing::Test {
  test::TestDirectory scratch;
  DiskCacheOptions disk{.directory = scratch / "cache"};
  KernelSpec spec = mainJobSpec();
  FakeCompiler compiler;

  KernelStore store() {
    JitOptions jit;
    jit.create = [this] { return std::make_unique<test::BorrowedCompiler>(compiler); };
    return KernelStore({.disk = disk, .jit = std::move(jit)});
  }
  std::string provider() {
    KernelStore fresh = store();
    const auto lookup = fresh.get(spec);
    EXPECT_TRUE(lookup) << lookup.status().message();
    if (!lookup)
      return "error";
    EXPECT_EQ(lookup->object->bytes, test::bytesOf(spec.text()));
    return lookup->provider;
  }
};

std::vector<std::byte> readAll(const std::string &path) { return *readFile(path); }

void overwrite(const std::string &path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

TEST_F(DiskCacheFaultTest, DamageAnywhereIsReportedSetAsideAndRebuilt) {
  std::vector<std::string> reports;
  disk.onDamaged = [&](const std::string &path, const Status &reason) {
    reports.push_back(path + ": " + reason.message());
  };
  ASSERT_EQ(provider(), "jit");
  ASSERT_EQ(provider(), "disk");
  const std::string path = DiskCache(disk).entryPath(spec);
  const std::vector<std::byte> good = readAll(path);
  ASSERT_GT(good.size(), 200u);

  using Change = std::function<void(std::vector<std::byte> &)>;
  std::vector<Change> changes;
  // Regions: magic, version, header size, payload size, checksum, JSON, payload, last byte.
  for (std::size_t at :
       {std::size_t{0}, std::size_t{8}, std::size_t{12}, std::size_t{16}, std::size_t{24},
        std::size_t{87}, std::size_t{88}, std::size_t{150}, good.size() - 20, good.size() - 1})
    changes.push_back([at](auto &bytes) { bytes[at] ^= std::byte{0x10}; });
  for (std::size_t keep : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{24},
                           std::size_t{87}, std::size_t{88}, std::size_t{300}, good.size() - 1})
    changes.push_back([keep](auto &bytes) { bytes.resize(keep); });
  changes.push_back([](auto &bytes) { std::ranges::fill(bytes, std::byte{0}); });
  changes.push_back([](auto &bytes) { std::fill(bytes.begin() + 100, bytes.end(), std::byte{0}); });
  changes.push_back([](auto &bytes) { bytes.resize(bytes.size() + 4096); });

  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::vector<std::byte> bytes = good;
    changes[i](bytes);
    overwrite(path, bytes);
    EXPECT_EQ(provider(), "jit") << "change " << i;
    EXPECT_EQ(reports.size(), i + 1) << "change " << i;
    EXPECT_TRUE(std::filesystem::exists(path + ".damaged")) << "change " << i;
    EXPECT_EQ(provider(), "disk") << "change " << i;
  }
}

TEST_F(DiskCacheFaultTest, ADirectoryOrFifoInAnEntrysPlace) {
  const std::string path = DiskCache(disk).entryPath(spec);
  std::filesystem::create_directories(path);
  ASSERT_EQ(::chmod(disk.directory.c_str(), 0700), 0);
  EXPECT_EQ(provider(), "jit");
  EXPECT_EQ(provider(), "disk");
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(provider(), "jit");
  EXPECT_EQ(provider(), "disk");
}

TEST_F(DiskCacheFaultTest, EveryKindIsSetAsideWhateverWasSetAsideBefore) {
  ASSERT_EQ(provider(), "jit");
  const std::string path = DiskCache(disk).entryPath(spec);
  const auto putDirectory = [&] {
    std::filesystem::remove(path);
    std::filesystem::create_directories(path + "/inner");
  };
  const auto putFile = [&] { overwrite(path, {}); };
  using Put = std::function<void()>;
  for (const Put &put : {Put(putFile), Put(putDirectory), Put(putDirectory), Put(putFile)}) {
    put();
    EXPECT_EQ(provider(), "jit");
    EXPECT_EQ(provider(), "disk") << "the place is free again";
  }
  EXPECT_TRUE(std::filesystem::is_regular_file(path + ".damaged"));
  EXPECT_TRUE(std::filesystem::is_directory(path + ".2.damaged"));
  EXPECT_TRUE(std::filesystem::is_directory(path + ".3.damaged"));
}

/// Runs `body` in a child; the child's exit code is its result.
pid_t spawn(const std::function<int()> &body) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  return child;
}

int waitFor(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(DiskCacheFaultTest, SurvivesSigkillAtAnyInstant) {
  // The payload is large enough that a kill lands inside the write now and then.
  const auto blob = std::make_shared<CodeObjectBlob>();
  blob->bytes.resize(1 << 20, std::byte{0x5a});
  blob->kernelName = spec.kernelName();
  std::mt19937 random(3);
  int killed = 0;
  for (int round = 0; round < 60; ++round) {
    const pid_t child = spawn([&] {
      for (int i = 0; i < 1000; ++i) {
        DiskCache cache(disk);
        const auto claim = cache.claim(spec);
        cache.put(spec, blob);
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
    ::kill(child, SIGKILL);
    killed += waitFor(child) == 128 + SIGKILL;
    DiskCache cache(disk);
    const auto object = cache.get(spec);
    if (object) {
      EXPECT_EQ((*object)->bytes, blob->bytes);
    } else {
      EXPECT_EQ(object.status().code(), StatusCode::NotFound);
    }
    EXPECT_EQ(cache.counters().damaged, 0u) << "never a half entry";
  }
  EXPECT_GT(killed, 0);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(DiskCache(disk).claim(spec)) << "no lock outlives its holder";
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST_F(DiskCacheFaultTest, ManyProcessesCompileOneKeyOnce) {
  constexpr int kProcesses = 16;
  auto *compiles = static_cast<std::atomic<int> *>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  compiler.duration = 50ms;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i)
    children.push_back(spawn([&] {
      KernelStore fresh = store();
      const auto lookup = fresh.get(spec);
      *compiles += compiler.compiles;
      return lookup && lookup->object->bytes == test::bytesOf(spec.text()) ? 0 : 1;
    }));
  for (pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  EXPECT_EQ(*compiles, 1);
  ::munmap(compiles, 4096);
}

TEST_F(DiskCacheFaultTest, DifferentKeysDoNotWaitForEachOther) {
  compiler.duration = 300ms;
  const auto start = std::chrono::steady_clock::now();
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(spawn([&] {
      spec.schedule = "s" + std::to_string(i);
      KernelStore fresh = store();
      return fresh.get(spec) ? 0 : 1;
    }));
  for (pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1500ms)
      << "the maximum, not the sum of 2.4 s";
}

TEST_F(DiskCacheFaultTest, WaitersTakeOverFromAKilledBuilder) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t builder = spawn([&] {
    DiskCache cache(disk);
    const auto claim = cache.claim(spec);
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    ::pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const pid_t waiter = spawn([&] { return provider() == "jit" ? 0 : 1; });
  std::this_thread::sleep_for(50ms);
  ::kill(builder, SIGKILL);
  EXPECT_EQ(waitFor(builder), 128 + SIGKILL);
  EXPECT_EQ(waitFor(waiter), 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(DiskCacheFaultTest, TwoBuildersWithoutLocksBothSucceed) {
  disk.lockDeadline = 0ms;
  compiler.duration = 20ms;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(spawn([&] {
      KernelStore fresh = store();
      const auto lookup = fresh.get(spec);
      return lookup && lookup->object->bytes == test::bytesOf(spec.text()) ? 0 : 1;
    }));
  for (pid_t child : children)
    EXPECT_EQ(waitFor(child), 0);
  EXPECT_EQ(provider(), "disk");
}

TEST_F(DiskCacheFaultTest, ReadersDuringEvictionAndRewrite) {
  std::atomic<bool> stop = false;
  const auto blob = std::make_shared<CodeObjectBlob>();
  blob->bytes.resize(200'000, std::byte{1});
  std::thread writer([&] {
    DiskCache cache(disk);
    while (!stop) {
      cache.put(spec, blob);
      EXPECT_TRUE(cache.prune(0));
    }
  });
  DiskCache cache(disk);
  const auto end = std::chrono::steady_clock::now() + 300ms;
  while (std::chrono::steady_clock::now() < end) {
    const auto object = cache.get(spec);
    if (object) {
      EXPECT_EQ((*object)->bytes.size(), blob->bytes.size());
    }
    object.ignoreError("evicted just now");
  }
  stop = true;
  writer.join();
  EXPECT_EQ(cache.counters().damaged, 0u);
}

TEST_F(DiskCacheFaultTest, AFullDiskCostsTheCacheOnly) {
  EXPECT_EQ(waitFor(spawn([&] {
              // No file may grow past the envelope's prefix: write fails as on a full disk.
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{100, 100};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
                return 10;
              if (provider() != "jit" || provider() != "jit")
                return 11;
              for (const auto &file : std::filesystem::directory_iterator(disk.directory))
                if (file.path().filename().string().starts_with(".tmp-"))
                  return 12;
              return 0;
            })),
            0);
  EXPECT_EQ(provider(), "jit");
}

TEST_F(DiskCacheFaultTest, AReadOnlyDirectoryServesHitsAndTakesNothing) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root to change the owner";
  ASSERT_EQ(provider(), "jit");
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(disk.directory.c_str(), 0555), 0);
  const std::string path = DiskCache(disk).entryPath(spec);
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  const auto asNobody = [&](const std::function<int()> &body) {
    return waitFor(spawn([&] { return ::setuid(65534) == 0 ? body() : 20; }));
  };
  EXPECT_EQ(asNobody([&] { return provider() == "disk" ? 0 : 1; }), 0);
  EXPECT_EQ(asNobody([&] {
              spec.attention.causal = false;
              return provider() == "jit" && provider() == "jit" ? 0 : 1;
            }),
            0);
  // A damaged entry that cannot be set aside is passed over.
  std::vector<std::byte> bytes = readAll(path);
  bytes.back() ^= std::byte{1};
  overwrite(path, bytes);
  EXPECT_EQ(asNobody([&] { return provider() == "jit" ? 0 : 1; }), 0);
}

TEST_F(DiskCacheFaultTest, ADirectoryThatCannotBeMadeIsNoCache) {
  disk.directory = "/proc/no/such/directory";
  EXPECT_EQ(provider(), "jit");
  ASSERT_TRUE(publishFile(scratch / "file", asBytes("x")).isOk());
  disk.directory = scratch / "file/cache";
  EXPECT_EQ(provider(), "jit");
}

} // namespace
} // namespace wavesmith
