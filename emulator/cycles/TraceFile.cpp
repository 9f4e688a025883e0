#include "emulator/cycles/TraceFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include <unistd.h>

namespace wavesmith::emulator {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::string_view kHead = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
constexpr std::uint64_t kLeastBudget = 64 << 10; ///< the names of a launch's tracks fit in
constexpr double kGapMicroseconds = 1;           ///< between launches

} // namespace

Expected<std::shared_ptr<TraceFile>> TraceFile::create(const std::string &path,
                                                       std::uint64_t maxBytes) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty())
    folder = ".";
  // It is published by a rename, which would put a file where a device or a pipe was.
  if (path.empty() || (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)))
    return error(StatusCode::InvalidArgument, "trace file \"{}\": want the path of a file", path);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return error(StatusCode::InvalidArgument, "trace file {}: cannot write to its folder: {}", path,
                 std::strerror(errno));
  return std::shared_ptr<TraceFile>(new TraceFile(path, maxBytes));
}

TraceFile::TraceFile(std::string path, std::uint64_t maxBytes)
    : path_(std::move(path)), partial_(fmt::format("{}.{}.partial", path_, ::getpid())),
      maxBytes_(maxBytes) {}

TraceFile::~TraceFile() {
  if (!file_)
    return;
  std::fclose(file_);
  if (launches_ == 0)
    ::unlink(partial_.c_str());
}

std::string TraceFile::escape(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

void TraceFile::fail(std::string_view action) {
  if (problem_.empty())
    problem_ = fmt::format("trace file {}: cannot {}: {}", path_, action, std::strerror(errno));
}

bool TraceFile::beginLaunch(std::string_view kernel, double clockMhz) {
  kernel_ = escape(kernel);
  clockMhz_ = clockMhz;
  budget_ = maxBytes_ > written_ ? (maxBytes_ - written_) / 2 : 0;
  if (!file_ && problem_.empty()) {
    file_ = std::fopen(partial_.c_str(), "w");
    if (!file_)
      fail("create it");
    pending_ = kHead;
    written_ = kHead.size();
  } else if (file_ && std::fseek(file_, static_cast<long>(written_), SEEK_SET) != 0) {
    fail("continue it");
  }
  bool hasRoom = budget_ >= kLeastBudget;
  cut_ |= !hasRoom;
  return hasRoom && problem_.empty();
}

void TraceFile::flush() {
  if (file_ && problem_.empty() && !pending_.empty() &&
      std::fwrite(pending_.data(), 1, pending_.size(), file_) != pending_.size())
    fail("write it");
  pending_.clear();
}

Status TraceFile::endLaunch(double clocks) {
  flush();
  start_ = microseconds(clocks) + kGapMicroseconds;
  // The next launch overwrites this end.
  pending_ = fmt::format("\n],\"otherData\":{{\"times\":\"modelled, in microseconds at the nominal "
                         "clock\",\"complete\":\"{}\"}}}}\n",
                         cut_ ? "no, cut at the size bound" : "yes");
  flush();
  if (file_ && problem_.empty() && std::fflush(file_) != 0)
    fail("write it");
  if (file_ && problem_.empty() && launches_ == 0 && ::rename(partial_.c_str(), path_.c_str()) != 0)
    fail("name it");
  if (!problem_.empty())
    return Status(StatusCode::Io, problem_);
  ++launches_;
  return Status::ok();
}

TraceSummary TraceFile::summary() const { return {path_, events_, written_, cut_, problem_}; }

void TraceFile::event(std::string_view text) {
  std::size_t before = pending_.size();
  pending_ += events_++ ? ",\n" : "\n";
  pending_ += text;
  written_ += pending_.size() - before;
  if (pending_.size() >= kChunk)
    flush();
}

int TraceFile::process(std::string_view name) {
  int id = ++processes_;
  event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"{1}: {2}"}}}})",
                    id, kernel_, escape(name)));
  event(fmt::format(
      R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})", id));
  return id;
}

void TraceFile::track(int process, int track, std::string_view name) {
  event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                    process, track, escape(name)));
  event(fmt::format(
      R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},"args":{{"sort_index":{1}}}}})",
      process, track));
}

// Six decimals tell clocks apart; Perfetto keeps nanoseconds, cut off, so that slices that touch
// stay apart.
void TraceFile::slice(int process, int track, std::string_view name, std::string_view category,
                      double from, double until, std::string_view arguments) {
  double at = microseconds(from);
  event(fmt::format(
      R"({{"ph":"X","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"name":"{}","cat":"{}"{}{}{}}})",
      process, track, at, (until - from) / clockMhz_, name, category,
      arguments.empty() ? "" : ",\"args\":{", arguments, arguments.empty() ? "" : "}"));
}

void TraceFile::counter(int process, std::string_view name, double at, std::int64_t value) {
  event(fmt::format(R"({{"ph":"C","pid":{},"ts":{:.6f},"name":"{}","args":{{"value":{}}}}})",
                    process, microseconds(at), name, value));
}

void TraceFile::noteCut(int process, double at) {
  cut_ = true;
  event(fmt::format(R"({{"ph":"i","s":"p","pid":{},"tid":0,"ts":{:.6f},)"
                    R"("name":"cut here, trace_mib is {}"}})",
                    process, microseconds(at), maxBytes_ >> 20));
}

} // namespace wavesmith::emulator
