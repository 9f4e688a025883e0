// The emulator's HIP library with counters in front of the functions that a launch must not call.
// Named by WAVESMITH_HIP_LIBRARY; what is not defined here is found in the library that it is
// linked with.

#include <atomic>
#include <cstring>

#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#define COUNTED(visit)                                                                             \
  visit(hipMalloc, (void **to, size_t bytes), (to, bytes)) visit(                                  \
      hipFree, (void *address),                                                                    \
      (address)) visit(hipHostMalloc, (void **to, size_t bytes, unsigned flags),                   \
                       (to, bytes, flags)) visit(hipHostFree, (void *address), (address))          \
      visit(hipMemcpy, (void *to, const void *from, size_t bytes, hipMemcpyKind kind),             \
            (to, from, bytes, kind)) visit(hipMemcpyAsync,                                         \
                                           (void *to, const void *from, size_t bytes,              \
                                            hipMemcpyKind kind, hipStream_t stream),               \
                                           (to, from, bytes, kind, stream))                        \
          visit(hipMemset, (void *to, int value, size_t bytes), (to, value, bytes)) visit(         \
              hipMemsetAsync, (void *to, int value, size_t bytes, hipStream_t stream),             \
              (to, value, bytes, stream)) visit(hipGetDevice, (int *device), (device))             \
              visit(hipStreamGetDevice, (hipStream_t stream, hipDevice_t * device),                \
                    (stream, device))                                                              \
                  visit(hipModuleLoadData, (hipModule_t * module, const void *image),              \
                        (module, image)) visit(hipModuleUnload, (hipModule_t module), (module))    \
                      visit(hipModuleGetFunction,                                                  \
                            (hipFunction_t * function, hipModule_t module, const char *name),      \
                            (function, module, name)) visit(hipDeviceSynchronize, (), ())          \
                          visit(hipStreamSynchronize, (hipStream_t stream), (stream))              \
                              visit(hipStreamQuery, (hipStream_t stream), (stream))                \
                                  visit(hipEventSynchronize, (hipEvent_t event), (event)) visit(   \
                                      hipStreamCreateWithFlags,                                    \
                                      (hipStream_t * stream, unsigned flags),                      \
                                      (stream, flags)) visit(hipSetDevice, (int device), (device)) \
                                      visit(hipModuleLaunchKernel,                                 \
                                            (hipFunction_t function, unsigned gridX,               \
                                             unsigned gridY, unsigned gridZ, unsigned blockX,      \
                                             unsigned blockY, unsigned blockZ, unsigned lds,       \
                                             hipStream_t stream, void **parameters, void **extra), \
                                            (function, gridX, gridY, gridZ, blockX, blockY,        \
                                             blockZ, lds, stream, parameters, extra))

namespace {

void *emulator() {
  static void *const library = dlopen(WAVESMITH_FRONT, RTLD_NOW | RTLD_LOCAL);
  return library;
}

#define COUNTER(name, parameters, arguments) std::atomic<int> count_##name{0};
COUNTED(COUNTER)

} // namespace

extern "C" {

#define FORWARD(name, parameters, arguments)                                                       \
  __attribute__((visibility("default"))) hipError_t name parameters {                              \
    static const auto real = reinterpret_cast<hipError_t(*) parameters>(dlsym(emulator(), #name)); \
    ++count_##name;                                                                                \
    return real arguments;                                                                         \
  }
COUNTED(FORWARD)

/// Calls of a function since the last reset; -1 when it is not counted.
__attribute__((visibility("default"))) int countingHipCalls(const char *function) {
#define ANSWER(name, parameters, arguments)                                                        \
  if (std::strcmp(function, #name) == 0)                                                           \
    return count_##name;
  COUNTED(ANSWER)
  return -1;
}
__attribute__((visibility("default"))) void countingHipReset() {
#define RESET(name, parameters, arguments) count_##name = 0;
  COUNTED(RESET)
}

} // extern "C"
