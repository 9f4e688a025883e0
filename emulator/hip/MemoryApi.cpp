// hip* functions for memory: allocation, copies, fills, pointer queries.

#include <algorithm>

#include "emulator/hip/Call.h"
#include "emulator/hip/Copies.h"
#include "emulator/hip/Front.h"
#include "emulator/hip/Graph.h"

using namespace wavesmith::hipfront;

namespace {

// Sources up to this size are copied at the call, as drivers stage pageable memory.
constexpr std::size_t kSnapshotBytes = 64 << 10;

/// The numbers of ROCm 6, which the reported version promises.
unsigned memoryTypeOf(const Block &block) {
  return block.kind == Block::Kind::Managed ? 3 : block.onDevice() ? 2 : 1;
}

std::uint64_t extent(std::size_t pitch, std::size_t width, std::size_t height) {
  return height == 0 || width == 0 ? 0 : pitch * (height - 1) + width;
}

bool isPageable(const Location &location) {
  return !location.onDevice &&
         !Front::get().blockOf(reinterpret_cast<const void *>(location.address));
}

/// Pinned host memory is device-accessible, so it may stand on either side.
hipError_t checkKind(hipMemcpyKind kind, const CopyTask &task) {
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault)
    return fail(hipErrorInvalidMemcpyDirection, "copy kind {} does not exist",
                static_cast<int>(kind));
  const bool toDevice = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  const bool fromDevice = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (toDevice && isPageable(task.to))
    return fail(hipErrorInvalidValue, "destination {:#x} is no device memory", task.to.address);
  if (fromDevice && isPageable(task.from))
    return fail(hipErrorInvalidValue, "source {:#x} is no device memory", task.from.address);
  return hipSuccess;
}

hipError_t makeCopy(const Pitched &copy, hipMemcpyKind kind, CopyTask *task) {
  if (copy.width > copy.toPitch || copy.width > copy.fromPitch)
    return fail(hipErrorInvalidPitchValue, "rows of {} bytes with pitches {} and {}", copy.width,
                copy.toPitch, copy.fromPitch);
  Front &front = Front::get();
  WAVESMITH_HIP_TRY(front.locate(copy.to, extent(copy.toPitch, copy.width, copy.height),
                                 "destination", &task->to));
  WAVESMITH_HIP_TRY(front.locate(copy.from, extent(copy.fromPitch, copy.width, copy.height),
                                 "source", &task->from));
  task->width = copy.width;
  task->height = copy.height;
  task->toPitch = copy.toPitch;
  task->fromPitch = copy.fromPitch;
  return extent(copy.toPitch, copy.width, copy.height) == 0 ? hipSuccess : checkKind(kind, *task);
}

bool isCapturing(hipStream_t handle) {
  std::shared_ptr<StreamState> stream;
  if (Front::get().findStream(handle, &stream) != hipSuccess)
    return false;
  const std::lock_guard lock(Front::get().mutex);
  return stream->capture != nullptr;
}

hipError_t allocateInto(void **pointer, std::size_t bytes) {
  if (!pointer)
    return fail(hipErrorInvalidValue, "null result pointer");
  *pointer = nullptr;
  WAVESMITH_HIP_TRY(Front::get().allowedInCapture("an allocation"));
  if (bytes == 0)
    return hipSuccess;
  std::uint64_t address = 0;
  WAVESMITH_HIP_TRY(Front::get().allocate(bytes, &address));
  *pointer = reinterpret_cast<void *>(address);
  return hipSuccess;
}

hipError_t allocateHostInto(void **pointer, std::size_t bytes, unsigned flags) {
  if (!pointer)
    return fail(hipErrorInvalidValue, "null result pointer");
  *pointer = nullptr;
  WAVESMITH_HIP_TRY(Front::get().allowedInCapture("an allocation"));
  return bytes == 0 ? hipSuccess : Front::get().allocateHost(bytes, flags, pointer);
}

hipError_t releaseChecked(const void *pointer, bool host) {
  WAVESMITH_HIP_TRY(Front::get().allowedInCapture("freeing memory"));
  return Front::get().release(pointer, host);
}

} // namespace

