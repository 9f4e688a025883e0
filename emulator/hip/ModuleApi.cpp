// hip* functions for modules, launches, function attributes and occupancy.

#include <algorithm>

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"
#include "runtime/support/Files.h"

using namespace wavesmith::hipfront;

namespace {

hipError_t launch(hipFunction_t handle, dim3 grid, dim3 block, std::uint64_t lds,
                  hipStream_t stream, void **parameters, void **extra) {
  KernelTask task;
  WAVESMITH_HIP_TRY(Front::get().makeKernel(handle, grid, block, lds, parameters, extra, &task));
  return Front::get().submit(stream, std::move(task));
}

template <typename Use> hipError_t withFunction(const void *handle, Use &&use) {
  return guarded([&] {
    std::shared_ptr<Function> function;
    WAVESMITH_HIP_TRY(Front::get().findFunction(handle, &function));
    return use(*function->info);
  });
}

hipError_t loadFile(const char *path, hipModule_t *module) {
  if (!path)
    return fail(hipErrorInvalidValue, "null file name");
  const auto bytes = wavesmith::readFile(path);
  if (!bytes)
    return fail(hipErrorFileNotFound, bytes.status());
  if (bytes->size() < 4)
    return fail(hipErrorInvalidImage, "{}: {} bytes are no code object", path, bytes->size());
  return Front::get().load(bytes->data(), bytes->size(), path, module);
}

hipError_t loadImage(const void *image, hipModule_t *module) {
  WAVESMITH_HIP_TRY(Front::get().allowedInCapture("loading a module"));
  return Front::get().load(image, std::nullopt, "image", module);
}

/// Waves per SIMD that the kernel's registers allow: 512 a lane, granules of 8, at most 8 waves.
int wavesPerSimd(const wavesmith::KernelInfo &info) {
  const unsigned granules = (info.descriptor.rsrc1 & 0x3f) + 1;
  return std::min<int>(8, static_cast<int>(512 / (granules * 8)));
}

int blocksPerUnit(const wavesmith::KernelInfo &info, int blockSize, std::size_t dynamicLds) {
  if (blockSize <= 0 || blockSize > static_cast<int>(info.maxFlatWorkgroupSize))
    return 0;
  const int waves = (blockSize + 63) / 64;
  int blocks = wavesPerSimd(info) * 4 / waves;
  const std::uint64_t lds = info.ldsBytes + dynamicLds;
  if (lds != 0)
    blocks = static_cast<int>(std::min<std::uint64_t>(blocks, Front::get().config().chip->ldsKib *
                                                                  std::uint64_t{1024} / lds));
  return blocks;
}

/// All workgroups must fit the device at once, since they may wait for each other.
hipError_t launchTogether(hipFunction_t handle, dim3 grid, dim3 block, std::uint64_t lds,
                          hipStream_t stream, void **parameters) {
  std::shared_ptr<Function> function;
  KernelTask task;
  WAVESMITH_HIP_TRY(
      Front::get().makeKernel(handle, grid, block, lds, parameters, nullptr, &task, &function));
  const std::uint64_t wanted = std::uint64_t{grid.x} * grid.y * grid.z;
  const auto threads = static_cast<int>(block.x * block.y * block.z);
  const std::uint64_t room =
      static_cast<std::uint64_t>(blocksPerUnit(*function->info, threads, lds)) *
      static_cast<std::uint64_t>(Front::get().config().chip->computeUnits);
  if (wanted > room)
    return fail(hipErrorCooperativeLaunchTooLarge,
                "kernel {}: {} workgroups of {} threads, the device holds {} at once", task.kernel,
                wanted, threads, room);
  task.together = true;
  return Front::get().submit(stream, std::move(task));
}

hipError_t occupancy(int *blocks, const void *function, int blockSize, std::size_t dynamicLds) {
  return withFunction(function, [&](const wavesmith::KernelInfo &info) {
    if (!blocks)
      return fail(hipErrorInvalidValue, "null result pointer");
    *blocks = blocksPerUnit(info, blockSize, dynamicLds);
    return hipSuccess;
  });
}

hipError_t potentialBlockSize(int *grid, int *block, const void *function, std::size_t dynamicLds,
                              int limit) {
  return withFunction(function, [&](const wavesmith::KernelInfo &info) {
    if (!grid || !block)
      return fail(hipErrorInvalidValue, "null result pointer");
    *block = static_cast<int>(std::min<std::uint32_t>(1024, info.maxFlatWorkgroupSize));
    if (limit > 0)
      *block = std::min(*block, limit);
    *grid = std::max(1, blocksPerUnit(info, *block, dynamicLds)) *
            Front::get().config().chip->computeUnits;
    return hipSuccess;
  });
}

} // namespace

