#include <algorithm>

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"
#include "emulator/hip/Graph.h"

namespace wavesmith::hipfront {
namespace {

// hipStreamLegacy and hipStreamPerThread are small integers in HIP's ABI.
const auto kLegacyHandle = reinterpret_cast<hipStream_t>(1);
const auto kPerThreadHandle = reinterpret_cast<hipStream_t>(2);

} // namespace

hipError_t Front::findStream(hipStream_t handle, std::shared_ptr<StreamState> *stream) {
  if (!handle || handle == kLegacyHandle) {
    *stream = nullStream_;
    return hipSuccess;
  }
  if (handle == kPerThreadHandle) {
    thread_local const auto own = std::make_shared<StreamState>();
    *stream = own;
    return hipSuccess;
  }
  const std::lock_guard lock(mutex);
  *stream = streams_.find(handle);
  if (!*stream)
    return fail(hipErrorInvalidHandle, "{} is no stream", static_cast<void *>(handle));
  return hipSuccess;
}

hipStream_t Front::addStream(unsigned flags, int priority) {
  auto stream = std::make_shared<StreamState>();
  stream->flags = flags;
  stream->nonBlocking = flags & hipStreamNonBlocking;
  stream->priority = priority;
  stream->device = currentDevice();
  const std::lock_guard lock(mutex);
  return reinterpret_cast<hipStream_t>(streams_.add(std::move(stream)));
}

hipError_t Front::removeStream(hipStream_t handle) {
  const std::lock_guard lock(mutex);
  const std::shared_ptr<StreamState> stream = streams_.remove(handle);
  if (!stream)
    return fail(hipErrorInvalidHandle, "{} is no stream that can be destroyed",
                static_cast<void *>(handle));
  // Its work goes on; a capture that it belongs to cannot.
  if (stream->capture)
    stream->capture->invalidated = true;
  return hipSuccess;
}

std::shared_ptr<Ticket> Front::enqueue(const std::shared_ptr<StreamState> &stream, Task task) {
  auto shared = std::make_shared<Task>(std::move(task));
  StreamState *state = stream.get(); // alive: the executor holds the stream while it has work
  return executor_.enqueue(stream, [this, state, shared] { return execute(*shared, *state); });
}

hipError_t Front::submit(hipStream_t handle, Task task) {
  std::shared_ptr<StreamState> stream;
  WAVESMITH_HIP_TRY(findStream(handle, &stream));
  {
    const std::lock_guard lock(mutex);
    if (stream->capture) {
      if (stream->capture->invalidated)
        return fail(hipErrorStreamCaptureInvalidated, "the stream's capture was invalidated");
      if (const auto *kernel = std::get_if<KernelTask>(&task); kernel && !kernel->weights.empty())
        return fail(hipErrorStreamCaptureUnsupported,
                    "kernel {}: a graph's kernels run in full, not in samples", kernel->kernel);
      stream->capture->append(*stream, std::move(task));
      return hipSuccess;
    }
    if (stream->isNull)
      for (const auto &weak : captures)
        if (const auto capture = weak.lock(); capture && !capture->nonBlocking()) {
          capture->invalidated = true;
          return fail(hipErrorStreamCaptureImplicit,
                      "the legacy stream would depend on a stream that is being captured");
        }
  }
  enqueue(stream, std::move(task));
  return hipSuccess;
}

hipError_t Front::synchronize(hipStream_t handle) {
  std::shared_ptr<StreamState> stream;
  WAVESMITH_HIP_TRY(findStream(handle, &stream));
  {
    const std::lock_guard lock(mutex);
    if (stream->capture) {
      stream->capture->invalidated = true;
      return fail(hipErrorStreamCaptureUnsupported, "the stream is being captured");
    }
  }
  if (stream->isNull) {
    // The legacy stream's end is that of all blocking streams before it.
    executor_.wait(*executor_.enqueue(stream, nullptr));
  } else {
    executor_.drain(*stream);
  }
  const hipError_t error = executor_.takeError(*stream);
  if (error != hipSuccess)
    return fail(error, "an earlier asynchronous call on the stream failed");
  return hipSuccess;
}

hipError_t Front::synchronizeDevice() {
  WAVESMITH_HIP_TRY(allowedInCapture("hipDeviceSynchronize"));
  executor_.drainAll();
  const hipError_t error = executor_.takeAnyError();
  if (error != hipSuccess)
    return fail(error, "an earlier asynchronous call failed");
  return hipSuccess;
}

hipEvent_t Front::addEvent(unsigned flags) {
  auto event = std::make_shared<EventState>();
  event->flags = flags;
  const std::lock_guard lock(mutex);
  return reinterpret_cast<hipEvent_t>(events_.add(std::move(event)));
}

hipError_t Front::removeEvent(hipEvent_t handle) {
  const std::lock_guard lock(mutex);
  if (!events_.remove(handle))
    return fail(hipErrorInvalidHandle, "{} is no event", static_cast<void *>(handle));
  return hipSuccess;
}

hipError_t Front::findEvent(hipEvent_t handle, std::shared_ptr<EventState> *event) {
  const std::lock_guard lock(mutex);
  *event = events_.find(handle);
  if (!*event)
    return fail(hipErrorInvalidHandle, "{} is no event", static_cast<void *>(handle));
  return hipSuccess;
}

hipError_t Front::record(hipEvent_t handle, hipStream_t streamHandle) {
  std::shared_ptr<EventState> event;
  std::shared_ptr<StreamState> stream;
  WAVESMITH_HIP_TRY(findEvent(handle, &event));
  WAVESMITH_HIP_TRY(findStream(streamHandle, &stream));
  const std::lock_guard lock(mutex);
  if (stream->capture) {
    event->capture = stream->capture;
    event->captured = stream->capture->ends[stream.get()];
    event->ticket = nullptr;
    return hipSuccess;
  }
  event->capture = nullptr;
  event->ticket = executor_.enqueue(stream, nullptr);
  return hipSuccess;
}

hipError_t Front::waitFor(hipStream_t streamHandle, hipEvent_t handle) {
  std::shared_ptr<EventState> event;
  std::shared_ptr<StreamState> stream;
  WAVESMITH_HIP_TRY(findEvent(handle, &event));
  WAVESMITH_HIP_TRY(findStream(streamHandle, &stream));
  const std::lock_guard lock(mutex);
  if (event->capture && event->capture->active) {
    if (stream->isNull)
      return fail(hipErrorStreamCaptureImplicit, "the legacy stream cannot join a capture");
    if (stream->capture && stream->capture != event->capture)
      return fail(hipErrorStreamCaptureMerge, "stream and event belong to two captures");
    event->capture->join(stream, event->captured);
    return hipSuccess;
  }
  if (stream->capture)
    return fail(hipErrorStreamCaptureIsolation,
                "the captured stream would wait for work outside its capture");
  if (const auto ticket = event->ticket)
    executor_.enqueue(stream, nullptr, [ticket] { return ticket->done; });
  return hipSuccess;
}

namespace {
thread_local hipStreamCaptureMode threadMode = hipStreamCaptureModeGlobal;
} // namespace

hipStreamCaptureMode exchangeThreadMode(hipStreamCaptureMode mode) {
  return std::exchange(threadMode, mode);
}

hipError_t Front::allowedInCapture(const char *call) {
  if (threadMode == hipStreamCaptureModeRelaxed)
    return hipSuccess;
  const std::lock_guard lock(mutex);
  std::erase_if(captures, [](const auto &weak) { return weak.expired(); });
  for (const auto &weak : captures) {
    const auto capture = weak.lock();
    if (!capture || !capture->active || capture->mode == hipStreamCaptureModeRelaxed)
      continue;
    const bool own = capture->thread == std::this_thread::get_id();
    const bool everyThread =
        capture->mode == hipStreamCaptureModeGlobal && threadMode == hipStreamCaptureModeGlobal;
    if (!own && !everyThread)
      continue;
    capture->invalidated = true;
    return fail(hipErrorStreamCaptureUnsupported, "{} is not allowed while a stream is captured",
                call);
  }
  return hipSuccess;
}

} // namespace wavesmith::hipfront
