#pragma once
// How a hip* function is written: its body runs inside guarded(), which stops exceptions and keeps
// HIP's per-thread last error; a failing body says why with fail(). Per-thread state only.

#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "emulator/hip/Hip.h"
#include "runtime/support/Status.h"

namespace wavesmith::hipfront {

/// The error code that hipGetLastError returns, and why the last failing call failed.
struct ThreadErrors {
  hipError_t last = hipSuccess;
  std::string detail;
};
ThreadErrors &threadErrors();

/// What wavesmithEmulatorSampleNext() left for this thread's next kernel.
std::vector<double> &nextWeights();

template <typename... Args>
hipError_t fail(hipError_t code, fmt::format_string<Args...> format, Args &&...args) {
  threadErrors().detail = fmt::format(format, std::forward<Args>(args)...);
  return code;
}

inline hipError_t fail(hipError_t code, const Status &status) {
  return fail(code, "{}", status.message());
}

/// hipErrorNotReady is an answer, not a failure, and leaves the last error alone.
template <typename Body> hipError_t guarded(Body &&body) noexcept {
  hipError_t code = hipErrorUnknown;
  try {
    code = body();
  } catch (const std::bad_alloc &) {
    code = hipErrorOutOfMemory;
  } catch (const std::exception &problem) {
    try {
      threadErrors().detail = problem.what();
    } catch (...) {
    }
  } catch (...) {
  }
  if (code != hipSuccess && code != hipErrorNotReady)
    threadErrors().last = code;
  return code;
}

} // namespace wavesmith::hipfront

/// Returns from the body when a front call failed.
#define WAVESMITH_HIP_TRY(expression)                                                              \
  do {                                                                                             \
    if (const hipError_t hipTry_ = (expression); hipTry_ != hipSuccess)                            \
      return hipTry_;                                                                              \
  } while (false)