extern "C" {

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  return guarded([&] { return loadImage(image, module); });
}
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned, hipJitOption *,
                               void **) {
  return guarded([&] { return loadImage(image, module); });
}
hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *image) {
  return guarded([&] { return loadImage(image, module); });
}
hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  return guarded([&] {
    WAVESMITH_HIP_TRY(Front::get().allowedInCapture("loading a module"));
    return loadFile(path, module);
  });
}
hipError_t hipModuleUnload(hipModule_t module) {
  return guarded([&] { return Front::get().unload(module); });
}
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  return guarded([&] { return Front::get().function(module, name, function); });
}
hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t handle) {
  return guarded([&] {
    std::shared_ptr<LoadedModule> module;
    WAVESMITH_HIP_TRY(Front::get().findModule(handle, &module));
    if (!count)
      return fail(hipErrorInvalidValue, "null result pointer");
    *count = static_cast<unsigned>(module->object.kernels().size());
    return hipSuccess;
  });
}
hipError_t hipModuleGetGlobal(hipDeviceptr_t *address, size_t *bytes, hipModule_t module,
                              const char *name) {
  return guarded([&] { return Front::get().global(module, name, address, bytes); });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gridX, unsigned gridY,
                                 unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                                 unsigned lds, hipStream_t stream, void **parameters,
                                 void **extra) {
  return guarded([&] {
    return launch(function, dim3(gridX, gridY, gridZ), dim3(blockX, blockY, blockZ), lds, stream,
                  parameters, extra);
  });
}
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t globalX, uint32_t globalY,
                                    uint32_t globalZ, uint32_t localX, uint32_t localY,
                                    uint32_t localZ, size_t lds, hipStream_t stream,
                                    void **parameters, void **extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t) {
  return guarded([&] {
    // Sizes in work-items; partial workgroups do not exist here.
    if (localX == 0 || localY == 0 || localZ == 0 || globalX % localX || globalY % localY ||
        globalZ % localZ)
      return fail(hipErrorInvalidConfiguration, "{}x{}x{} work-items in groups of {}x{}x{}",
                  globalX, globalY, globalZ, localX, localY, localZ);
    if (start)
      WAVESMITH_HIP_TRY(Front::get().record(start, stream));
    WAVESMITH_HIP_TRY(launch(function, dim3(globalX / localX, globalY / localY, globalZ / localZ),
                             dim3(localX, localY, localZ), lds, stream, parameters, extra));
    return stop ? Front::get().record(stop, stream) : hipSuccess;
  });
}
hipError_t hipDrvLaunchKernelEx(const WavesmithDriverLaunchConfig *config, hipFunction_t function,
                                void **parameters, void **extra) {
  return guarded([&] {
    if (!config)
      return fail(hipErrorInvalidValue, "null configuration");
    return launch(function, dim3(config->gridDimX, config->gridDimY, config->gridDimZ),
                  dim3(config->blockDimX, config->blockDimY, config->blockDimZ),
                  config->sharedMemBytes, config->stream, parameters, extra);
  });
}
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gridX, unsigned gridY,
                                            unsigned gridZ, unsigned blockX, unsigned blockY,
                                            unsigned blockZ, unsigned lds, hipStream_t stream,
                                            void **parameters) {
  return guarded([&] {
    return launchTogether(function, dim3(gridX, gridY, gridZ), dim3(blockX, blockY, blockZ), lds,
                          stream, parameters);
  });
}
hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                      void **parameters, unsigned lds, hipStream_t stream) {
  return guarded([&] {
    return launchTogether(static_cast<hipFunction_t>(const_cast<void *>(function)), grid, block,
                          lds, stream, parameters);
  });
}
hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **parameters,
                           size_t lds, hipStream_t stream) {
  return guarded([&] {
    return launch(static_cast<hipFunction_t>(const_cast<void *>(function)), grid, block, lds,
                  stream, parameters, nullptr);
  });
}
hipError_t hipLaunchKernelExC(const WavesmithLaunchConfig *config, const void *function,
                              void **parameters) {
  return guarded([&] {
    if (!config)
      return fail(hipErrorInvalidValue, "null configuration");
    return launch(static_cast<hipFunction_t>(const_cast<void *>(function)), config->gridDim,
                  config->blockDim, config->dynamicSmemBytes, config->stream, parameters, nullptr);
  });
}

