// The wavesmithEmulator* functions.

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"
#include "emulator/hip/WavesmithEmulator.h"
#include "runtime/support/Log.h"

using namespace wavesmith::hipfront;

namespace {

/// Keeps the text alive for the caller until the thread's next call of the same function.
template <typename Make> const char *keep(std::string &slot, Make &&make) noexcept {
  try {
    slot = make();
    return slot.c_str();
  } catch (...) {
    return "";
  }
}

} // namespace

extern "C" {

int wavesmithEmulatorConfigure(const char *settings) {
  return guarded([&] { return Front::get().configure(settings ? settings : ""); });
}

int wavesmithEmulatorSampleNext(const double *weights, unsigned long long count) {
  return guarded([&] {
    if (weights && count > nextWeights().max_size())
      return fail(hipErrorInvalidValue, "{} weights", count);
    nextWeights().assign(weights, weights ? weights + count : weights);
    return hipSuccess;
  });
}

int wavesmithEmulatorLog(const char *settings) {
  return guarded([&] {
    const wavesmith::Status status = wavesmith::log::configure(settings ? settings : "");
    return status.isOk() ? hipSuccess : fail(hipErrorInvalidValue, status);
  });
}

const char *wavesmithEmulatorConfiguration(void) {
  thread_local std::string text;
  return keep(text, [] { return Front::get().config().text(); });
}

const char *wavesmithEmulatorLastFault(void) {
  thread_local std::string text;
  return keep(text, [] { return Front::get().report().takeFault(); });
}

const char *wavesmithEmulatorLastError(void) { return threadErrors().detail.c_str(); }

const char *wavesmithEmulatorLastReport(int reset) {
  thread_local std::string text;
  return keep(text,
              [&] { return Front::get().report().json(Front::get().config().text(), reset != 0); });
}

} // extern "C"
