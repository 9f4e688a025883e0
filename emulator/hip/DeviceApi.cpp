// hip* functions for devices, versions, contexts and errors.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"
#include "emulator/hip/Graph.h"

using namespace wavesmith::hipfront;

namespace {

// The release whose behaviour the front follows: major * 10^7 + minor * 10^5 + patch.
constexpr int kVersion = 60200000;

hipError_t checkDevice(int device) { return Front::get().checkDevice(device); }

/// The device's own last digits.
std::string uuidOf(int device) { return fmt::format("WAVESMITH-EMU-{:02}", device); }

std::string archName(const Chip &chip) { return std::string(chip.target) + ":sramecc+:xnack-"; }

template <std::size_t N> void copyText(char (&to)[N], std::string_view text) {
  std::snprintf(to, N, "%.*s", static_cast<int>(text.size()), text.data());
}

hipDeviceArch_t archFlags() {
  hipDeviceArch_t arch{};
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = arch.hasFloatAtomicAdd = arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = arch.hasDoubles = arch.hasWarpVote = arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = arch.hasThreadFenceSystem = arch.has3dGrid = 1;
  return arch;
}

/// The fields that both layouts have.
template <typename Properties> void fillCommon(Properties &properties, const Chip &chip) {
  properties = {};
  copyText(properties.name, chip.product);
  copyText(properties.gcnArchName, archName(chip));
  properties.totalGlobalMem = chip.memoryGib << 30;
  properties.sharedMemPerBlock = static_cast<std::size_t>(chip.ldsKib) * 1024;
  properties.maxSharedMemoryPerMultiProcessor = properties.sharedMemPerBlock;
  properties.regsPerBlock = 65536;
  properties.warpSize = 64;
  properties.maxThreadsPerBlock = 1024;
  std::fill_n(properties.maxThreadsDim, 3, 1024);
  properties.maxGridSize[0] = 2147483647;
  properties.maxGridSize[1] = properties.maxGridSize[2] = 65536;
  properties.clockRate = chip.clockMhz * 1000;
  properties.memoryClockRate = chip.memoryClockMhz * 1000;
  properties.memoryBusWidth = chip.memoryBusBits;
  properties.totalConstMem = 2147483647;
  properties.major = 9;
  properties.minor = chip.target == "gfx950" ? 5 : 4;
  properties.multiProcessorCount = chip.computeUnits;
  properties.l2CacheSize = chip.l2Mib << 20;
  properties.maxThreadsPerMultiProcessor = 2048;
  properties.clockInstructionRate = 100000;
  properties.arch = archFlags();
  properties.concurrentKernels = 1;
  properties.cooperativeLaunch = 1;
  properties.memPitch = 2147483647;
  properties.textureAlignment = 256;
  properties.texturePitchAlignment = 256;
}

hipError_t attribute(int *value, hipDeviceAttribute_t name, int device) {
  const Config config = Front::get().config();
  const Chip &chip = *config.chip;
  switch (name) {
  case hipDeviceAttributeWarpSize:
    *value = 64;
    return hipSuccess;
  case hipDeviceAttributeMaxThreadsPerBlock:
  case hipDeviceAttributeMaxBlockDimX:
  case hipDeviceAttributeMaxBlockDimY:
  case hipDeviceAttributeMaxBlockDimZ:
    *value = 1024;
    return hipSuccess;
  case hipDeviceAttributeMaxGridDimX:
    *value = 2147483647;
    return hipSuccess;
  case hipDeviceAttributeMaxGridDimY:
  case hipDeviceAttributeMaxGridDimZ:
  case hipDeviceAttributeMaxRegistersPerBlock:
  case hipDeviceAttributeMaxRegistersPerMultiprocessor:
    *value = 65536;
    return hipSuccess;
  case hipDeviceAttributeMultiprocessorCount:
  case hipDeviceAttributePhysicalMultiProcessorCount:
    *value = chip.computeUnits;
    return hipSuccess;
  case hipDeviceAttributeMaxSharedMemoryPerBlock:
  case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
  case hipDeviceAttributeSharedMemPerMultiprocessor:
  case hipDeviceAttributeSharedMemPerBlockOptin:
    *value = chip.ldsKib * 1024;
    return hipSuccess;
  case hipDeviceAttributeMaxThreadsPerMultiProcessor:
    *value = 2048;
    return hipSuccess;
  case hipDeviceAttributeClockRate:
    *value = chip.clockMhz * 1000;
    return hipSuccess;
  case hipDeviceAttributeMemoryClockRate:
    *value = chip.memoryClockMhz * 1000;
    return hipSuccess;
  case hipDeviceAttributeMemoryBusWidth:
    *value = chip.memoryBusBits;
    return hipSuccess;
  case hipDeviceAttributeL2CacheSize:
    *value = chip.l2Mib << 20;
    return hipSuccess;
  case hipDeviceAttributeComputeCapabilityMajor:
    *value = 9;
    return hipSuccess;
  case hipDeviceAttributeComputeCapabilityMinor:
    *value = chip.target == "gfx950" ? 5 : 4;
    return hipSuccess;
  case hipDeviceAttributeClockInstructionRate:
    *value = 100000;
    return hipSuccess;
  case hipDeviceAttributeConcurrentKernels:
  case hipDeviceAttributeStreamPrioritiesSupported:
  case hipDeviceAttributeUnifiedAddressing:
  case hipDeviceAttributeCanUseStreamWaitValue:
  case hipDeviceAttributeCanMapHostMemory:
  case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
  case hipDeviceAttributeManagedMemory:
  case hipDeviceAttributeConcurrentManagedAccess:
  case hipDeviceAttributeDirectManagedMemAccessFromHost:
  case hipDeviceAttributeCooperativeLaunch:
  case hipDeviceAttributeMemoryPoolsSupported:
  case hipDeviceAttributeIsLargeBar:
  case hipDeviceAttributeFineGrainSupport:
  case hipDeviceAttributeAsyncEngineCount:
    *value = 1;
    return hipSuccess;
  case hipDeviceAttributePciBusId:
    *value = device;
    return hipSuccess;
  case hipDeviceAttributeMaxBlocksPerMultiProcessor:
    *value = 32;
    return hipSuccess;
  case hipDeviceAttributeMaxPitch:
  case hipDeviceAttributeTotalConstantMemory:
    *value = 2147483647;
    return hipSuccess;
  case hipDeviceAttributeTextureAlignment:
  case hipDeviceAttributeTexturePitchAlignment:
    *value = 256;
    return hipSuccess;
  default:
    if (name < hipDeviceAttributeCudaCompatibleBegin || name > hipDeviceAttributeAmdSpecificEnd)
      return fail(hipErrorInvalidValue, "device attribute {}", static_cast<int>(name));
    *value = 0; // a feature that this device does not have
    return hipSuccess;
  }
}

struct ErrorRow {
  hipError_t code;
  const char *name, *text;
};
constexpr ErrorRow kErrors[] = {
#define ROW(code, text) {code, #code, text},
#include "emulator/hip/Errors.def"
#undef ROW
};

const ErrorRow &errorRow(hipError_t code) {
  static constexpr ErrorRow kUnknown = {hipErrorUnknown, "hipErrorUnknown", "unknown error"};
  const auto *row = std::ranges::find(kErrors, code, &ErrorRow::code);
  return row == std::end(kErrors) ? kUnknown : *row;
}

template <typename... Pointers> hipError_t needResults(Pointers... pointers) {
  if ((... && pointers))
    return hipSuccess;
  return fail(hipErrorInvalidValue, "null result pointer");
}

// One context exists, the device's primary one.
const auto kContext = reinterpret_cast<hipCtx_t>(0x10);

} // namespace

