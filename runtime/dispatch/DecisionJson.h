#pragma once
// Decisions as docs/schemas/explain.json has them, for the command line and the C interface. Pure
// function.

#include <nlohmann/json_fwd.hpp>

#include "runtime/dispatch/Dispatch.h"

namespace wavesmith {

/// Sets "sequences": of each choice path, rule, reason, values, flips and the sequences that it is
/// of. A single choice's five are set in `into` itself too.
void putDecisions(const Decisions &decisions, nlohmann::ordered_json &into);

} // namespace wavesmith