namespace wavesmith::hipfront {

hipError_t copyAsync(const Pitched &copy, hipMemcpyKind kind, hipStream_t stream) {
  CopyTask task;
  WAVESMITH_HIP_TRY(makeCopy(copy, kind, &task));
  if (copy.width == 0 || copy.height == 0)
    return hipSuccess;
  bool wait = false;
  if (!isCapturing(stream)) {
    // Pageable memory: HIP is done with the source, and has filled the target, when it returns.
    const std::uint64_t bytes = extent(copy.fromPitch, copy.width, copy.height);
    if (isPageable(task.from) && bytes <= kSnapshotBytes) {
      const auto *source = static_cast<const std::byte *>(copy.from);
      task.snapshot.assign(source, source + bytes);
    }
    wait = isPageable(task.to) || (isPageable(task.from) && task.snapshot.empty());
  }
  WAVESMITH_HIP_TRY(Front::get().submit(stream, std::move(task)));
  return wait ? Front::get().synchronize(stream) : hipSuccess;
}

hipError_t copySync(const Pitched &copy, hipMemcpyKind kind, hipStream_t stream) {
  WAVESMITH_HIP_TRY(Front::get().allowedInCapture("a synchronous copy"));
  CopyTask task;
  WAVESMITH_HIP_TRY(makeCopy(copy, kind, &task));
  if (copy.width == 0 || copy.height == 0)
    return hipSuccess;
  WAVESMITH_HIP_TRY(Front::get().submit(stream, std::move(task)));
  return Front::get().synchronize(stream);
}

hipError_t fill(void *to, std::size_t pitch, std::uint32_t value, unsigned elementSize,
                std::size_t width, std::size_t height, hipStream_t stream, bool wait) {
  Front &front = Front::get();
  if (wait)
    WAVESMITH_HIP_TRY(front.allowedInCapture("a synchronous fill"));
  if (width > ~std::size_t{0} / elementSize / std::max<std::size_t>(height, 1))
    return fail(hipErrorInvalidValue, "{} x {} elements", width, height);
  FillTask task;
  WAVESMITH_HIP_TRY(
      front.locate(to, extent(pitch, width * elementSize, height), "destination", &task.to));
  if (width == 0 || height == 0)
    return hipSuccess;
  if (isPageable(task.to))
    return fail(hipErrorInvalidValue, "destination {} is no device memory", to);
  task.value = value;
  task.elementSize = elementSize;
  task.width = width;
  task.height = height;
  task.pitch = pitch;
  WAVESMITH_HIP_TRY(front.submit(stream, std::move(task)));
  return wait ? front.synchronize(stream) : hipSuccess;
}

} // namespace wavesmith::hipfront

