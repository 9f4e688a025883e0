#pragma once
// Progress of long work on stderr: a line that rewrites itself on a terminal; elsewhere a plain
// line now and then, and only once the work has turned out to be slow. Any thread may report.

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace wavesmith::cli {

class Progress {
public:
  explicit Progress(std::size_t total);
  ~Progress(); ///< clears the terminal line
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// One more of `total` is done.
  void done(std::string_view what);

private:
  std::mutex mutex_;
  const std::size_t total_;
  std::size_t count_ = 0;
  const bool terminal_;
  bool lineOpen_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

/// The stage that a long call is in: on a terminal only, where the line is cleared afterwards. One
/// thread.
class Stage {
public:
  Stage();
  ~Stage() { leave(); }
  Stage(const Stage &) = delete;
  Stage &operator=(const Stage &) = delete;

  void enter(std::string_view name);
  void leave();

private:
  const bool terminal_;
  bool lineOpen_ = false;
};

} // namespace wavesmith::cli
