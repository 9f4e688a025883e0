// A HIP library that does nothing: launches return at once and allocate nothing, so that what is
// counted or timed is Wavesmith's own. Device memory is the host's; kernels are not run.

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

#define EXPORT extern "C" __attribute__((visibility("default")))
// Arguments that nobody looks at need no names: in C's calling convention the caller owns them.
#define SUCCEEDS(name)                                                                             \
  EXPORT int name() { return 0; }
#define MAKES_HANDLE(name)                                                                         \
  EXPORT int name(void **handle) {                                                                 \
    *handle = reinterpret_cast<void *>(0x10);                                                      \
    return 0;                                                                                      \
  }

SUCCEEDS(hipInit)
SUCCEEDS(hipSetDevice)
SUCCEEDS(hipDeviceSynchronize)
SUCCEEDS(hipGetLastError)
SUCCEEDS(hipMemGetInfo)
SUCCEEDS(hipMemcpyAsync)
SUCCEEDS(hipMemset)
SUCCEEDS(hipMemsetAsync)
SUCCEEDS(hipMemsetD32Async)
SUCCEEDS(hipModuleUnload)
SUCCEEDS(hipModuleGetGlobal)
SUCCEEDS(hipModuleLaunchKernel)
SUCCEEDS(hipStreamDestroy)
SUCCEEDS(hipStreamQuery)
SUCCEEDS(hipStreamSynchronize)
SUCCEEDS(hipStreamWaitEvent)
SUCCEEDS(hipEventDestroy)
SUCCEEDS(hipEventRecord)
SUCCEEDS(hipEventQuery)
SUCCEEDS(hipEventSynchronize)
SUCCEEDS(hipEventElapsedTime)
// What Triton's driver asks for besides (bench/peers/triton_launch.py).
SUCCEEDS(hipModuleLaunchCooperativeKernel)
SUCCEEDS(hipDrvLaunchKernelEx)
MAKES_HANDLE(hipModuleLoadData)
MAKES_HANDLE(hipModuleLoadDataEx)
MAKES_HANDLE(hipModuleGetFunction)
MAKES_HANDLE(hipStreamCreateWithFlags)
MAKES_HANDLE(hipEventCreateWithFlags)

EXPORT int hipGetDeviceCount(int *count) {
  *count = 1;
  return 0;
}
EXPORT int hipGetDevice(int *device) {
  *device = 0;
  return 0;
}
EXPORT int hipStreamGetDevice(void *, int *device) {
  *device = 0;
  return 0;
}
EXPORT int hipDeviceGetAttribute(int *value) {
  *value = 304;
  return 0;
}
EXPORT int hipDeviceGetName(char *name, int bytes) {
  std::strncpy(name, "Null", static_cast<std::size_t>(bytes));
  return 0;
}
EXPORT int hipGetDevicePropertiesR0600(char *properties) {
  constexpr std::size_t kArchitecture = 1160; // as runtime/hip/HipTable.cpp reads it
  constexpr std::size_t kLdsBytes = 296, kLanes = 308;
  std::strcpy(properties + kArchitecture, "gfx942");
  const std::size_t ldsBytes = 65536;
  const int lanes = 64;
  std::memcpy(properties + kLdsBytes, &ldsBytes, sizeof ldsBytes);
  std::memcpy(properties + kLanes, &lanes, sizeof lanes);
  return 0;
}
EXPORT int hipDriverGetVersion(int *version) {
  *version = 70000000;
  return 0;
}
EXPORT int hipFuncGetAttribute(int *value, int attribute) {
  constexpr int kMaxThreadsPerBlock = 0;
  *value = attribute == kMaxThreadsPerBlock ? 1024 : 0;
  return 0;
}
EXPORT int hipPointerGetAttribute(void **address, int, void *pointer) {
  *address = pointer;
  return 0;
}
EXPORT int hipGetProcAddress(const char *name, void **function) {
  Dl_info self;
  void *library = nullptr;
  if (dladdr(reinterpret_cast<const void *>(&hipDriverGetVersion), &self))
    library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  const bool properties = std::strcmp(name, "hipGetDeviceProperties") == 0;
  *function = library ? dlsym(library, properties ? "hipGetDevicePropertiesR0600" : name) : nullptr;
  return *function ? 0 : 500; // hipErrorNotFound
}
EXPORT const char *hipGetErrorName() { return "hipErrorNull"; }
EXPORT const char *hipGetErrorString() { return "no such error"; }
EXPORT int hipMalloc(void **to, std::size_t bytes) {
  *to = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *to ? 0 : 2;
}
EXPORT int hipFree(void *address) {
  std::free(address);
  return 0;
}
EXPORT int hipHostMalloc(void **to, std::size_t bytes) { return hipMalloc(to, bytes); }
EXPORT int hipHostFree(void *address) { return hipFree(address); }
EXPORT int hipMemcpy(void *to, const void *from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return 0;
}
