#include "emulator/hip/Front.h"

#include <cstdlib>

#include "emulator/hip/Call.h"
#include "emulator/hip/Graph.h"
#include "runtime/support/Env.h"
#include "runtime/support/Log.h"

namespace wavesmith::hipfront {

ThreadErrors &threadErrors() {
  thread_local ThreadErrors errors;
  return errors;
}

std::vector<double> &nextWeights() {
  thread_local std::vector<double> weights;
  return weights;
}

Front &Front::get() {
  static Front *front = [] {
    auto *made = new Front;
    // The worker must not run into the process's dying statics.
    std::atexit([] { Front::get().executor_.stop(); });
    return made;
  }();
  return *front;
}

Front::Front() {
  nullStream_->isNull = true;
  const auto settings = parseConfig(env::get("WAVESMITH_EMULATOR"), Config());
  Status status = settings.status();
  if (settings) {
    config_ = *settings;
    status = openTrace(config_);
  }
  if (!status)
    configError_ = "WAVESMITH_EMULATOR: " + status.message();
  applyConfig();
}

void Front::applyConfig() {
  executor_.shuffle(config_.randomStreams ? config_.run.seed : 0);
  executor_.useClock(config_.modelledEvents
                         ? std::function<double()>([this] { return modelledMilliseconds_.load(); })
                         : nullptr);
}

int &Front::currentDevice() {
  thread_local int device = 0;
  return device;
}

hipError_t Front::checkDevice(int device) {
  const int count = config().devices;
  if (device >= 0 && device < count)
    return hipSuccess;
  return fail(hipErrorInvalidDevice, "device {}: there are {}, from 0", device, count);
}

hipError_t Front::changePeer(int peer, bool enable) {
  WAVESMITH_HIP_TRY(checkDevice(peer));
  const int own = currentDevice();
  if (peer == own)
    return fail(hipErrorInvalidDevice, "device {} is its own peer", peer);
  const std::lock_guard lock(mutex);
  if (enable && !peers_.insert({own, peer}).second)
    return fail(hipErrorPeerAccessAlreadyEnabled, "from device {} to {}", own, peer);
  if (!enable && peers_.erase({own, peer}) == 0)
    return fail(hipErrorPeerAccessNotEnabled, "from device {} to {}", own, peer);
  return hipSuccess;
}

Status Front::openTrace(const Config &config) {
  std::shared_ptr<emulator::TraceFile> file;
  if (!config.trace.empty()) {
    WAVESMITH_ASSIGN(file, emulator::TraceFile::create(config.trace, config.traceMib << 20));
  }
  trace_ = std::move(file);
  return Status::ok();
}

hipError_t Front::usable() {
  if (configError_.empty())
    return hipSuccess;
  return fail(hipErrorNotInitialized, "{}", configError_);
}

Config Front::config() {
  const std::lock_guard lock(mutex);
  return config_;
}

hipError_t Front::configure(std::string_view text) {
  executor_.drainAll();
  const std::lock_guard deviceLock(deviceMutex_);
  const std::lock_guard lock(mutex);
  const auto changed = parseConfig(text, config_);
  if (!changed)
    return fail(hipErrorInvalidValue, changed.status());
  if (changed->chip->target != config_.chip->target) {
    if (!allocated_.empty() || !modules_.empty())
      return fail(hipErrorInvalidValue,
                  "chip={}: the target cannot change from {} to {} while memory or modules are in "
                  "use; free them or call hipDeviceReset first",
                  changed->chip->name, config_.chip->target, changed->chip->target);
    device_.reset();
  }
  if (changed->trace != config_.trace || changed->traceMib != config_.traceMib)
    if (const Status status = openTrace(*changed); !status)
      return fail(hipErrorInvalidValue, status);
  config_ = *changed;
  configError_.clear();
  applyConfig();
  return hipSuccess;
}

Expected<emulator::Device *> Front::device() {
  if (!device_) {
    const std::lock_guard lock(mutex);
    WAVESMITH_ASSIGN(device_,
                     emulator::Device::create({.target = std::string(config_.chip->target)}));
    for (const auto &[address, block] : blocks_)
      if (!block.onDevice())
        WAVESMITH_TRY(device_->mapHost({reinterpret_cast<std::byte *>(address), block.size}));
  }
  return device_.get();
}

hipError_t Front::execute(const Task &task, StreamState &stream) noexcept {
  const hipError_t code = guarded([&] { return dispatch(task, stream); });
  // The worker's own last error is nobody's; the text travels in the report.
  if (code != hipSuccess && !threadErrors().detail.empty())
    report_.addFailure(threadErrors().detail);
  return code;
}

hipError_t Front::dispatch(const Task &task, StreamState &stream) {
  threadErrors().detail.clear();
  if (const auto *kernel = std::get_if<KernelTask>(&task))
    return runKernel(*kernel, stream);
  if (const auto *copy = std::get_if<CopyTask>(&task))
    return runCopy(*copy);
  if (const auto *fill = std::get_if<FillTask>(&task))
    return runFill(*fill);
  if (const auto *host = std::get_if<HostTask>(&task))
    host->function(host->argument);
  if (const auto *graph = std::get_if<GraphTask>(&task))
    for (const std::size_t index : graph->graph->order)
      WAVESMITH_HIP_TRY(dispatch(graph->graph->graph->nodes[index]->task, stream));
  return hipSuccess;
}

hipError_t Front::runKernel(const KernelTask &task, StreamState &stream) {
  // After a fault the data is nobody's; a real device would be gone. Reported once, it runs again.
  if (executor_.hasError(stream))
    return hipSuccess;
  Config settings = config();
  settings.run.chip = settings.chip->name;
  settings.run.modelCycles |= settings.modelledEvents || !settings.trace.empty();
  emulator::LaunchConfig launch;
  launch.kernel = task.kernel;
  launch.grid = task.grid;
  launch.block = task.block;
  launch.dynamicLds = task.dynamicLds;
  launch.together = task.together;
  launch.kernarg = task.kernarg;
  launch.weights = task.weights;
  const std::lock_guard lock(deviceMutex_);
  settings.run.trace = trace_;
  const auto target = device();
  if (!target)
    return fail(hipErrorOutOfMemory, target.status());
  const auto run = (*target)->run(*task.module->placed, launch, settings.run);
  if (!run)
    return fail(hipErrorLaunchFailure, "kernel {}: {}", task.kernel, run.status().message());
  report_.add(task.kernel, *run, settings.run.checks);
  if (settings.modelledEvents && run->modelled)
    modelledMilliseconds_ = modelledMilliseconds_ + run->modelled->microseconds / 1000;
  log::trace("hip", "kernel ran name={} instructions={} seconds={:.3f} faults={}", task.kernel,
             run->instructions, run->seconds, run->faults.size());
  return run->clean() ? hipSuccess : hipErrorLaunchFailure;
}

hipError_t Front::copyRow(const Location &to, const Location &from, std::uint64_t bytes) {
  auto *hostTo = reinterpret_cast<std::byte *>(to.address);
  const auto *hostFrom = reinterpret_cast<const std::byte *>(from.address);
  if (!to.onDevice && !from.onDevice) {
    std::memmove(hostTo, hostFrom, bytes);
    return hipSuccess;
  }
  const std::lock_guard lock(deviceMutex_);
  const auto target = device();
  if (!target)
    return fail(hipErrorOutOfMemory, target.status());
  Status status;
  if (to.onDevice && from.onDevice)
    status = (*target)->copy(to.address, from.address, bytes);
  else if (to.onDevice)
    status = (*target)->write(to.address, {hostFrom, bytes});
  else
    status = (*target)->read(from.address, {hostTo, bytes});
  if (!status)
    return fail(hipErrorIllegalAddress, status);
  return hipSuccess;
}

hipError_t Front::runCopy(const CopyTask &task) {
  Location from = task.from;
  if (!task.snapshot.empty())
    from.address = reinterpret_cast<std::uint64_t>(task.snapshot.data());
  if (task.height == 1 || (task.toPitch == task.width && task.fromPitch == task.width))
    return copyRow(task.to, from, task.width * task.height);
  for (std::uint64_t row = 0; row < task.height; ++row)
    WAVESMITH_HIP_TRY(copyRow({task.to.address + row * task.toPitch, task.to.onDevice},
                              {from.address + row * task.fromPitch, from.onDevice}, task.width));
  return hipSuccess;
}

hipError_t Front::runFill(const FillTask &task) {
  const std::uint64_t bytes = task.width * task.elementSize;
  const auto *pattern = reinterpret_cast<const std::byte *>(&task.value);
  const bool uniform = std::all_of(pattern, pattern + task.elementSize,
                                   [&](std::byte value) { return value == pattern[0]; });
  std::vector<std::byte> line;
  if (!uniform) {
    line.resize(std::min<std::uint64_t>(bytes, 1 << 16));
    for (std::size_t i = 0; i < line.size(); ++i)
      line[i] = pattern[i % task.elementSize];
  }
  for (std::uint64_t row = 0; row < task.height; ++row) {
    const Location to{task.to.address + row * task.pitch, task.to.onDevice};
    if (!uniform) {
      for (std::uint64_t done = 0; done < bytes; done += line.size())
        WAVESMITH_HIP_TRY(copyRow({to.address + done, to.onDevice},
                                  {reinterpret_cast<std::uint64_t>(line.data()), false},
                                  std::min<std::uint64_t>(line.size(), bytes - done)));
      continue;
    }
    if (!to.onDevice) {
      std::memset(reinterpret_cast<void *>(to.address), std::to_integer<int>(pattern[0]), bytes);
      continue;
    }
    const std::lock_guard lock(deviceMutex_);
    const auto target = device();
    if (!target)
      return fail(hipErrorOutOfMemory, target.status());
    if (const Status status = (*target)->fill(to.address, pattern[0], bytes); !status)
      return fail(hipErrorIllegalAddress, status);
  }
  return hipSuccess;
}

hipError_t Front::reset() {
  executor_.drainAll();
  (void)executor_.takeAnyError();
  const std::lock_guard deviceLock(deviceMutex_);
  const std::lock_guard lock(mutex);
  graphExecs.clear();
  graphs.clear();
  captures.clear();
  functions_.clear();
  modules_.clear();
  events_.clear();
  streams_.clear();
  nullStream_->capture.reset();
  for (const auto &[address, block] : blocks_)
    if (block.isOwnHost())
      std::free(reinterpret_cast<void *>(address));
  blocks_.clear();
  allocated_.clear();
  peers_.clear();
  device_.reset();
  return hipSuccess;
}

} // namespace wavesmith::hipfront
