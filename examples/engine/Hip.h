#pragma once
// The HIP functions that this engine calls, taken from the library that Wavesmith has opened: the
// GPU's, or the emulator where there is none. An engine that only ever runs on a GPU links
// libamdhip64 instead and has no such file.

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

namespace engine {

class Hip {
public:
  explicit Hip(const char *path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_)
      throw std::runtime_error(dlerror());
    load(setDevice, "hipSetDevice");
    load(malloc, "hipMalloc");
    load(free, "hipFree");
    load(memcpy, "hipMemcpy");
    load(memcpyAsync, "hipMemcpyAsync");
    load(streamCreate, "hipStreamCreateWithFlags");
    load(streamDestroy, "hipStreamDestroy");
    load(streamSynchronize, "hipStreamSynchronize");
    load(beginCapture, "hipStreamBeginCapture");
    load(endCapture, "hipStreamEndCapture");
    load(graphInstantiate, "hipGraphInstantiate");
    load(graphLaunch, "hipGraphLaunch");
    load(graphDestroy, "hipGraphDestroy");
    load(graphExecDestroy, "hipGraphExecDestroy");
    load(eventCreate, "hipEventCreate");
    load(eventDestroy, "hipEventDestroy");
    load(eventRecord, "hipEventRecord");
    load(eventElapsedTime, "hipEventElapsedTime");
    load(errorName, "hipGetErrorName");
  }
  Hip(const Hip &) = delete;
  Hip &operator=(const Hip &) = delete;

  /// Throws unless the call went well; on the emulator that is also how faults of kernels show.
  void check(hipError_t error, const char *call) const {
    if (error != hipSuccess)
      throw std::runtime_error(std::string(call) + ": " + errorName(error));
  }

  hipError_t (*setDevice)(int);
  hipError_t (*malloc)(void **, std::size_t);
  hipError_t (*free)(void *);
  hipError_t (*memcpy)(void *, const void *, std::size_t, hipMemcpyKind);
  hipError_t (*memcpyAsync)(void *, const void *, std::size_t, hipMemcpyKind, hipStream_t);
  hipError_t (*streamCreate)(hipStream_t *, unsigned);
  hipError_t (*streamDestroy)(hipStream_t);
  hipError_t (*streamSynchronize)(hipStream_t);
  hipError_t (*beginCapture)(hipStream_t, hipStreamCaptureMode);
  hipError_t (*endCapture)(hipStream_t, hipGraph_t *);
  hipError_t (*graphInstantiate)(hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *,
                                 std::size_t);
  hipError_t (*graphLaunch)(hipGraphExec_t, hipStream_t);
  hipError_t (*graphDestroy)(hipGraph_t);
  hipError_t (*graphExecDestroy)(hipGraphExec_t);
  hipError_t (*eventCreate)(hipEvent_t *);
  hipError_t (*eventDestroy)(hipEvent_t);
  hipError_t (*eventRecord)(hipEvent_t, hipStream_t);
  hipError_t (*eventElapsedTime)(float *, hipEvent_t, hipEvent_t);
  const char *(*errorName)(hipError_t);

private:
  template <typename Function> void load(Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function)
      throw std::runtime_error(std::string("the HIP library has no ") + name);
  }

  void *library_; // stays open: Wavesmith uses it too
};

/// A HIP object that ends with its owner.
template <typename Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, hipError_t (*)(Handle)>;

/// Device memory.
inline Owned<void *> allocate(const Hip &hip, std::size_t bytes) {
  void *address = nullptr;
  if (bytes > 0)
    hip.check(hip.malloc(&address, bytes), "hipMalloc");
  return {address, hip.free};
}

} // namespace engine
