#pragma once
// What ROCm 6 and later declare beyond Debian's 5.2 headers, as far as the front exports it.
// Layouts are those of the published ABI; fields that the front leaves zero are grouped.

#include <cstddef>
#include <cstdint>

#include <hip/hip_runtime_api.h>

/// Device properties as hipGetDevicePropertiesR0600 fills them.
struct WavesmithDevicePropertiesR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int textureAndSurfaceLimits[40]; ///< no images here
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int eccEnabled;
  int pciBusId;
  int pciDeviceId;
  int pciDomainId;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int l1CacheSupport[2];
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int multiGpuBoard[2];
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int managedAccess[4];
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableTables[2];
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int featureFlags[13];
  int reserved[63 + 32];
  char gcnArchName[256];
  std::size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  hipDeviceArch_t arch;
  unsigned *hdpFlushControls[2];
  int cooperativeMultiDeviceUnmatched[4];
  int isLargeBar;
  int asicRevision;
};
static_assert(sizeof(WavesmithDevicePropertiesR0600) == 1472);
static_assert(offsetof(WavesmithDevicePropertiesR0600, multiProcessorCount) == 388);
static_assert(offsetof(WavesmithDevicePropertiesR0600, gcnArchName) == 1160);

/// hipLaunchConfig_t and HIP_LAUNCH_CONFIG share the attribute list, which the front ignores.
struct WavesmithLaunchConfig {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  hipStream_t stream;
  void *attributes;
  unsigned attributeCount;
};
struct WavesmithDriverLaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  hipStream_t stream;
  void *attributes;
  unsigned attributeCount;
};

#pragma GCC visibility push(default)
extern "C" {
hipError_t hipGetDevicePropertiesR0600(WavesmithDevicePropertiesR0600 *properties, int device);
hipError_t hipGetProcAddress(const char *symbol, void **function, int hipVersion,
                             std::uint64_t flags, int *symbolStatus);
hipError_t hipDrvLaunchKernelEx(const WavesmithDriverLaunchConfig *config, hipFunction_t function,
                                void **kernelParams, void **extra);
hipError_t hipLaunchKernelExC(const WavesmithLaunchConfig *config, const void *function,
                              void **kernelParams);
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, std::uint32_t globalX,
                                    std::uint32_t globalY, std::uint32_t globalZ,
                                    std::uint32_t localX, std::uint32_t localY,
                                    std::uint32_t localZ, std::size_t sharedMemBytes,
                                    hipStream_t stream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent, hipEvent_t stopEvent,
                                    std::uint32_t flags);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gridX, unsigned gridY,
                                            unsigned gridZ, unsigned blockX, unsigned blockY,
                                            unsigned blockZ, unsigned sharedMemBytes,
                                            hipStream_t stream, void **kernelParams);
hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *image);
hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t module);
hipError_t hipExtGetLastError();
hipError_t hipDrvGetErrorName(hipError_t code, const char **text);
hipError_t hipDrvGetErrorString(hipError_t code, const char **text);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags);
hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long *flags);
}
#pragma GCC visibility pop
