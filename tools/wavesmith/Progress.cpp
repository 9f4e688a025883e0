#include "tools/wavesmith/Progress.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace wavesmith::cli {
namespace {

constexpr std::chrono::seconds kSlow{2};

} // namespace

Progress::Progress(std::size_t total)
    : total_(total), terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()), last_(start_) {}

Progress::~Progress() {
  if (lineOpen_)
    fmt::print(stderr, "\r\033[K");
}

void Progress::done(std::string_view what) {
  const std::lock_guard lock(mutex_);
  ++count_;
  const auto now = std::chrono::steady_clock::now();
  if (terminal_) {
    fmt::print(stderr, "\r\033[K[{}/{}] {}", count_, total_, what);
    std::fflush(stderr);
    lineOpen_ = true;
  } else if (now - start_ > kSlow && now - last_ > kSlow) {
    fmt::print(stderr, "[{}/{}] {}\n", count_, total_, what);
    last_ = now;
  }
}

Stage::Stage() : terminal_(isatty(STDERR_FILENO) != 0) {}

void Stage::enter(std::string_view name) {
  if (!terminal_)
    return;
  fmt::print(stderr, "\r\033[K{} ...", name);
  std::fflush(stderr);
  lineOpen_ = true;
}

void Stage::leave() {
  if (std::exchange(lineOpen_, false))
    fmt::print(stderr, "\r\033[K");
}

} // namespace wavesmith::cli
