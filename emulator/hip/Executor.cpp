#include "emulator/hip/Executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace wavesmith::hipfront {

std::shared_ptr<Ticket> Executor::enqueue(const std::shared_ptr<StreamState> &stream,
                                          std::function<hipError_t()> run,
                                          std::function<bool()> ready) {
  auto ticket = std::make_shared<Ticket>();
  ticket->stream = stream;
  const std::lock_guard lock(mutex_);
  if (!worker_.joinable() && !stopping_)
    worker_ = std::thread([this] { work(); });
  stream->pending.push_back({std::move(run), std::move(ready), ++next_, ticket});
  if (std::ranges::find(active_, stream) == active_.end())
    active_.push_back(stream);
  wake_.notify_one();
  return ticket;
}

bool Executor::isDone(const Ticket &ticket) {
  const std::lock_guard lock(mutex_);
  return ticket.done;
}

bool Executor::isIdle(const StreamState &stream) {
  const std::lock_guard lock(mutex_);
  return stream.pending.empty() && !stream.running;
}

void Executor::wait(const Ticket &ticket) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return ticket.done || stopping_; });
}

void Executor::drain(const StreamState &stream) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return (stream.pending.empty() && !stream.running) || stopping_; });
}

void Executor::drainAll() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] {
    return stopping_ || std::ranges::all_of(active_, [](const auto &stream) {
             return stream->pending.empty() && !stream->running;
           });
  });
}

hipError_t Executor::takeError(StreamState &stream) {
  const std::lock_guard lock(mutex_);
  return std::exchange(stream.error, hipSuccess);
}

hipError_t Executor::takeAnyError() {
  const std::lock_guard lock(mutex_);
  hipError_t first = hipSuccess;
  for (const auto &stream : active_) {
    const hipError_t error = std::exchange(stream->error, hipSuccess);
    if (first == hipSuccess)
      first = error;
  }
  return first;
}

bool Executor::hasError(const StreamState &stream) {
  const std::lock_guard lock(mutex_);
  return stream.error != hipSuccess;
}

void Executor::shuffle(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  random_ = seed;
}

void Executor::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
    finished_.notify_all();
  }
  if (worker_.joinable() && worker_.get_id() != std::this_thread::get_id())
    worker_.join();
}

bool Executor::mayRun(const StreamState &stream) const {
  const Operation &head = stream.pending.front();
  // The legacy stream waits for all earlier work of blocking streams, and they for its.
  if (!stream.nonBlocking)
    for (const auto &other : active_)
      if (other.get() != &stream && !other->nonBlocking && !other->pending.empty() &&
          (other->isNull || stream.isNull) && other->pending.front().sequence < head.sequence)
        return false;
  return !head.ready || head.ready();
}

std::shared_ptr<StreamState> Executor::pick() {
  std::vector<std::shared_ptr<StreamState>> candidates;
  for (const auto &stream : active_)
    if (!stream->pending.empty() && mayRun(*stream))
      candidates.push_back(stream);
  if (candidates.empty())
    return nullptr;
  if (random_ != 0) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX generator
    return candidates[(random_ >> 33) % candidates.size()];
  }
  return *std::ranges::min_element(
      candidates, {}, [](const auto &stream) { return stream->pending.front().sequence; });
}

void Executor::useClock(std::function<double()> clock) {
  const std::lock_guard lock(mutex_);
  clock_ = std::move(clock);
}

void Executor::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::erase_if(active_, [](const auto &stream) {
      return stream->pending.empty() && stream->error == hipSuccess;
    });
    const std::shared_ptr<StreamState> stream = pick();
    if (!stream) {
      // Work that waits for a value in memory is polled; anything else wakes us.
      const bool waiting = std::ranges::any_of(
          active_, [](const auto &candidate) { return !candidate->pending.empty(); });
      if (waiting)
        wake_.wait_for(lock, std::chrono::milliseconds(1));
      else
        wake_.wait(lock);
      continue;
    }
    Operation operation = std::move(stream->pending.front());
    stream->pending.pop_front();
    stream->running = true;
    lock.unlock();
    const hipError_t error = operation.run ? operation.run() : hipSuccess;
    operation.run = nullptr; // releases what it holds outside the lock
    lock.lock();
    stream->running = false;
    if (error != hipSuccess && stream->error == hipSuccess)
      stream->error = error;
    operation.ticket->done = true;
    operation.ticket->milliseconds = clock_
                                         ? clock_()
                                         : std::chrono::duration<double, std::milli>(
                                               std::chrono::steady_clock::now().time_since_epoch())
                                               .count();
    finished_.notify_all();
  }
}

} // namespace wavesmith::hipfront
