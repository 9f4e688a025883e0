#pragma once
// The kernels around attention as plans, for those that are built of several. Any thread.

#include <memory>

#include "runtime/capi/Context.h"
#include "runtime/capi/Plan.h"

namespace wavesmith::capi {

/// A row in two parts (MLA).
inline constexpr int kNopeDim = 128, kRopeDim = 64;

Expected<std::shared_ptr<Plan>> planMerge(const Context &context, const wavesmith_merge &merge);
/// x is Binding::Q, amax Binding::DescaleK.
Expected<std::shared_ptr<Plan>> planAmax(const Context &context, const wavesmith_amax &amax);
/// Of the same rows: x is Binding::Q, the counts of magnitudes (uint64 [heads][256]) Binding::Lse.
Expected<std::shared_ptr<Plan>> planHistogram(const Context &context, const wavesmith_amax &rows);

} // namespace wavesmith::capi