hipError_t hipExtLaunchKernel(const void *function, dim3 grid, dim3 block, void **parameters,
                              size_t lds, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                              int) {
  return guarded([&] {
    if (start)
      WAVESMITH_HIP_TRY(Front::get().record(start, stream));
    WAVESMITH_HIP_TRY(launch(static_cast<hipFunction_t>(const_cast<void *>(function)), grid, block,
                             lds, stream, parameters, nullptr));
    return stop ? Front::get().record(stop, stream) : hipSuccess;
  });
}

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t handle) {
  return withFunction(handle, [&](const wavesmith::KernelInfo &info) {
    if (!value)
      return fail(hipErrorInvalidValue, "null result pointer");
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(info.maxFlatWorkgroupSize);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(info.ldsBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(info.scratchBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(info.vgprs);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = Front::get().config().chip->ldsKib * 1024 - static_cast<int>(info.ldsBytes);
      return hipSuccess;
    default:
      *value = 0;
      return hipSuccess;
    }
  });
}
hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *handle) {
  return withFunction(handle, [&](const wavesmith::KernelInfo &info) {
    if (!attributes)
      return fail(hipErrorInvalidValue, "null result pointer");
    *attributes = {};
    attributes->localSizeBytes = info.scratchBytes;
    attributes->sharedSizeBytes = info.ldsBytes;
    attributes->maxThreadsPerBlock = static_cast<int>(info.maxFlatWorkgroupSize);
    attributes->numRegs = static_cast<int>(info.vgprs);
    attributes->maxDynamicSharedSizeBytes =
        Front::get().config().chip->ldsKib * 1024 - static_cast<int>(info.ldsBytes);
    return hipSuccess;
  });
}
hipError_t hipFuncSetAttribute(const void *handle, hipFuncAttribute, int) {
  return withFunction(handle, [](const wavesmith::KernelInfo &) { return hipSuccess; });
}
hipError_t hipFuncSetCacheConfig(const void *handle, hipFuncCache_t) {
  return withFunction(handle, [](const wavesmith::KernelInfo &) { return hipSuccess; });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function,
                                                              int blockSize, size_t lds) {
  return occupancy(blocks, function, blockSize, lds);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                       hipFunction_t function,
                                                                       int blockSize, size_t lds,
                                                                       unsigned) {
  return occupancy(blocks, function, blockSize, lds);
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                        int blockSize, size_t lds) {
  return occupancy(blocks, function, blockSize, lds);
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                 int blockSize, size_t lds,
                                                                 unsigned) {
  return occupancy(blocks, function, blockSize, lds);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                            hipFunction_t function, size_t lds,
                                                            int limit, unsigned) {
  return potentialBlockSize(grid, block, function, lds, limit);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, hipFunction_t function,
                                                   size_t lds, int limit) {
  return potentialBlockSize(grid, block, function, lds, limit);
}
hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *function,
                                             size_t lds, int limit) {
  return potentialBlockSize(grid, block, function, lds, limit);
}

} // extern "C"
