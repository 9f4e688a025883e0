// hip* functions for stream-ordered allocation and its pools, and for managed memory's hints. A
// pool only counts: memory comes at the call and goes when the work before is done, which every
// order of the streams allows.

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"
#include "emulator/hip/Graph.h"

using namespace wavesmith::hipfront;

namespace {

struct Pool {
  std::mutex mutex; ///< of what follows but for the device
  std::uint64_t releaseThreshold = 0, high = 0;
  int reuse[3] = {1, 1, 1}; ///< hipMemPoolReuse*: kept, nothing depends on them
  int device = 0;
};

/// The pools of the process: the default one of each device comes into being when asked for.
class Pools {
public:
  static Pools &get() {
    static auto *pools = new Pools; // used from static destructors
    return *pools;
  }
  std::shared_ptr<Pool> find(hipMemPool_t handle) {
    const std::lock_guard lock(mutex_);
    return pools_.find(handle);
  }
  hipMemPool_t create(int device) {
    const std::lock_guard lock(mutex_);
    return add(device);
  }
  bool destroy(hipMemPool_t handle) {
    const std::lock_guard lock(mutex_);
    for (const auto &[device, own] : defaults_)
      if (own == handle)
        return false;
    for (auto &[device, own] : current_)
      if (own == handle)
        own = defaultOf(device);
    return pools_.remove(handle) != nullptr;
  }
  hipMemPool_t defaultPool(int device) {
    const std::lock_guard lock(mutex_);
    return defaultOf(device);
  }
  hipMemPool_t current(int device) {
    const std::lock_guard lock(mutex_);
    hipMemPool_t &pool = current_[device];
    if (!pool)
      pool = defaultOf(device);
    return pool;
  }
  void setCurrent(int device, hipMemPool_t pool) {
    const std::lock_guard lock(mutex_);
    current_[device] = pool;
  }

private:
  hipMemPool_t add(int device) {
    auto pool = std::make_shared<Pool>();
    pool->device = device;
    return reinterpret_cast<hipMemPool_t>(pools_.add(std::move(pool)));
  }
  hipMemPool_t defaultOf(int device) {
    hipMemPool_t &pool = defaults_[device];
    if (!pool)
      pool = add(device);
    return pool;
  }

  std::mutex mutex_;
  Handles<Pool> pools_;
  std::map<int, hipMemPool_t> defaults_, current_;
};

hipError_t findPool(hipMemPool_t handle, std::shared_ptr<Pool> *pool) {
  *pool = Pools::get().find(handle);
  if (!*pool)
    return fail(hipErrorInvalidValue, "{} is no memory pool", static_cast<void *>(handle));
  return hipSuccess;
}

hipError_t allocateFrom(hipMemPool_t handle, void **pointer, std::size_t bytes,
                        hipStream_t stream) {
  if (!pointer)
    return fail(hipErrorInvalidValue, "null result pointer");
  *pointer = nullptr;
  std::shared_ptr<Pool> pool;
  std::shared_ptr<StreamState> state;
  WAVESMITH_HIP_TRY(findPool(handle, &pool));
  WAVESMITH_HIP_TRY(Front::get().findStream(stream, &state));
  WAVESMITH_HIP_TRY(Front::get().allowedInCapture("an allocation"));
  if (bytes == 0)
    return hipSuccess;
  std::uint64_t address = 0;
  WAVESMITH_HIP_TRY(Front::get().allocate(bytes, &address, handle));
  const std::lock_guard lock(pool->mutex);
  pool->high = std::max(pool->high, Front::get().bytesOfPool(handle));
  *pointer = reinterpret_cast<void *>(address);
  return hipSuccess;
}

hipError_t attribute(hipMemPool_t handle, hipMemPoolAttr name, void *value, bool set) {
  std::shared_ptr<Pool> pool;
  WAVESMITH_HIP_TRY(findPool(handle, &pool));
  if (!value)
    return fail(hipErrorInvalidValue, "null value");
  const std::lock_guard lock(pool->mutex);
  auto *wide = static_cast<std::uint64_t *>(value);
  switch (name) {
  case hipMemPoolReuseFollowEventDependencies:
  case hipMemPoolReuseAllowOpportunistic:
  case hipMemPoolReuseAllowInternalDependencies: {
    int &kept = pool->reuse[name - hipMemPoolReuseFollowEventDependencies];
    if (set)
      kept = *static_cast<int *>(value);
    else
      *static_cast<int *>(value) = kept;
    return hipSuccess;
  }
  case hipMemPoolAttrReleaseThreshold:
    if (set)
      pool->releaseThreshold = *wide;
    else
      *wide = pool->releaseThreshold;
    return hipSuccess;
  case hipMemPoolAttrReservedMemCurrent:
  case hipMemPoolAttrUsedMemCurrent:
    if (set)
      return fail(hipErrorInvalidValue, "attribute {} cannot be set", static_cast<int>(name));
    *wide = Front::get().bytesOfPool(handle);
    return hipSuccess;
  case hipMemPoolAttrReservedMemHigh:
  case hipMemPoolAttrUsedMemHigh:
    if (set && *wide != 0)
      return fail(hipErrorInvalidValue, "a high water mark can only be set to 0");
    if (set)
      pool->high = Front::get().bytesOfPool(handle);
    else
      *wide = pool->high;
    return hipSuccess;
  default:
    return fail(hipErrorInvalidValue, "pool attribute {}", static_cast<int>(name));
  }
}

/// Hints about managed memory change nothing: it is where it is.
hipError_t hint(const void *pointer, std::size_t bytes, int device) {
  return guarded([&] {
    const auto block = Front::get().blockOf(pointer);
    if (!block || block->kind != Block::Kind::Managed)
      return fail(hipErrorInvalidValue, "{} is no managed memory", pointer);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (bytes == 0 || bytes > block->address + block->size - address)
      return fail(hipErrorInvalidValue, "{} bytes at {} of an allocation of {}", bytes, pointer,
                  block->size);
    return device == hipCpuDeviceId ? hipSuccess : Front::get().checkDevice(device);
  });
}

} // namespace

