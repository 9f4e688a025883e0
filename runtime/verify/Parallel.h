#pragma once
// Runs independent tasks on all cores and waits for them.

#include <cstdint>
#include <functional>

namespace wavesmith {

/// Calls body(i) for every i in [0, count), in any order, on up to `threads` threads (0 = cores).
void parallelFor(std::int64_t count, const std::function<void(std::int64_t)> &body,
                 int threads = 0);

} // namespace wavesmith
