#pragma once
// The kernels around attention as plans, for those that are built of several. Any thread.

#include <memory>

#include "runtime/capi/Context.h"
#include "runtime/capi/Plan.h"

namespace wavesmith::capi {

Expected<std::shared_ptr<Plan>> planMerge(const Context &context, const wavesmith_merge &merge);

} // namespace wavesmith::capi
