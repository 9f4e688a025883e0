#pragma once
// Log lines for people: "wavesmith warn cache: entry damaged key=1f3a path=/x". Levels come from
// WAVESMITH_LOG at the first line, never at load time. A line that is off costs one branch.
// Messages are lower-case, without a trailing period, with key=value details. Any thread; a line
// is written with one call.

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runtime/support/Status.h"

namespace wavesmith::log {

enum class Level : int { Off = 0, Error, Warn, Info, Trace };

namespace detail {
/// The highest level that any area shows; starts open so that the first line reads the settings.
extern std::atomic<int> highest;
bool areaEnabled(Level level, std::string_view area);
void write(Level level, std::string_view area, std::string_view message);
} // namespace detail

inline bool enabled(Level level, std::string_view area) {
  return static_cast<int>(level) <= detail::highest.load(std::memory_order_relaxed) &&
         detail::areaEnabled(level, area);
}

template <typename... Args>
void error(std::string_view area, fmt::format_string<Args...> format, Args &&...args) {
  if (enabled(Level::Error, area)) [[unlikely]]
    detail::write(Level::Error, area, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warn(std::string_view area, fmt::format_string<Args...> format, Args &&...args) {
  if (enabled(Level::Warn, area)) [[unlikely]]
    detail::write(Level::Warn, area, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(std::string_view area, fmt::format_string<Args...> format, Args &&...args) {
  if (enabled(Level::Info, area)) [[unlikely]]
    detail::write(Level::Info, area, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void trace(std::string_view area, fmt::format_string<Args...> format, Args &&...args) {
  if (enabled(Level::Trace, area)) [[unlikely]]
    detail::write(Level::Trace, area, fmt::format(format, std::forward<Args>(args)...));
}

/// Replaces the settings of WAVESMITH_LOG; the error names the word that is wrong.
Status configure(std::string_view settings);
/// The settings in force, in the same form: for a library with its own copy of this file, which
/// else would read the variable, and complain of it, a second time.
std::string settings();
/// Receives every line that is on; null restores stderr. `context` is passed back.
using Sink = void (*)(void *context, Level level, std::string_view line);
void setSink(Sink sink, void *context);

} // namespace wavesmith::log