extern "C" {

hipError_t hipMalloc(void **pointer, size_t bytes) {
  return guarded([&] { return allocateInto(pointer, bytes); });
}
hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned) {
  return guarded([&] { return allocateInto(pointer, bytes); });
}
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  return guarded([&] {
    if (!pitch)
      return fail(hipErrorInvalidValue, "null pitch");
    *pitch = (width + 127) & ~size_t{127};
    std::size_t bytes = 0;
    if (*pitch < width || __builtin_mul_overflow(*pitch, height, &bytes))
      return fail(hipErrorOutOfMemory, "{} rows of {} bytes", height, width);
    return allocateInto(pointer, bytes);
  });
}
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return guarded([&] {
    if (!pointer)
      return fail(hipErrorInvalidValue, "null result pointer");
    *pointer = nullptr;
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost)
      return fail(hipErrorInvalidValue, "managed memory with flags {:#x}", flags);
    WAVESMITH_HIP_TRY(Front::get().allowedInCapture("an allocation"));
    return bytes == 0 ? hipSuccess : Front::get().allocateManaged(bytes, pointer);
  });
}
hipError_t hipFree(void *pointer) {
  return guarded([&] { return releaseChecked(pointer, false); });
}
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
  return guarded([&] { return allocateHostInto(pointer, bytes, flags); });
}
hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return guarded([&] { return allocateHostInto(pointer, bytes, flags); });
}
hipError_t hipMallocHost(void **pointer, size_t bytes) {
  return guarded([&] { return allocateHostInto(pointer, bytes, 0); });
}
hipError_t hipMemAllocHost(void **pointer, size_t bytes) {
  return guarded([&] { return allocateHostInto(pointer, bytes, 0); });
}
hipError_t hipHostFree(void *pointer) {
  return guarded([&] { return releaseChecked(pointer, true); });
}
hipError_t hipFreeHost(void *pointer) {
  return guarded([&] { return releaseChecked(pointer, true); });
}
hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
  return guarded([&] { return Front::get().registerHost(pointer, bytes, flags); });
}
hipError_t hipHostUnregister(void *pointer) {
  return guarded([&] { return Front::get().unregisterHost(pointer); });
}
hipError_t hipHostGetFlags(unsigned *flags, void *pointer) {
  return guarded([&] {
    const auto block = Front::get().blockOf(pointer);
    if (!flags || !block || block->onDevice())
      return fail(hipErrorInvalidValue, "{} is no pinned host memory", pointer);
    *flags = block->flags;
    return hipSuccess;
  });
}
hipError_t hipHostGetDevicePointer(void **device, void *pointer, unsigned flags) {
  return guarded([&] {
    const auto block = Front::get().blockOf(pointer);
    if (!device || flags != 0 || !block || block->onDevice())
      return fail(hipErrorInvalidValue, "{} with flags {:#x} is no pinned host memory", pointer,
                  flags);
    *device = pointer;
    return hipSuccess;
  });
}
hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  return guarded([&] {
    if (!free || !total)
      return fail(hipErrorInvalidValue, "null result pointer");
    *total = Front::get().config().chip->memoryGib << 30;
    *free = *total - Front::get().bytesAllocated(Front::currentDevice());
    return hipSuccess;
  });
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer) {
  return guarded([&] {
    const auto block = Front::get().blockOf(pointer);
    if (!block || !block->onDevice())
      return fail(hipErrorNotFound, "{} is no device memory", pointer);
    if (base)
      *base = reinterpret_cast<hipDeviceptr_t>(block->address);
    if (bytes)
      *bytes = block->size;
    return hipSuccess;
  });
}
hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  return hipMemGetAddressRange(nullptr, bytes, pointer);
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
  return guarded([&] {
    const auto block = Front::get().blockOf(pointer);
    if (!attributes || !block)
      return fail(hipErrorInvalidValue, "{} was not allocated or registered with HIP", pointer);
    *attributes = {};
    attributes->memoryType = static_cast<hipMemoryType>(memoryTypeOf(*block));
    attributes->device = block->device;
    attributes->isManaged = block->kind == Block::Kind::Managed;
    attributes->devicePointer = const_cast<void *>(pointer);
    attributes->hostPointer = block->onDevice() ? nullptr : const_cast<void *>(pointer);
    attributes->allocationFlags = block->flags;
    return hipSuccess;
  });
}
hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute,
                                  hipDeviceptr_t pointer) {
  return guarded([&] {
    const auto block = Front::get().blockOf(pointer);
    if (!data || !block)
      return fail(hipErrorInvalidValue, "{} was not allocated or registered with HIP", pointer);
    switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned *>(data) = memoryTypeOf(*block);
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<void **>(data) = pointer;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<void **>(data) = block->onDevice() ? nullptr : pointer;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<std::uint64_t *>(data) = block->address;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::size_t *>(data) = block->size;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int *>(data) = block->device;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<bool *>(data) = block->kind == Block::Kind::Managed;
      return hipSuccess;
    default:
      return fail(hipErrorInvalidValue, "pointer attribute {}", static_cast<int>(attribute));
    }
  });
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return guarded([&] { return copySync(linear(to, from, bytes), kind); });
}
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  return guarded([&] { return copySync(linear(to, from, bytes), kind, stream); });
}
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return guarded([&] { return copyAsync(linear(to, from, bytes), kind, stream); });
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t bytes) {
  return guarded([&] { return copySync(linear(to, from, bytes), hipMemcpyHostToDevice); });
}
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
  return guarded([&] { return copySync(linear(to, from, bytes), hipMemcpyDeviceToHost); });
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return guarded([&] { return copySync(linear(to, from, bytes), hipMemcpyDeviceToDevice); });
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream) {
  return guarded([&] { return copyAsync(linear(to, from, bytes), hipMemcpyHostToDevice, stream); });
}
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return guarded([&] { return copyAsync(linear(to, from, bytes), hipMemcpyDeviceToHost, stream); });
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                              hipStream_t stream) {
  return guarded(
      [&] { return copyAsync(linear(to, from, bytes), hipMemcpyDeviceToDevice, stream); });
}
hipError_t hipMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
                       size_t height, hipMemcpyKind kind) {
  return guarded([&] { return copySync({to, toPitch, from, fromPitch, width, height}, kind); });
}
hipError_t hipMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return guarded(
      [&] { return copyAsync({to, toPitch, from, fromPitch, width, height}, kind, stream); });
}

hipError_t hipMemset(void *to, int value, size_t bytes) {
  return guarded([&] { return fill(to, bytes, value & 0xff, 1, bytes, 1, nullptr, true); });
}
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  return guarded([&] { return fill(to, bytes, value & 0xff, 1, bytes, 1, stream, false); });
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return guarded([&] { return fill(to, count, value, 1, count, 1, nullptr, true); });
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                            hipStream_t stream) {
  return guarded([&] { return fill(to, count, value, 1, count, 1, stream, false); });
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return guarded([&] { return fill(to, count * 2, value, 2, count, 1, nullptr, true); });
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                             hipStream_t stream) {
  return guarded([&] { return fill(to, count * 2, value, 2, count, 1, stream, false); });
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return guarded([&] {
    return fill(to, count * 4, static_cast<std::uint32_t>(value), 4, count, 1, nullptr, true);
  });
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
  return guarded([&] {
    return fill(to, count * 4, static_cast<std::uint32_t>(value), 4, count, 1, stream, false);
  });
}
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return guarded([&] { return fill(to, pitch, value & 0xff, 1, width, height, nullptr, true); });
}
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream) {
  return guarded([&] { return fill(to, pitch, value & 0xff, 1, width, height, stream, false); });
}

} // extern "C"
