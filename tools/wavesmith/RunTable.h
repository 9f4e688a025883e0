#pragma once
// The small table that `wavesmith run` prints: what ran, where the kernel came from, its resources,
// errors beside their limits, checks. Pure functions.

#include <string>

#include "runtime/session/Session.h"

namespace wavesmith::cli {

/// The call in one line: "bf16 attention 192x128 causal, 12 heads, ...".
std::string describeCall(const RunRequest &request, const RunReport &report);
std::string describeRun(const RunRequest &request, const RunReport &report);

} // namespace wavesmith::cli