extern "C" {

hipError_t hipInit(unsigned flags) {
  return guarded([&] {
    if (flags != 0)
      return fail(hipErrorInvalidValue, "hipInit takes no flags, got {:#x}", flags);
    return Front::get().usable();
  });
}
hipError_t hipGetDeviceCount(int *count) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(count));
    *count = 0;
    WAVESMITH_HIP_TRY(Front::get().usable());
    *count = Front::get().config().devices;
    return hipSuccess;
  });
}
hipError_t hipSetDevice(int device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(checkDevice(device));
    Front::currentDevice() = device;
    return hipSuccess;
  });
}
hipError_t hipGetDevice(int *device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(device));
    *device = Front::currentDevice();
    return hipSuccess;
  });
}
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(device));
    WAVESMITH_HIP_TRY(checkDevice(ordinal));
    *device = ordinal;
    return hipSuccess;
  });
}
hipError_t hipSetDeviceFlags(unsigned) {
  return guarded([] { return hipSuccess; });
}
hipError_t hipGetDeviceFlags(unsigned *flags) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(flags));
    *flags = 0;
    return hipSuccess;
  });
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(properties));
    WAVESMITH_HIP_TRY(checkDevice(device));
    const Config config = Front::get().config();
    fillCommon(*properties, *config.chip);
    properties->gcnArch = config.chip->target == "gfx950" ? 950 : 942;
    properties->pciBusID = device;
    properties->canMapHostMemory = 1;
    properties->managedMemory = properties->concurrentManagedAccess = 1;
    properties->directManagedMemAccessFromHost = 1;
    properties->isLargeBar = 1;
    return hipSuccess;
  });
}
hipError_t hipGetDevicePropertiesR0600(WavesmithDevicePropertiesR0600 *properties, int device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(properties));
    WAVESMITH_HIP_TRY(checkDevice(device));
    const Config config = Front::get().config();
    fillCommon(*properties, *config.chip);
    std::memcpy(properties->uuid, uuidOf(device).data(), sizeof(properties->uuid));
    properties->pciBusId = device;
    properties->canMapHostMemory = 1;
    properties->managedMemory = 1;
    properties->sharedMemPerMultiprocessor = properties->sharedMemPerBlock;
    properties->sharedMemPerBlockOptin = properties->sharedMemPerBlock;
    properties->regsPerMultiprocessor = 65536 * 2;
    properties->asyncEngineCount = 1;
    properties->unifiedAddressing = 1;
    properties->streamPrioritiesSupported = 1;
    properties->maxBlocksPerMultiProcessor = 32;
    properties->isLargeBar = 1;
    return hipSuccess;
  });
}
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t name, int device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(value));
    WAVESMITH_HIP_TRY(checkDevice(device));
    return attribute(value, name, device);
  });
}
hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(name));
    WAVESMITH_HIP_TRY(checkDevice(device));
    if (length <= 0)
      return fail(hipErrorInvalidValue, "a name of {} bytes", length);
    std::snprintf(name, static_cast<std::size_t>(length), "%s",
                  std::string(Front::get().config().chip->product).c_str());
    return hipSuccess;
  });
}
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(uuid));
    WAVESMITH_HIP_TRY(checkDevice(device));
    std::memcpy(uuid->bytes, uuidOf(device).data(), sizeof(uuid->bytes));
    return hipSuccess;
  });
}
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(bytes));
    WAVESMITH_HIP_TRY(checkDevice(device));
    *bytes = Front::get().config().chip->memoryGib << 30;
    return hipSuccess;
  });
}
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(major, minor));
    WAVESMITH_HIP_TRY(checkDevice(device));
    WAVESMITH_HIP_TRY(attribute(major, hipDeviceAttributeComputeCapabilityMajor, device));
    return attribute(minor, hipDeviceAttributeComputeCapabilityMinor, device);
  });
}
hipError_t hipDeviceGetPCIBusId(char *text, int length, int device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(text));
    WAVESMITH_HIP_TRY(checkDevice(device));
    if (length < 13)
      return fail(hipErrorInvalidValue, "a bus id needs 13 bytes, got {}", length);
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                  static_cast<unsigned>(device) & 0xff);
    return hipSuccess;
  });
}
hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(value));
    if (limit != hipLimitMallocHeapSize)
      return fail(hipErrorUnsupportedLimit, "limit {}", static_cast<int>(limit));
    *value = 0;
    return hipSuccess;
  });
}
hipError_t hipDeviceSynchronize() {
  return guarded([] { return Front::get().synchronizeDevice(); });
}
hipError_t hipDeviceReset() {
  return guarded([] { return Front::get().reset(); });
}
hipError_t hipDriverGetVersion(int *version) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(version));
    *version = kVersion;
    return hipSuccess;
  });
}
hipError_t hipRuntimeGetVersion(int *version) { return hipDriverGetVersion(version); }

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(context));
    *context = kContext;
    return checkDevice(device);
  });
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return guarded([&] { return checkDevice(device); });
}
hipError_t hipCtxCreate(hipCtx_t *context, unsigned, hipDevice_t device) {
  return hipDevicePrimaryCtxRetain(context, device);
}
hipError_t hipCtxDestroy(hipCtx_t) {
  return guarded([] { return hipSuccess; });
}
hipError_t hipCtxGetCurrent(hipCtx_t *context) { return hipDevicePrimaryCtxRetain(context, 0); }
hipError_t hipCtxSetCurrent(hipCtx_t) {
  return guarded([] { return hipSuccess; });
}
hipError_t hipCtxPushCurrent(hipCtx_t) {
  return guarded([] { return hipSuccess; });
}
hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  return guarded([&] {
    if (context)
      *context = kContext;
    return hipSuccess;
  });
}
hipError_t hipCtxGetDevice(hipDevice_t *device) { return hipGetDevice(device); }
hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }

