// hip* functions for streams and events.

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"
#include "emulator/hip/Graph.h"

using namespace wavesmith::hipfront;

namespace {

// HIP's range on AMD: low 1, normal 0, high -1.
constexpr int kLowestPriority = 1, kHighestPriority = -1;

hipError_t createStream(hipStream_t *stream, unsigned flags, int priority) {
  if (!stream)
    return fail(hipErrorInvalidValue, "null result pointer");
  if (flags != hipStreamDefault && flags != hipStreamNonBlocking)
    return fail(hipErrorInvalidValue, "stream flags {:#x}", flags);
  *stream = Front::get().addStream(flags, std::clamp(priority, kHighestPriority, kLowestPriority));
  return hipSuccess;
}

template <typename Use> hipError_t withStream(hipStream_t handle, Use &&use) {
  return guarded([&] {
    std::shared_ptr<StreamState> stream;
    WAVESMITH_HIP_TRY(Front::get().findStream(handle, &stream));
    return use(*stream);
  });
}

/// The ticket of a recorded event; null when there is nothing to wait for.
hipError_t ticketOf(hipEvent_t handle, const char *call, std::shared_ptr<Ticket> *ticket) {
  std::shared_ptr<EventState> event;
  WAVESMITH_HIP_TRY(Front::get().findEvent(handle, &event));
  const std::lock_guard lock(Front::get().mutex);
  if (event->capture && event->capture->active) {
    event->capture->invalidated = true;
    return fail(hipErrorCapturedEvent, "{}: the event was recorded in a capture", call);
  }
  *ticket = event->ticket;
  return hipSuccess;
}

hipError_t reportOf(const Ticket &ticket) {
  const auto stream = ticket.stream.lock();
  const hipError_t error = stream ? Front::get().executor().takeError(*stream) : hipSuccess;
  if (error != hipSuccess)
    return fail(error, "an earlier asynchronous call on the event's stream failed");
  return hipSuccess;
}

hipError_t enqueueHost(hipStream_t stream, std::function<void()> call) {
  // HostTask holds a C pair, so that graphs can show it; anything else travels on the heap.
  auto *heap = new std::function<void()>(std::move(call));
  const hipError_t code =
      Front::get().submit(stream, HostTask{[](void *argument) {
                                             const std::unique_ptr<std::function<void()>> owned(
                                                 static_cast<std::function<void()> *>(argument));
                                             (*owned)();
                                           },
                                           heap});
  if (code != hipSuccess)
    delete heap;
  return code;
}

template <typename Word>
bool satisfies(const volatile Word *word, Word value, Word mask, unsigned flags) {
  const Word seen = __atomic_load_n(word, __ATOMIC_ACQUIRE) & mask;
  switch (flags) {
  case hipStreamWaitValueGte:
    return static_cast<std::make_signed_t<Word>>(seen - (value & mask)) >= 0;
  case hipStreamWaitValueEq:
    return seen == (value & mask);
  case hipStreamWaitValueAnd:
    return (seen & value) != 0;
  default:
    return (~(seen | value)) != 0;
  }
}

/// Host memory only: a kernel's writes to device memory are not watched.
template <typename Word>
hipError_t waitValue(hipStream_t handle, void *pointer, Word value, unsigned flags, Word mask) {
  return withStream(handle, [&](StreamState &) {
    Location location;
    WAVESMITH_HIP_TRY(Front::get().locate(pointer, sizeof(Word), "value", &location));
    if (location.onDevice || flags > hipStreamWaitValueNor)
      return fail(hipErrorInvalidValue, "value {} with flags {}: want pinned host memory", pointer,
                  flags);
    std::shared_ptr<StreamState> stream;
    WAVESMITH_HIP_TRY(Front::get().findStream(handle, &stream));
    Front::get().executor().enqueue(stream, nullptr, [=] {
      return satisfies(static_cast<const volatile Word *>(pointer), value, mask, flags);
    });
    return hipSuccess;
  });
}

template <typename Word> hipError_t writeValue(hipStream_t stream, void *pointer, Word value) {
  return guarded([&] {
    Location location;
    WAVESMITH_HIP_TRY(Front::get().locate(pointer, sizeof(Word), "value", &location));
    if (location.onDevice) {
      CopyTask task;
      task.to = location;
      task.width = task.toPitch = task.fromPitch = sizeof(Word);
      const auto *bytes = reinterpret_cast<const std::byte *>(&value);
      task.snapshot.assign(bytes, bytes + sizeof(Word));
      return Front::get().submit(stream, std::move(task));
    }
    return enqueueHost(
        stream, [=] { __atomic_store_n(static_cast<Word *>(pointer), value, __ATOMIC_RELEASE); });
  });
}

} // namespace

