// The library as a whole: names of codes, the thread's last error, version, log.

#include <deque>
#include <mutex>
#include <string>

#include "runtime/capi/Call.h"
#include "runtime/support/Log.h"

using namespace wavesmith;
using namespace wavesmith::capi;

namespace {

// The levels of the header are those of the log.
static_assert(static_cast<int>(log::Level::Error) == WAVESMITH_LOG_ERROR);
static_assert(static_cast<int>(log::Level::Warn) == WAVESMITH_LOG_WARN);
static_assert(static_cast<int>(log::Level::Info) == WAVESMITH_LOG_INFO);
static_assert(static_cast<int>(log::Level::Trace) == WAVESMITH_LOG_TRACE);
static_assert(static_cast<int>(StatusCode::InvalidArgument) == WAVESMITH_INVALID_ARGUMENT);
static_assert(static_cast<int>(StatusCode::Unsupported) == WAVESMITH_UNSUPPORTED);
static_assert(static_cast<int>(StatusCode::NotFound) == WAVESMITH_NOT_FOUND);
static_assert(static_cast<int>(StatusCode::ResourceExhausted) == WAVESMITH_RESOURCE_EXHAUSTED);
static_assert(static_cast<int>(StatusCode::CompileFailed) == WAVESMITH_COMPILE_FAILED);
static_assert(static_cast<int>(StatusCode::DeviceError) == WAVESMITH_DEVICE_ERROR);
static_assert(static_cast<int>(StatusCode::EmulationFault) == WAVESMITH_EMULATION_FAULT);
static_assert(static_cast<int>(StatusCode::Io) == WAVESMITH_IO);
static_assert(static_cast<int>(StatusCode::Internal) == WAVESMITH_INTERNAL);
static_assert(static_cast<int>(StatusCode::Cancelled) == WAVESMITH_CANCELLED);
static_assert(static_cast<int>(StatusCode::Timeout) == WAVESMITH_TIMEOUT);
static_assert(static_cast<int>(StatusCode::Corrupt) == WAVESMITH_CORRUPT);
static_assert(static_cast<int>(StatusCode::VerificationFailed) == WAVESMITH_VERIFICATION_FAILED);
static_assert(static_cast<int>(StatusCode::JitForbidden) == WAVESMITH_JIT_FORBIDDEN);

struct LogTarget {
  wavesmith_log_function function;
  void *user;
};

} // namespace

const char *wavesmith_status_name(wavesmith_status status) {
  return statusCodeName(static_cast<StatusCode>(status)).data();
}

const char *wavesmith_last_error(void) { return lastError(); }

const char *wavesmith_version(void) {
  static_assert(WAVESMITH_VERSION_MAJOR == 0 && WAVESMITH_VERSION_MINOR == 1 &&
                    WAVESMITH_VERSION_PATCH == 0,
                "the text below is that of the header");
  return "0.1.0";
}

wavesmith_status wavesmith_set_log(wavesmith_log_function function, void *user) {
  return call("wavesmith_set_log", [&]() -> Status {
    if (!function) {
      log::setSink(nullptr, nullptr);
      return Status::ok();
    }
    // Kept for ever: a line may be under way on another thread.
    static std::mutex mutex;
    static auto &targets = *new std::deque<LogTarget>;
    const std::lock_guard lock(mutex);
    LogTarget *target = &targets.emplace_back(LogTarget{function, user});
    log::setSink(
        [](void *context, log::Level level, std::string_view line) {
          const auto *to = static_cast<const LogTarget *>(context);
          to->function(to->user, static_cast<std::int32_t>(level), std::string(line).c_str());
        },
        target);
    return Status::ok();
  });
}
