#include "runtime/verify/Parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace wavesmith {

void parallelFor(std::int64_t count, const std::function<void(std::int64_t)> &body, int threads) {
  const std::int64_t cores = threads > 0 ? threads : std::thread::hardware_concurrency();
  const std::int64_t workers = std::clamp<std::int64_t>(cores, 1, std::max<std::int64_t>(count, 1));
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i = next++; i < count; i = next++)
      body(i);
  };
  std::vector<std::thread> others;
  for (std::int64_t i = 1; i < workers; ++i)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
}

} // namespace wavesmith
