#pragma once
// A file that Perfetto (ui.perfetto.dev) opens: Chrome's JSON trace events, written as they come.
// It appears under its name with the end of the first launch and is valid JSON whenever no launch
// runs and every write succeeded; launches follow one another on its time axis. One launch at a
// time.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/support/Status.h"

namespace wavesmith::emulator {

/// What a trace holds so far.
struct TraceSummary {
  std::string path;
  std::uint64_t events = 0, bytes = 0;
  bool cut = false;    ///< the size bound left something out
  std::string problem; ///< why the file could not be written, or empty
};

class TraceFile {
public:
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{128} << 20;

  /// Refuses a path whose folder cannot be written; the file itself appears later.
  static Expected<std::shared_ptr<TraceFile>> create(const std::string &path,
                                                     std::uint64_t maxBytes = kDefaultBytes);
  ~TraceFile();
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  /// Times of the events that follow are clocks of this launch. False: there is no room for it.
  bool beginLaunch(std::string_view kernel, double clockMhz);
  /// Completes the file. A failure to write is kept and returned by every later call.
  Status endLaunch(double clocks);
  TraceSummary summary() const;

  /// Bytes that this launch may use: half of what is left, so that later ones find room.
  std::uint64_t budget() const { return budget_; }
  std::uint64_t written() const { return written_; }

  /// A process: a group of tracks under one heading.
  int process(std::string_view name);
  void track(int process, int track, std::string_view name);
  /// `arguments`: members of a JSON object, or empty.
  void slice(int process, int track, std::string_view name, std::string_view category, double from,
             double until, std::string_view arguments);
  void counter(int process, std::string_view name, double at, std::int64_t value);
  /// The size bound was met: a mark across all tracks.
  void noteCut(int process, double at);

  /// Escapes what may not stand in a JSON string.
  static std::string escape(std::string_view text);

private:
  TraceFile(std::string path, std::uint64_t maxBytes);
  void event(std::string_view text);
  void flush();
  void fail(std::string_view action);
  double microseconds(double clocks) const { return start_ + clocks / clockMhz_; }

  std::string path_, partial_, pending_, kernel_, problem_;
  std::uint64_t maxBytes_, written_ = 0, events_ = 0, budget_ = 0;
  int processes_ = 0, launches_ = 0;
  double start_ = 0, clockMhz_ = 1;
  bool cut_ = false;
  std::FILE *file_ = nullptr;
};

} // namespace wavesmith::emulator