extern "C" {

hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
  return guarded([&] {
    return allocateFrom(Pools::get().current(Front::currentDevice()), pointer, bytes, stream);
  });
}
hipError_t hipMallocFromPoolAsync(void **pointer, size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  return guarded([&] { return allocateFrom(pool, pointer, bytes, stream); });
}
hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  return guarded([&] {
    std::shared_ptr<StreamState> state;
    WAVESMITH_HIP_TRY(Front::get().findStream(stream, &state));
    WAVESMITH_HIP_TRY(Front::get().allowedInCapture("freeing memory"));
    return Front::get().release(pointer, false);
  });
}
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device) {
  return guarded([&] {
    if (!pool)
      return fail(hipErrorInvalidValue, "null result pointer");
    WAVESMITH_HIP_TRY(Front::get().checkDevice(device));
    *pool = Pools::get().defaultPool(device);
    return hipSuccess;
  });
}
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device) {
  return guarded([&] {
    if (!pool)
      return fail(hipErrorInvalidValue, "null result pointer");
    WAVESMITH_HIP_TRY(Front::get().checkDevice(device));
    *pool = Pools::get().current(device);
    return hipSuccess;
  });
}
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t handle) {
  return guarded([&] {
    std::shared_ptr<Pool> pool;
    WAVESMITH_HIP_TRY(Front::get().checkDevice(device));
    WAVESMITH_HIP_TRY(findPool(handle, &pool));
    Pools::get().setCurrent(device, handle);
    return hipSuccess;
  });
}
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *properties) {
  return guarded([&] {
    if (!pool || !properties || properties->allocType != hipMemAllocationTypePinned ||
        properties->location.type != hipMemLocationTypeDevice)
      return fail(hipErrorInvalidValue, "a pool is of pinned memory of a device");
    if (properties->handleTypes != hipMemHandleTypeNone)
      return fail(hipErrorNotSupported, "pools that other processes share");
    WAVESMITH_HIP_TRY(Front::get().checkDevice(properties->location.id));
    *pool = Pools::get().create(properties->location.id);
    return hipSuccess;
  });
}
hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return guarded([&] {
    if (!Pools::get().destroy(pool))
      return fail(hipErrorInvalidValue, "{} is no pool that can be destroyed",
                  static_cast<void *>(pool));
    return hipSuccess;
  });
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr name, void *value) {
  return guarded([&] { return attribute(pool, name, value, true); });
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr name, void *value) {
  return guarded([&] { return attribute(pool, name, value, false); });
}
hipError_t hipMemPoolTrimTo(hipMemPool_t handle, size_t) {
  return guarded([&] {
    std::shared_ptr<Pool> pool;
    return findPool(handle, &pool);
  });
}
hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc *list, size_t count) {
  return guarded([&] {
    std::shared_ptr<Pool> pool;
    WAVESMITH_HIP_TRY(findPool(handle, &pool));
    if (!list && count)
      return fail(hipErrorInvalidValue, "null list of {}", count);
    for (std::size_t i = 0; i < count; ++i)
      WAVESMITH_HIP_TRY(Front::get().checkDevice(list[i].location.id));
    return hipSuccess;
  });
}
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t handle,
                               hipMemLocation *location) {
  return guarded([&] {
    std::shared_ptr<Pool> pool;
    WAVESMITH_HIP_TRY(findPool(handle, &pool));
    if (!flags || !location)
      return fail(hipErrorInvalidValue, "null result pointer");
    WAVESMITH_HIP_TRY(Front::get().checkDevice(location->id));
    *flags = hipMemAccessFlagsProtReadWrite;
    return hipSuccess;
  });
}

hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t) {
  return hint(pointer, bytes, device);
}
hipError_t hipMemAdvise(const void *pointer, size_t bytes, hipMemoryAdvise, int device) {
  return hint(pointer, bytes, device);
}
hipError_t hipStreamAttachMemAsync(hipStream_t, void *pointer, size_t bytes, unsigned) {
  return hint(pointer, bytes ? bytes : 1, hipCpuDeviceId);
}

} // extern "C"