extern "C" {

hipError_t hipStreamCreate(hipStream_t *stream) {
  return guarded([&] { return createStream(stream, hipStreamDefault, 0); });
}
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return guarded([&] { return createStream(stream, flags, 0); });
}
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
  return guarded([&] { return createStream(stream, flags, priority); });
}
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return guarded([&] {
    if (least)
      *least = kLowestPriority;
    if (greatest)
      *greatest = kHighestPriority;
    return hipSuccess;
  });
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  return guarded([&] { return Front::get().removeStream(stream); });
}
hipError_t hipStreamGetFlags(hipStream_t handle, unsigned *flags) {
  return withStream(handle, [&](StreamState &stream) {
    if (!flags)
      return fail(hipErrorInvalidValue, "null result pointer");
    *flags = stream.flags;
    return hipSuccess;
  });
}
hipError_t hipStreamGetPriority(hipStream_t handle, int *priority) {
  return withStream(handle, [&](StreamState &stream) {
    if (!priority)
      return fail(hipErrorInvalidValue, "null result pointer");
    *priority = stream.priority;
    return hipSuccess;
  });
}
hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t *device) {
  return withStream(handle, [&](StreamState &stream) {
    if (!device)
      return fail(hipErrorInvalidValue, "null result pointer");
    *device = stream.isNull ? Front::currentDevice() : stream.device;
    return hipSuccess;
  });
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return guarded([&] { return Front::get().synchronize(stream); });
}
hipError_t hipStreamQuery(hipStream_t handle) {
  return withStream(handle, [&](StreamState &stream) -> hipError_t {
    {
      const std::lock_guard lock(Front::get().mutex);
      if (stream.capture) {
        stream.capture->invalidated = true;
        return fail(hipErrorStreamCaptureUnsupported, "the stream is being captured");
      }
    }
    if (!Front::get().executor().isIdle(stream))
      return hipErrorNotReady;
    return Front::get().executor().takeError(stream);
  });
}
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  return guarded([&] { return Front::get().waitFor(stream, event); });
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *argument) {
  return guarded([&] {
    if (!function)
      return fail(hipErrorInvalidValue, "null function");
    return Front::get().submit(stream, HostTask{function, argument});
  });
}
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *argument,
                                unsigned) {
  return guarded([&] {
    if (!callback)
      return fail(hipErrorInvalidValue, "null callback");
    return enqueueHost(stream, [=] { callback(stream, hipSuccess, argument); });
  });
}
hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags,
                                uint32_t mask) {
  return waitValue(stream, pointer, value, flags, mask);
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags,
                                uint64_t mask) {
  return waitValue(stream, pointer, value, flags, mask);
}
hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned) {
  return writeValue(stream, pointer, value);
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned) {
  return writeValue(stream, pointer, value);
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return guarded([&] {
    if (!event)
      return fail(hipErrorInvalidValue, "null result pointer");
    *event = Front::get().addEvent(flags);
    return hipSuccess;
  });
}
hipError_t hipEventCreate(hipEvent_t *event) { return hipEventCreateWithFlags(event, 0); }
hipError_t hipEventDestroy(hipEvent_t event) {
  return guarded([&] { return Front::get().removeEvent(event); });
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return guarded([&] { return Front::get().record(event, stream); });
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) {
  return guarded([&] { return Front::get().record(event, stream); });
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  return guarded([&] {
    std::shared_ptr<Ticket> ticket;
    WAVESMITH_HIP_TRY(ticketOf(event, "hipEventSynchronize", &ticket));
    if (!ticket)
      return hipSuccess;
    Front::get().executor().wait(*ticket);
    return reportOf(*ticket);
  });
}
hipError_t hipEventQuery(hipEvent_t event) {
  return guarded([&]() -> hipError_t {
    std::shared_ptr<Ticket> ticket;
    WAVESMITH_HIP_TRY(ticketOf(event, "hipEventQuery", &ticket));
    if (!ticket)
      return hipSuccess;
    return Front::get().executor().isDone(*ticket) ? reportOf(*ticket) : hipErrorNotReady;
  });
}
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop) {
  return guarded([&]() -> hipError_t {
    if (!milliseconds)
      return fail(hipErrorInvalidValue, "null result pointer");
    std::shared_ptr<EventState> events[2];
    WAVESMITH_HIP_TRY(Front::get().findEvent(start, &events[0]));
    WAVESMITH_HIP_TRY(Front::get().findEvent(stop, &events[1]));
    if ((events[0]->flags | events[1]->flags) & hipEventDisableTiming)
      return fail(hipErrorInvalidHandle, "an event was created without timing");
    std::shared_ptr<Ticket> first, last;
    WAVESMITH_HIP_TRY(ticketOf(start, "hipEventElapsedTime", &first));
    WAVESMITH_HIP_TRY(ticketOf(stop, "hipEventElapsedTime", &last));
    if (!first || !last)
      return fail(hipErrorInvalidHandle, "an event was never recorded");
    Executor &executor = Front::get().executor();
    if (!executor.isDone(*first) || !executor.isDone(*last))
      return hipErrorNotReady;
    *milliseconds = static_cast<float>(last->milliseconds - first->milliseconds);
    return hipSuccess;
  });
}

} // extern "C"
