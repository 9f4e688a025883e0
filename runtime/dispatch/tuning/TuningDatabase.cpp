#include "runtime/dispatch/tuning/TuningDatabase.h"

#include <filesystem>
#include <memory>
#include <tuple>

#include <sqlite3.h>

#include "runtime/support/Log.h"

namespace wavesmith::tuning {
namespace {

using policy::Path;

constexpr int kApplicationId = 0x57534d54; ///< "WSMT"
constexpr int kBusyMs = 5000;
constexpr const char *kAdvice = "remove it, or name another file, and record again";

constexpr const char *kCreate = R"(
CREATE TABLE call (
  device TEXT NOT NULL, target TEXT NOT NULL, head_dim TEXT NOT NULL,
  heads INTEGER NOT NULL, kv_heads INTEGER NOT NULL, causal INTEGER NOT NULL,
  q_len INTEGER NOT NULL, kv_len INTEGER NOT NULL,
  path TEXT NOT NULL, scales TEXT NOT NULL, source TEXT NOT NULL, toolchain TEXT NOT NULL,
  microseconds REAL NOT NULL,
  PRIMARY KEY (device, target, head_dim, heads, kv_heads, causal, q_len, kv_len, path, scales,
               source, toolchain)
) STRICT, WITHOUT ROWID;
)";
constexpr const char *kColumns = "device, target, head_dim, heads, kv_heads, causal, q_len, "
                                 "kv_len, path, scales, source, toolchain, microseconds";

struct CloseStatement {
  void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

class Database {
public:
  static Expected<Database> open(const std::string &path, int flags) {
    Database database(path);
    sqlite3 *handle = nullptr;
    // SQLite has names of its own that begin with a colon, such as :memory:.
    const std::string file = path.starts_with(':') ? "./" + path : path;
    const int result = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
    database.handle_.reset(handle); // also of a failed call
    if (result != SQLITE_OK)
      return database.failed(result, "open");
    sqlite3_busy_timeout(handle, kBusyMs);
    return database;
  }

  Status execute(const char *sql) {
    const int result = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
    return result == SQLITE_OK ? Status::ok() : failed(result, "write");
  }
  Expected<Statement> prepare(const std::string &sql) {
    sqlite3_stmt *statement = nullptr;
    const int result = sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr);
    if (result != SQLITE_OK)
      return failed(result, "read");
    return Statement(statement);
  }
  /// True when there is a row, false at the end.
  Expected<bool> step(const Statement &statement, const char *verb) {
    const int result = sqlite3_step(statement.get());
    if (result == SQLITE_ROW || result == SQLITE_DONE)
      return result == SQLITE_ROW;
    return failed(result, verb);
  }
  Expected<std::int64_t> number(const char *pragma) {
    WAVESMITH_ASSIGN(const Statement statement, prepare(fmt::format("PRAGMA {}", pragma)));
    WAVESMITH_TRY(step(statement, "read").status());
    return sqlite3_column_int64(statement.get(), 0);
  }

  /// Ok when it is a database of ours that this build reads; `isNew` when it is an empty one.
  Status check(bool &isNew) {
    WAVESMITH_ASSIGN(const std::int64_t id, number("application_id"));
    WAVESMITH_ASSIGN(const std::int64_t version, number("user_version"));
    WAVESMITH_ASSIGN(const Statement tables, prepare("SELECT count(*) FROM sqlite_schema"));
    WAVESMITH_TRY(step(tables, "read").status());
    isNew = id == 0 && version == 0 && sqlite3_column_int64(tables.get(), 0) == 0;
    if (isNew)
      return Status::ok();
    if (id != kApplicationId)
      return error(StatusCode::InvalidArgument,
                   "tuning database {} belongs to another program (application id 0x{:x}, ours is "
                   "0x{:x}); name another file",
                   path_, id, kApplicationId);
    if (version != kSchemaVersion)
      return error(StatusCode::Unsupported,
                   "tuning database {} has schema version {}; this build knows {}; {}", path_,
                   version, kSchemaVersion, kAdvice);
    return Status::ok();
  }
  Status corrupt(std::string_view what) const {
    return error(StatusCode::Corrupt, "tuning database {}: {}; {}", path_, what, kAdvice);
  }

private:
  explicit Database(const std::string &path) : path_(path) {}

  Status failed(int result, const char *verb) const {
    const int code = result & 0xff;
    const std::string why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(result);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_CONSTRAINT ||
        code == SQLITE_ERROR)
      return corrupt(why);
    return error(code == SQLITE_FULL   ? StatusCode::ResourceExhausted
                 : code == SQLITE_BUSY ? StatusCode::Timeout
                                       : StatusCode::Io,
                 "tuning database {}: cannot {} it: {}", path_, verb, why);
  }

