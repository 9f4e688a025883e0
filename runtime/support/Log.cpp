#include "runtime/support/Log.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include <unistd.h>

#include "runtime/support/Env.h"
#include "runtime/support/Text.h"

namespace wavesmith::log {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"off", "error", "warn", "info", "trace"};
constexpr std::array<std::string_view, 8> kAreas = {"bundle", "cache",  "hip",    "jit",
                                                    "lock",   "remote", "tuning", "verify"};

struct Settings {
  Level general = Level::Warn;
  std::map<std::string, Level, std::less<>> areas;
};

struct State {
  std::mutex mutex;
  bool configured = false;
  Settings settings;
  Sink sink = nullptr;
  void *context = nullptr;
};

// Leaked, so that a line logged while the process ends finds it alive.
State &state() {
  static State *instance = new State;
  return *instance;
}

std::optional<Level> parseLevel(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text)
      return static_cast<Level>(i);
  return std::nullopt;
}

Expected<Settings> parse(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const std::size_t equals = word.find('=');
    const std::string_view name = equals == std::string_view::npos ? word : word.substr(equals + 1);
    const std::optional<Level> level = parseLevel(name);
    if (!level || equals == 0)
      return wavesmith::error(
          StatusCode::InvalidArgument,
          "log setting \"{}\" is not level or area=level, level one of off error warn info trace",
          word);
    if (equals != std::string_view::npos &&
        std::ranges::find(kAreas, word.substr(0, equals)) == kAreas.end())
      return wavesmith::error(StatusCode::InvalidArgument,
                              "log setting \"{}\" names no area; expected one of {}", word,
                              fmt::join(kAreas, " "));
    if (equals == std::string_view::npos)
      settings.general = *level;
    else
      settings.areas.insert_or_assign(std::string(word.substr(0, equals)), *level);
  }
  return settings;
}

void install(State &to, Settings settings) {
  int highest = static_cast<int>(settings.general);
  for (const auto &[area, level] : settings.areas)
    highest = std::max(highest, static_cast<int>(level));
  to.settings = std::move(settings);
  to.configured = true;
  detail::highest.store(highest, std::memory_order_relaxed);
}

std::string textOf(const Settings &settings) {
  std::string text(kNames[static_cast<std::size_t>(settings.general)]);
  for (const auto &[area, level] : settings.areas)
    text += fmt::format(",{}={}", area, kNames[static_cast<std::size_t>(level)]);
  return text;
}

void writeStderr(std::string_view line) {
  // One write, so that lines of several processes do not mix; a failure has nowhere to go.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

/// Reads WAVESMITH_LOG unless there are settings; with the mutex held.
void ensureConfigured(State &s) {
  if (s.configured)
    return;
  Expected<Settings> settings = parse(env::get("WAVESMITH_LOG"));
  if (!settings)
    writeStderr(fmt::format("wavesmith warn log: WAVESMITH_LOG: {}\n",
                            printable(settings.status().message())));
  install(s, settings ? *std::move(settings) : Settings());
}

} // namespace

std::atomic<int> detail::highest{static_cast<int>(Level::Trace)};

bool detail::areaEnabled(Level level, std::string_view area) {
  State &s = state();
  const std::lock_guard lock(s.mutex);
  ensureConfigured(s);
  const auto found = s.settings.areas.find(area);
  return level <= (found == s.settings.areas.end() ? s.settings.general : found->second);
}

void detail::write(Level level, std::string_view area, std::string_view message) {
  const std::string line = fmt::format(
      "wavesmith {} {}: {}\n", kNames[static_cast<std::size_t>(level)], area, printable(message));
  Sink sink = nullptr;
  void *context = nullptr;
  {
    State &s = state();
    const std::lock_guard lock(s.mutex);
    sink = s.sink;
    context = s.context;
  }
  if (sink)
    sink(context, level, std::string_view(line).substr(0, line.size() - 1));
  else
    writeStderr(line);
}

Status configure(std::string_view settings) {
  WAVESMITH_ASSIGN(Settings parsed, parse(settings));
  State &s = state();
  const std::lock_guard lock(s.mutex);
  install(s, std::move(parsed));
  return Status::ok();
}

std::string settings() {
  State &s = state();
  const std::lock_guard lock(s.mutex);
  ensureConfigured(s);
  return textOf(s.settings);
}

void setSink(Sink sink, void *context) {
  State &s = state();
  const std::lock_guard lock(s.mutex);
  s.sink = sink;
  s.context = context;
}

} // namespace wavesmith::log
