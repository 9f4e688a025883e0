#pragma once
// Runs the work of all streams on one thread, as a device would: in order within a stream, after
// the events that it waits for, and around the null stream by HIP's legacy rule. Calls never block
// on running work unless they wait by name. Any thread may enqueue.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulator/hip/Hip.h"

namespace wavesmith::hipfront {

class Capture;

/// The end of one piece of work; what an event remembers.
struct Ticket {
  bool done = false;       ///< under the executor's mutex
  double milliseconds = 0; ///< when it ended, on the executor's clock
  std::weak_ptr<struct StreamState> stream;
};

struct Operation {
  std::function<hipError_t()> run; ///< on the worker; an error becomes the stream's
  std::function<bool()> ready;     ///< null: at once; called under the executor's mutex
  std::uint64_t sequence = 0;
  std::shared_ptr<Ticket> ticket;
};

struct StreamState {
  bool isNull = false; ///< the legacy stream
  bool nonBlocking = false;
  unsigned flags = 0;
  int priority = 0;
  int device = 0;
  // Under the executor's mutex.
  std::deque<Operation> pending;
  bool running = false;
  hipError_t error = hipSuccess; ///< not yet reported
  // Under the front's mutex.
  std::shared_ptr<Capture> capture;
};

class Executor {
public:
  Executor() = default;
  ~Executor() { stop(); }
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  std::shared_ptr<Ticket> enqueue(const std::shared_ptr<StreamState> &stream,
                                  std::function<hipError_t()> run,
                                  std::function<bool()> ready = nullptr);
  bool isDone(const Ticket &ticket);
  bool isIdle(const StreamState &stream);
  void wait(const Ticket &ticket);
  void drain(const StreamState &stream);
  void drainAll();
  /// The stream's unreported error, which this call reports: it is cleared.
  hipError_t takeError(StreamState &stream);
  /// Of any stream, destroyed ones included; clears all.
  hipError_t takeAnyError();
  bool hasError(const StreamState &stream);
  /// Random turns of the streams by this seed; zero for the order of submission.
  void shuffle(std::uint64_t seed);
  /// What tells the milliseconds when work ends, asked on the worker; null: the host's steady
  /// clock.
  void useClock(std::function<double()> clock);
  /// Ends the worker after the operation that it is in.
  void stop();

private:
  void work();
  std::shared_ptr<StreamState> pick();
  bool mayRun(const StreamState &stream) const;

  mutable std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::vector<std::shared_ptr<StreamState>> active_; ///< with pending work or an error
  std::uint64_t next_ = 0;
  std::uint64_t random_ = 0;
  std::function<double()> clock_;
  bool stopping_ = false;
  std::thread worker_;
};

} // namespace wavesmith::hipfront