  struct Close {
    void operator()(sqlite3 *handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

std::string textAt(const Statement &row, int column) {
  const unsigned char *text = sqlite3_column_text(row.get(), column);
  return text ? std::string(reinterpret_cast<const char *>(text),
                            static_cast<std::size_t>(sqlite3_column_bytes(row.get(), column)))
              : std::string();
}

Expected<Record> recordOf(const Statement &row, const Database &database) {
  Record record;
  record.device = textAt(row, 0);
  record.target = textAt(row, 1);
  record.headDim = textAt(row, 2);
  record.heads = sqlite3_column_int64(row.get(), 3);
  record.kvHeads = sqlite3_column_int64(row.get(), 4);
  record.causal = sqlite3_column_int64(row.get(), 5) != 0;
  record.qLen = sqlite3_column_int64(row.get(), 6);
  record.kvLen = sqlite3_column_int64(row.get(), 7);
  const std::string path = textAt(row, 8), source = textAt(row, 10);
  record.path = path == "fp8" ? Path::Fp8 : path == "bf16" ? Path::Bf16 : Path::Refuse;
  record.scales = textAt(row, 9);
  record.toolchain = textAt(row, 11);
  record.microseconds = sqlite3_column_double(row.get(), 12);
  record.source = source == "measured" ? Record::Source::Measured : Record::Source::Modelled;
  if (source != sourceName(record.source))
    return database.corrupt(fmt::format("a record's source is \"{}\"", source.substr(0, 64)));
  if (const Status valid = record.validate(); !valid.isOk())
    return database.corrupt(fmt::format("a record is wrong: {}", valid.message()));
  return record;
}

void setText(const Statement &statement, int column, std::string_view text) {
  sqlite3_bind_text(statement.get(), column, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
}

} // namespace

Expected<std::vector<Record>> readDatabase(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return error(StatusCode::NotFound,
                 "there is no tuning database {}; `wavesmith bench --record {}` makes one", path,
                 path);
  WAVESMITH_ASSIGN(Database database, Database::open(path, SQLITE_OPEN_READONLY));
  bool isNew = false;
  WAVESMITH_TRY(database.check(isNew));
  if (isNew)
    return database.corrupt("it is empty");
  WAVESMITH_ASSIGN(const Statement check, database.prepare("PRAGMA quick_check(1)"));
  WAVESMITH_TRY(database.step(check, "read").status());
  if (const std::string answer = textAt(check, 0); answer != "ok")
    return database.corrupt(answer);
  WAVESMITH_ASSIGN(
      const Statement rows,
      database.prepare(fmt::format("SELECT {} FROM call ORDER BY {}", kColumns, kColumns)));
  std::vector<Record> records;
  for (;;) {
    WAVESMITH_ASSIGN(const bool more, database.step(rows, "read"));
    if (!more)
      return records;
    if (records.size() == kMaxRecords)
      return error(StatusCode::ResourceExhausted, "tuning database {} has more than {} records; {}",
                   path, kMaxRecords, kAdvice);
    WAVESMITH_ASSIGN(Record record, recordOf(rows, database));
    records.push_back(std::move(record));
  }
}

Status writeDatabase(const std::string &path, std::span<const Record> records) {
  for (const Record &record : records)
    WAVESMITH_TRY(record.validate());
  WAVESMITH_ASSIGN(Database database,
                   Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  // The schema too, so that two that make the file do not meet half of it. Without a commit,
  // closing rolls back.
  WAVESMITH_TRY(database.execute("BEGIN IMMEDIATE"));
  bool isNew = false;
  WAVESMITH_TRY(database.check(isNew));
  if (isNew) {
    WAVESMITH_TRY(database.execute(kCreate));
    WAVESMITH_TRY(
        database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                     kApplicationId, kSchemaVersion)
                             .c_str()));
  }
  WAVESMITH_ASSIGN(
      const Statement insert,
      database.prepare(fmt::format(
          "INSERT OR REPLACE INTO call ({}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", kColumns)));
  for (const Record &record : records) {
    setText(insert, 1, record.device);
    setText(insert, 2, record.target);
    setText(insert, 3, record.headDim);
    sqlite3_bind_int64(insert.get(), 4, record.heads);
    sqlite3_bind_int64(insert.get(), 5, record.kvHeads);
    sqlite3_bind_int64(insert.get(), 6, record.causal);
    sqlite3_bind_int64(insert.get(), 7, record.qLen);
    sqlite3_bind_int64(insert.get(), 8, record.kvLen);
    setText(insert, 9, policy::pathName(record.path));
    setText(insert, 10, record.scales);
    setText(insert, 11, sourceName(record.source));
    setText(insert, 12, record.toolchain);
    sqlite3_bind_double(insert.get(), 13, record.microseconds);
    WAVESMITH_TRY(database.step(insert, "write").status());
    sqlite3_reset(insert.get());
  }
  return database.execute("COMMIT");
}

Expected<Tuning> tuningFor(const std::string &path, std::string_view deviceName,
                           const Toolchain &toolchain) {
  if (path.empty() || path == "off")
    return Tuning();
  WAVESMITH_ASSIGN(const std::vector<Record> records, readDatabase(path));
  Tuning tuning(records, chipOf(deviceName), toolchainId(toolchain));
  if (tuning.otherToolchains() > 0)
    log::warn("tuning", "records of another version are not used; record again count={} path={}",
              tuning.otherToolchains(), path);
  return tuning;
}

} // namespace wavesmith::tuning
