// The database from outside: what is written is read again; what is damaged, foreign or newer is an
// error with a way out, and stays as it was.

#include "runtime/dispatch/tuning/TuningDatabase.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "tests/unit/support/TestDirectory.h"
#include "tests/unit/tuning/Records.h"

namespace wavesmith::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
/// As another program might.
void execute(const std::string &path, const char *sql) {
  sqlite3 *database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

class TuningDatabase : public testing::Test {
protected:
  std::vector<Record> read() {
    auto records = readDatabase(path);
    EXPECT_TRUE(records) << records.status().message();
    return records ? *records : std::vector<Record>();
  }
  void refused(StatusCode code, const char *words) {
    const std::string before = contents(path);
    const auto records = readDatabase(path);
    EXPECT_EQ(records.status().code(), code) << records.status().message();
    EXPECT_THAT(records.status().message(), HasSubstr(words));
    EXPECT_THAT(records.status().message(), HasSubstr(path));
    EXPECT_EQ(contents(path), before);
  }

  test::TestDirectory directory;
  const std::string path = directory / "tuning.db";
};

TEST_F(TuningDatabase, KeepsWhatIsWritten) {
  std::vector<Record> all = pair(512, 512, 5, 6) + pair(4096, 70000, 123.456, 1e-3);
  all[1].source = Record::Source::Measured;
  all[2].causal = false;
  ASSERT_TRUE(writeDatabase(path, {all.data(), 2}).isOk());
  ASSERT_TRUE(writeDatabase(path, {all.data() + 2, 2}).isOk());
  EXPECT_THAT(read(), UnorderedElementsAreArray(all));
  // The same call again replaces its time, another toolchain's stands beside it.
  all[0].microseconds = 7;
  Record other = all[0];
  other.toolchain = "u";
  ASSERT_TRUE(writeDatabase(path, {{all[0], other}}).isOk());
  EXPECT_THAT(read(), UnorderedElementsAreArray(all + std::vector{other}));
}

TEST_F(TuningDatabase, WhatIsWrongIsNotWritten) {
  std::vector<Record> records = pair(512, 512, 5, 6);
  records[1].microseconds = -1;
  EXPECT_EQ(writeDatabase(path, records).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(readDatabase(path).status().code(), StatusCode::NotFound);
  EXPECT_THAT(readDatabase(path).status().message(), HasSubstr("bench --record"));
}

TEST_F(TuningDatabase, WritersTakeTurns) {
  std::vector<std::jthread> pool;
  for (int thread = 0; thread < 4; ++thread)
    pool.emplace_back([&, thread] {
      for (int i = 0; i < 5; ++i) {
        const Status status = writeDatabase(path, pair(1 + thread * 5 + i, 100, 5, 6));
        EXPECT_TRUE(status.isOk()) << status.message();
      }
    });
  pool.clear();
  EXPECT_EQ(read().size(), 40u);
}

TEST_F(TuningDatabase, ForeignFilesAreNamedAndStay) {
  put(path, "");
  refused(StatusCode::Corrupt, "it is empty");
  put(path, "not a database, but long enough to be looked at as one: " + std::string(4096, 'x'));
  refused(StatusCode::Corrupt, "not a database");
  EXPECT_EQ(writeDatabase(path, pair(512, 512, 5, 6)).code(), StatusCode::Corrupt);
  std::filesystem::remove(path);
  execute(path, "CREATE TABLE t (x); PRAGMA application_id = 7");
  refused(StatusCode::InvalidArgument, "belongs to another program (application id 0x7");
  const std::string before = contents(path);
  EXPECT_EQ(writeDatabase(path, pair(512, 512, 5, 6)).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(contents(path), before);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(readDatabase(path).status().code(), StatusCode::Io);
}

TEST_F(TuningDatabase, OtherSchemasAreRefused) {
  ASSERT_TRUE(writeDatabase(path, pair(512, 512, 5, 6)).isOk());
  execute(path, "PRAGMA user_version = 2");
  refused(StatusCode::Unsupported, "schema version 2; this build knows 1");
  EXPECT_EQ(writeDatabase(path, pair(512, 512, 5, 6)).code(), StatusCode::Unsupported);
  execute(path, "PRAGMA user_version = 1; DROP TABLE call");
  refused(StatusCode::Corrupt, "no such table: call");
}

TEST_F(TuningDatabase, RecordsAreCheckedWhenRead) {
  for (const char *change :
       {"UPDATE call SET microseconds = 9e999", "UPDATE call SET heads = 0",
        "UPDATE call SET source = 'guessed'", "UPDATE call SET path = 'fp4'",
        "UPDATE call SET kv_len = 1 << 40", "UPDATE call SET toolchain = ''"}) {
    std::filesystem::remove(path);
    ASSERT_TRUE(writeDatabase(path, {pair(512, 512, 5, 6).data(), 1}).isOk());
    execute(path, change);
    refused(StatusCode::Corrupt, "record");
  }
}

/// Whatever a byte becomes: an answer or an error, and never other numbers of a checked kind.
TEST_F(TuningDatabase, DamageIsAnErrorOrHarmless) {
  ASSERT_TRUE(writeDatabase(path, pair(512, 512, 5, 6) + pair(4096, 4096, 40, 20)).isOk());
  const std::string whole = contents(path);
  ASSERT_GT(whole.size(), 4096u);
  int errors = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 256 ? 1 : 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    put(path, damaged);
    const auto records = readDatabase(path);
    errors += !records;
    if (records)
      for (const Record &record : *records)
        EXPECT_TRUE(record.validate().isOk()) << at;
  }
  for (const std::size_t length : {1u, 15u, 16u, 99u, 100u, 1000u, 4095u, 4096u, 4097u}) {
    put(path, whole.substr(0, length));
    EXPECT_FALSE(readDatabase(path)) << length;
  }
  EXPECT_GT(errors, 20);
}

TEST_F(TuningDatabase, NoRoomLeavesWhatWasThere) {
  ASSERT_TRUE(writeDatabase(path, pair(512, 512, 5, 6)).isOk());
  std::vector<Record> many;
  for (std::int64_t i = 1; i < 2000; ++i)
    many = std::move(many) + pair(i, 5000, 5, 6);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{static_cast<rlim_t>(std::filesystem::file_size(path) + 8192), old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = writeDatabase(path, many);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.isOk());
  EXPECT_THAT(status.message(), HasSubstr(path));
  EXPECT_EQ(read().size(), 2u);
}

TEST_F(TuningDatabase, OfADevice) {
  const Toolchain &toolchain = Toolchain::builtin();
  std::vector<Record> records = pair(512, 512, 5, 6);
  for (Record &record : records)
    record.toolchain = toolchainId(toolchain);
  ASSERT_TRUE(writeDatabase(path, records).isOk());
  for (const char *none : {"", "off"})
    EXPECT_EQ(tuningFor(none, "AMD Instinct MI325X", toolchain)->size(), 0u);
  EXPECT_EQ(tuningFor(path, "AMD Instinct MI325X", toolchain)->size(), 2u);
  EXPECT_EQ(tuningFor(path, "AMD Instinct MI300X", toolchain)->size(), 0u);
  Toolchain other = toolchain;
  other.compilerBuild += "x";
  EXPECT_EQ(tuningFor(path, "MI325X", other)->otherToolchains(), 2u);
  EXPECT_EQ(tuningFor(directory / "none", "MI325X", toolchain).status().code(),
            StatusCode::NotFound);
}

} // namespace
} // namespace wavesmith::tuning
