// hip* functions between devices and between processes. The devices share one address space, so a
// copy between two is a copy. Nothing is shared with other processes: the handles for it are
// refused.

#include "emulator/hip/Call.h"
#include "emulator/hip/Copies.h"
#include "emulator/hip/Front.h"

using namespace wavesmith::hipfront;

namespace {

hipError_t checkPair(int a, int b) {
  WAVESMITH_HIP_TRY(Front::get().checkDevice(a));
  return Front::get().checkDevice(b);
}

hipError_t noSharing(const void *first, const void *second) {
  return guarded([&] {
    if (!first || !second)
      return fail(hipErrorInvalidValue, "null handle or result pointer");
    return fail(hipErrorNotSupported, "memory and events of the emulator belong to one process");
  });
}

} // namespace

extern "C" {

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
  return guarded([&] {
    if (!can)
      return fail(hipErrorInvalidValue, "null result pointer");
    *can = 0;
    WAVESMITH_HIP_TRY(checkPair(device, peer));
    *can = device != peer;
    return hipSuccess;
  });
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return guarded([&] {
    if (flags != 0)
      return fail(hipErrorInvalidValue, "flags {:#x}, there are none", flags);
    return Front::get().changePeer(peer, true);
  });
}
hipError_t hipDeviceDisablePeerAccess(int peer) {
  return guarded([&] { return Front::get().changePeer(peer, false); });
}
hipError_t hipMemcpyPeer(void *to, int toDevice, const void *from, int fromDevice, size_t bytes) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(checkPair(toDevice, fromDevice));
    return copySync(linear(to, from, bytes), hipMemcpyDeviceToDevice);
  });
}
hipError_t hipMemcpyPeerAsync(void *to, int toDevice, const void *from, int fromDevice,
                              size_t bytes, hipStream_t stream) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(checkPair(toDevice, fromDevice));
    return copyAsync(linear(to, from, bytes), hipMemcpyDeviceToDevice, stream);
  });
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *pointer) {
  return noSharing(handle, pointer);
}
hipError_t hipIpcOpenMemHandle(void **pointer, hipIpcMemHandle_t, unsigned) {
  return noSharing(pointer, pointer);
}
hipError_t hipIpcCloseMemHandle(void *pointer) {
  return guarded([&] {
    return fail(hipErrorInvalidValue, "{} was not opened from a handle of another process",
                pointer);
  });
}
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event) {
  return noSharing(handle, event);
}
hipError_t hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t) {
  return noSharing(event, event);
}

} // extern "C"
