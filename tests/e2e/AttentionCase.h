#pragma once
// Drawing and running attention cases: what the end-to-end tests share. A case is a function of its
// number alone, so a failure is replayed by the test's name or by the command line that it prints.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/session/Session.h"

namespace wavesmith::testing {

/// Every execution order that the emulator offers: 2 landings of vector memory x 2 of LDS x 3 of
/// waves x zeroed or poisoned registers.
const std::vector<std::string> &allOrders();

/// The targets that kernels are made for.
std::vector<std::string> targetNames();

/// Case `number`: target, dims, heads, lengths, strides, order and seed at random, within a bound
/// on work.
RunRequest drawCase(int number);

/// The `wavesmith run` line of a request.
std::string commandLine(const RunRequest &request);

/// Runs on the emulator, compiling without a disk cache. One session for the whole process.
Expected<RunReport> runCase(const RunRequest &request);

/// Empty, or everything that is wrong with a run: faults, errors over their bounds, canaries.
std::string complaints(const Expected<RunReport> &report);

} // namespace wavesmith::testing
