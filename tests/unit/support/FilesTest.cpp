#include "runtime/support/Files.h"

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/support/FileLock.h"
#include "runtime/support/Hash.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using namespace std::chrono_literals;
using test::TestDirectory;

Status publish(const Directory &directory, const std::string &name, std::string_view text) {
  const std::array parts = {asBytes(text)};
  return directory.publish(name, parts);
}

TEST(Files, PublishedTextComesBack) {
  const TestDirectory scratch;
  ASSERT_TRUE(publishFile(scratch / "a", asBytes("one")).isOk());
  ASSERT_TRUE(publishFile(scratch / "a", asBytes("two")).isOk());
  EXPECT_EQ(*readTextFile(scratch / "a"), "two");
}

TEST(Files, ErrorsNameThePath) {
  const TestDirectory scratch;
  const Status missing = readFile(scratch / "none").status();
  EXPECT_EQ(missing.code(), StatusCode::NotFound);
  EXPECT_NE(missing.message().find(scratch / "none"), std::string::npos);
  ASSERT_TRUE(publishFile(scratch / "a", asBytes("12345")).isOk());
  EXPECT_EQ(readFile(scratch / "a", 4).status().code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(readFile(scratch / "a", 5));
  EXPECT_EQ(readFile(scratch.path()).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(publishFile(scratch / "no/such", asBytes("x")).code(), StatusCode::NotFound);
  // Not in place of what is no file.
  const std::string pipe = scratch / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(publishFile(pipe, asBytes("x")).code(), StatusCode::InvalidArgument);
  struct stat info{};
  ASSERT_EQ(::stat(pipe.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

TEST(Files, ReadsFilesWithoutASize) {
  const auto text = readTextFile("/proc/self/status");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("Name:"), std::string::npos);
}

TEST(Files, EndlessFilesHitTheLimit) {
  EXPECT_EQ(readFile("/dev/zero", 1 << 16).status().code(), StatusCode::ResourceExhausted);
}

TEST(Directory, CreatesPrivateDirectoriesWithParents) {
  const TestDirectory scratch;
  const auto directory = Directory::openPrivate(scratch / "a/b/c", Directory::Create::Yes);
  ASSERT_TRUE(directory) << directory.status().message();
  struct ::stat info{};
  ASSERT_EQ(::stat((scratch / "a/b/c").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  EXPECT_EQ(Directory::openPrivate(scratch / "x", Directory::Create::No).status().code(),
            StatusCode::NotFound);
}

TEST(Directory, RefusesWhatOthersMayWrite) {
  const TestDirectory scratch;
  for (mode_t mode : {0770u, 0702u, 01777u}) {
    ASSERT_EQ(::chmod(scratch.path().c_str(), mode), 0);
    const Status status = Directory::openPrivate(scratch.path(), Directory::Create::Yes).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_NE(status.message().find("chmod 700"), std::string::npos);
  }
  if (::geteuid() == 0) {
    ASSERT_EQ(::chmod(scratch.path().c_str(), 0700), 0);
    ASSERT_EQ(::chown(scratch.path().c_str(), 12345, 12345), 0);
    EXPECT_EQ(Directory::openPrivate(scratch.path(), Directory::Create::Yes).status().code(),
              StatusCode::InvalidArgument);
  }
}

TEST(Directory, ListsAndRemoves) {
  const TestDirectory scratch;
  const auto directory = Directory::openPrivate(scratch.path(), Directory::Create::No);
  ASSERT_TRUE(directory);
  ASSERT_TRUE(publish(*directory, "a", "12").isOk());
  ASSERT_TRUE(publish(*directory, "b", "345").isOk());
  EXPECT_EQ(directory->list()->size(), 2u);
  EXPECT_EQ(directory->list()->size(), 2u) << "a second listing starts anew";
  EXPECT_EQ(directory->stat("b")->bytes, 3u);
  EXPECT_TRUE(directory->remove("a").isOk());
  EXPECT_TRUE(directory->remove("a").isOk()) << "gone already is fine";
  EXPECT_EQ(directory->stat("a").status().code(), StatusCode::NotFound);
}

TEST(Directory, DoesNotHangOnAFifo) {
  const TestDirectory scratch;
  const auto directory = Directory::openPrivate(scratch.path(), Directory::Create::No);
  ASSERT_EQ(::mkfifo((scratch / "fifo").c_str(), 0600), 0);
  const auto bytes = directory->read("fifo", 100);
  EXPECT_TRUE(!bytes || bytes->empty());
  bytes.ignoreError("either answer is fine");
}

TEST(FileLock, ExcludesAndNamesItsHolder) {
  const TestDirectory scratch;
  const auto directory = Directory::openPrivate(scratch.path(), Directory::Create::No);
  auto first = FileLock::acquire(*directory, "k.lock", 0ms);
  ASSERT_TRUE(first) << first.status().message();
  EXPECT_FALSE(first->waited());
  const Status refused = FileLock::acquire(*directory, "k.lock", 30ms).status();
  EXPECT_EQ(refused.code(), StatusCode::Timeout);
  EXPECT_NE(refused.message().find(fmt::format("process {}", ::getpid())), std::string::npos)
      << refused.message();
  {
    const FileLock released = *std::move(first);
  }
  EXPECT_TRUE(FileLock::acquire(*directory, "k.lock", 0ms));
  EXPECT_TRUE(directory->list()->empty()) << "the lock's file goes with the lock";
}

TEST(FileLock, AKilledHolderLetsGo) {
  const TestDirectory scratch;
  const auto directory = Directory::openPrivate(scratch.path(), Directory::Create::No);
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::acquire(*directory, "k.lock", 1s);
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(lock ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(FileLock::acquire(*directory, "k.lock", 10ms).status().code(), StatusCode::Timeout);
  ::kill(child, SIGKILL);
  const auto lock = FileLock::acquire(*directory, "k.lock", 5s);
  EXPECT_TRUE(lock) << lock.status().message();
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FileLock, ManyThreadsTakeTurns) {
  const TestDirectory scratch;
  const auto directory = Directory::openPrivate(scratch.path(), Directory::Create::No);
  // Atomic for the thread sanitizer, which does not know file locks.
  std::atomic<int> inside = 0, total = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto lock = FileLock::acquire(*directory, "k.lock", 60s);
        ASSERT_TRUE(lock) << lock.status().message();
        EXPECT_EQ(++inside, 1);
        std::this_thread::yield();
        --inside;
        ++total;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(total, 40);
}

} // namespace
} // namespace wavesmith