hipError_t hipGetLastError() { return std::exchange(threadErrors().last, hipSuccess); }
hipError_t hipExtGetLastError() { return hipGetLastError(); }
hipError_t hipPeekAtLastError() { return threadErrors().last; }
const char *hipGetErrorName(hipError_t code) { return errorRow(code).name; }
const char *hipGetErrorString(hipError_t code) { return errorRow(code).text; }
hipError_t hipDrvGetErrorName(hipError_t code, const char **text) {
  if (!text)
    return hipErrorInvalidValue;
  *text = errorRow(code).name;
  return hipSuccess;
}
hipError_t hipDrvGetErrorString(hipError_t code, const char **text) {
  if (!text)
    return hipErrorInvalidValue;
  *text = errorRow(code).text;
  return hipSuccess;
}

hipError_t hipGetProcAddress(const char *symbol, void **function, int hipVersion, std::uint64_t,
                             int *status) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(needResults(symbol, function));
    *function = nullptr;
    // Ours, not those of a real libamdhip64 in the same process.
    Dl_info self;
    void *library = nullptr;
    if (dladdr(reinterpret_cast<const void *>(&hipInit), &self))
      library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    std::string name = symbol;
    if (hipVersion >= 600 && name == "hipGetDeviceProperties")
      name += "R0600";
    if (library && name.starts_with("hip"))
      *function = dlsym(library, name.c_str());
    if (library)
      dlclose(library);
    if (status)
      *status = *function ? 0 : 1;
    if (!*function)
      return fail(hipErrorNotFound, "no function {}", symbol);
    return hipSuccess;
  });
}

hipError_t hipProfilerStart() {
  return guarded([] { return hipSuccess; });
}
hipError_t hipProfilerStop() {
  return guarded([] { return hipSuccess; });
}

} // extern "C"
