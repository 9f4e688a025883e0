#pragma once
// The small table that `wavesmith run` prints: what ran, where the kernel came from, its resources,
// errors beside their limits, checks. Pure function.

#include <string>

#include "runtime/session/Session.h"

namespace wavesmith::cli {

std::string describeRun(const RunRequest &request, const RunReport &report);

} // namespace wavesmith::cli
