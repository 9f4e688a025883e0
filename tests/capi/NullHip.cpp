// A HIP library that does nothing: launches return at once and allocate nothing, so that what is
// counted or timed is Wavesmith's own. Device memory is the host's; kernels are not run.

#include <cstddef>
#include <cstdlib>
#include <cstring>

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
MAKES_HANDLE(hipModuleLoadData)
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
  std::strcpy(properties + kArchitecture, "gfx942");
  return 0;
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
