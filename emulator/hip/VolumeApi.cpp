// hip* functions for copies and fills of three dimensions or by descriptor. There are no arrays
// here: images are not what this device is for.

#include "emulator/hip/Call.h"
#include "emulator/hip/Copies.h"

using namespace wavesmith::hipfront;

namespace {

/// A box of bytes in pitched memory.
struct Side {
  std::byte *base = nullptr;
  std::size_t pitch = 0, rows = 0; ///< rows of a slice
  std::size_t x = 0, y = 0, z = 0; ///< where the box begins; x in bytes

  std::byte *slice(std::size_t index) const { return base + ((z + index) * rows + y) * pitch + x; }
};
struct Volume {
  Side to, from;
  std::size_t width = 0, height = 0, depth = 1;
};

hipError_t copyVolume(const Volume &volume, hipMemcpyKind kind, hipStream_t stream, bool wait) {
  for (const Side *side : {&volume.to, &volume.from})
    if (side->x + volume.width > side->pitch ||
        (volume.depth > 1 && side->y + volume.height > side->rows))
      return fail(hipErrorInvalidPitchValue,
                  "{} bytes from {} on in rows of {}, {} rows from {} on in slices of {}",
                  volume.width, side->x, side->pitch, volume.height, side->y, side->rows);
  if (volume.width == 0 || volume.height == 0)
    return hipSuccess;
  for (std::size_t i = 0; i < volume.depth; ++i) {
    const Pitched slice = {volume.to.slice(i), volume.to.pitch, volume.from.slice(i),
                           volume.from.pitch,  volume.width,    volume.height};
    WAVESMITH_HIP_TRY(wait ? copySync(slice, kind, stream) : copyAsync(slice, kind, stream));
  }
  return hipSuccess;
}

hipError_t noArrays(bool arrays) {
  return arrays ? fail(hipErrorNotSupported, "copies of arrays") : hipSuccess;
}

hipError_t copy3D(const hipMemcpy3DParms *p, hipStream_t stream, bool wait) {
  return guarded([&] {
    if (!p)
      return fail(hipErrorInvalidValue, "null parameters");
    WAVESMITH_HIP_TRY(noArrays(p->srcArray || p->dstArray));
    const auto side = [](const hipPitchedPtr &pointer, const hipPos &position) {
      return Side{static_cast<std::byte *>(pointer.ptr),
                  pointer.pitch,
                  pointer.ysize,
                  position.x,
                  position.y,
                  position.z};
    };
    return copyVolume({side(p->dstPtr, p->dstPos), side(p->srcPtr, p->srcPos), p->extent.width,
                       p->extent.height, p->extent.depth},
                      p->kind, stream, wait);
  });
}

/// One side of a driver descriptor; the memory type says which pointer counts. Host memory is 0 for
/// clients of ROCm 5, and 1 for later ones, where that was device memory before.
template <typename Descriptor, bool kTo> Side sideOf(const Descriptor &d) {
  const int type = static_cast<int>(kTo ? d.dstMemoryType : d.srcMemoryType);
  const bool host = type == 0 || (type == 1 && !(kTo ? d.dstDevice : d.srcDevice));
  const void *pointer = kTo ? (host ? d.dstHost : d.dstDevice) : (host ? d.srcHost : d.srcDevice);
  return {static_cast<std::byte *>(const_cast<void *>(pointer)),
          kTo ? d.dstPitch : d.srcPitch,
          0,
          kTo ? d.dstXInBytes : d.srcXInBytes,
          kTo ? d.dstY : d.srcY,
          0};
}

hipError_t copyParam2D(const hip_Memcpy2D *d, hipStream_t stream, bool wait) {
  return guarded([&] {
    if (!d)
      return fail(hipErrorInvalidValue, "null parameters");
    WAVESMITH_HIP_TRY(noArrays(d->srcArray || d->dstArray));
    return copyVolume({sideOf<hip_Memcpy2D, true>(*d), sideOf<hip_Memcpy2D, false>(*d),
                       d->WidthInBytes, d->Height},
                      hipMemcpyDefault, stream, wait);
  });
}

hipError_t copyDriver3D(const HIP_MEMCPY3D *d, hipStream_t stream, bool wait) {
  return guarded([&] {
    if (!d)
      return fail(hipErrorInvalidValue, "null parameters");
    WAVESMITH_HIP_TRY(noArrays(d->srcArray || d->dstArray));
    Side to = sideOf<HIP_MEMCPY3D, true>(*d), from = sideOf<HIP_MEMCPY3D, false>(*d);
    to.rows = d->dstHeight;
    from.rows = d->srcHeight;
    to.z = d->dstZ;
    from.z = d->srcZ;
    return copyVolume({to, from, d->WidthInBytes, d->Height, d->Depth}, hipMemcpyDefault, stream,
                      wait);
  });
}

hipError_t fill3D(const hipPitchedPtr &to, int value, const hipExtent &extent, hipStream_t stream,
                  bool wait) {
  return guarded([&] {
    if (extent.width == 0 || extent.height == 0)
      return hipSuccess;
    if (extent.width > to.pitch || (extent.depth > 1 && extent.height > to.ysize))
      return fail(hipErrorInvalidValue, "{}x{}x{} in slices of {} rows of {}", extent.width,
                  extent.height, extent.depth, to.ysize, to.pitch);
    for (std::size_t z = 0; z < extent.depth; ++z)
      WAVESMITH_HIP_TRY(fill(static_cast<std::byte *>(to.ptr) + z * to.ysize * to.pitch, to.pitch,
                             static_cast<std::uint32_t>(value & 0xff), 1, extent.width,
                             extent.height, stream, wait));
    return hipSuccess;
  });
}

} // namespace

extern "C" {

hipError_t hipMalloc3D(hipPitchedPtr *pointer, hipExtent extent) {
  if (!pointer)
    return guarded([] { return fail(hipErrorInvalidValue, "null result pointer"); });
  *pointer = {nullptr, 0, extent.width, extent.height};
  std::size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
    return guarded([&] {
      return fail(hipErrorOutOfMemory, "{} slices of {} rows", extent.depth, extent.height);
    });
  return hipMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, rows);
}
hipError_t hipMemAllocPitch(hipDeviceptr_t *pointer, size_t *pitch, size_t width, size_t height,
                            unsigned elementSize) {
  if (elementSize != 4 && elementSize != 8 && elementSize != 16)
    return guarded([&] { return fail(hipErrorInvalidValue, "elements of {} bytes", elementSize); });
  return hipMallocPitch(pointer, pitch, width, height);
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms *parameters) {
  return copy3D(parameters, nullptr, true);
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *parameters, hipStream_t stream) {
  return copy3D(parameters, stream, false);
}
hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *copy) { return copyDriver3D(copy, nullptr, true); }
hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *copy, hipStream_t stream) {
  return copyDriver3D(copy, stream, false);
}
hipError_t hipMemcpyParam2D(const hip_Memcpy2D *copy) { return copyParam2D(copy, nullptr, true); }
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *copy, hipStream_t stream) {
  return copyParam2D(copy, stream, false);
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return fill3D(to, value, extent, nullptr, true);
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return fill3D(to, value, extent, stream, false);
}

} // extern "C"
