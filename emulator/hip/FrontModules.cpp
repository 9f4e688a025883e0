#include <algorithm>

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"
#include "emulator/hip/Image.h"
#include "emulator/hip/Registration.h"

namespace wavesmith::hipfront {
namespace {

hipError_t codeOf(const Status &status) {
  switch (status.code()) {
  case StatusCode::Unsupported:
  case StatusCode::NotFound:
    return hipErrorNoBinaryForGpu;
  case StatusCode::ResourceExhausted:
    return hipErrorOutOfMemory;
  default:
    return hipErrorInvalidImage;
  }
}

bool isHidden(const KernelArgument &argument) { return argument.valueKind.starts_with("hidden_"); }

hipError_t packParameters(const KernelInfo &info, void **parameters,
                          std::vector<std::byte> *kernarg) {
  std::size_t index = 0;
  for (const KernelArgument &argument : info.arguments) {
    if (isHidden(argument))
      continue;
    if (!parameters || !parameters[index])
      return fail(hipErrorInvalidValue, "kernel {}: argument {} ({}, {} bytes) is missing",
                  info.name, index, argument.name.empty() ? argument.valueKind : argument.name,
                  argument.size);
    const std::size_t end = std::size_t{argument.offset} + argument.size;
    if (end > info.kernargBytes)
      return fail(hipErrorInvalidImage, "kernel {}: argument {} ends at {}, past its {} bytes",
                  info.name, index, end, info.kernargBytes);
    if (kernarg->size() < end)
      kernarg->resize(end);
    std::memcpy(kernarg->data() + argument.offset, parameters[index], argument.size);
    ++index;
  }
  if (info.arguments.empty() && info.kernargBytes != 0)
    return fail(hipErrorInvalidValue,
                "kernel {}: the object does not describe its {} bytes of arguments; pass them "
                "through 'extra'",
                info.name, info.kernargBytes);
  return hipSuccess;
}

hipError_t packExtra(const KernelInfo &info, void **extra, std::vector<std::byte> *kernarg) {
  const void *buffer = nullptr;
  std::size_t size = 0;
  for (int i = 0; extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[i + 1];
    else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
      size = *static_cast<const std::size_t *>(extra[i + 1]);
    else
      return fail(hipErrorInvalidValue, "extra[{}] is {}, no HIP_LAUNCH_PARAM_*", i, extra[i]);
  }
  if (size > info.kernargBytes || (!buffer && size != 0))
    return fail(hipErrorInvalidValue, "kernel {}: {} bytes of arguments at {}; it takes {}",
                info.name, size, buffer, info.kernargBytes);
  const auto *bytes = static_cast<const std::byte *>(buffer);
  kernarg->assign(bytes, bytes + size);
  return hipSuccess;
}

} // namespace

hipError_t Front::load(const void *image, std::optional<std::size_t> size, std::string origin,
                       hipModule_t *module) {
  WAVESMITH_HIP_TRY(usable());
  if (!image || !module)
    return fail(hipErrorInvalidValue, "{}: null image or module", origin);
  const std::string target(config().chip->target);
  const auto bytes = findObject(image, size, target);
  if (!bytes)
    return fail(codeOf(bytes.status()), "{}: {}", origin, bytes.status().message());
  auto object = CodeObject::parse({bytes->begin(), bytes->end()}, origin);
  if (!object)
    return fail(codeOf(object.status()), object.status());
  if (object->target() != target)
    return fail(hipErrorNoBinaryForGpu, "{}: is for {}, the device is {}", origin, object->target(),
                target);
  std::shared_ptr<emulator::Module> placed;
  {
    const std::lock_guard lock(deviceMutex_);
    const auto where = device();
    if (!where)
      return fail(hipErrorOutOfMemory, where.status());
    auto loaded = (*where)->load(*object);
    if (!loaded)
      return fail(codeOf(loaded.status()), "{}: {}", origin, loaded.status().message());
    placed = *loaded;
  }
  const std::lock_guard lock(mutex);
  *module = reinterpret_cast<hipModule_t>(modules_.add(
      std::make_shared<LoadedModule>(LoadedModule{*std::move(object), std::move(placed)})));
  return hipSuccess;
}

hipError_t Front::findModule(hipModule_t handle, std::shared_ptr<LoadedModule> *module) {
  const std::lock_guard lock(mutex);
  *module = modules_.find(handle);
  if (!*module)
    return fail(hipErrorInvalidHandle, "{} is no loaded module", static_cast<void *>(handle));
  return hipSuccess;
}

hipError_t Front::unload(hipModule_t handle) {
  executor_.drainAll();
  const std::lock_guard deviceLock(deviceMutex_);
  const std::lock_guard lock(mutex);
  const std::shared_ptr<LoadedModule> module = modules_.remove(handle);
  if (!module)
    return fail(hipErrorInvalidHandle, "{} is no loaded module", static_cast<void *>(handle));
  if (device_)
    if (const Status status = device_->unload(*module->placed); !status)
      return fail(hipErrorUnknown, status);
  functions_.removeIf([&](const Function &function) { return function.module == module; });
  std::erase_if(blocks_, [&](const auto &entry) {
    return entry.second.kind == Block::Kind::ModuleImage && entry.second.module == module.get();
  });
  return hipSuccess;
}

hipError_t Front::function(hipModule_t handle, const char *name, hipFunction_t *function) {
  if (!name || !function)
    return fail(hipErrorInvalidValue, "null kernel name or function");
  std::shared_ptr<LoadedModule> module;
  WAVESMITH_HIP_TRY(findModule(handle, &module));
  const auto info = module->object.kernel(name);
  if (!info)
    return fail(hipErrorNotFound, info.status());
  const std::lock_guard lock(mutex);
  *function = reinterpret_cast<hipFunction_t>(
      functions_.add(std::make_shared<Function>(Function{module, *info})));
  return hipSuccess;
}

hipError_t Front::global(hipModule_t handle, const char *name, void **address, std::size_t *bytes) {
  if (!name)
    return fail(hipErrorInvalidValue, "null variable name");
  std::shared_ptr<LoadedModule> module;
  WAVESMITH_HIP_TRY(findModule(handle, &module));
  Block image;
  std::pair<std::uint64_t, std::uint64_t> range;
  {
    const std::lock_guard lock(deviceMutex_);
    const auto where = device();
    if (!where)
      return fail(hipErrorOutOfMemory, where.status());
    const auto found = (*where)->global(*module->placed, name);
    if (!found)
      return fail(hipErrorNotFound, found.status());
    range = *found;
    const auto holder = (*where)->allocationOf(range.first);
    if (!holder)
      return fail(hipErrorNotFound, holder.status());
    image = {Block::Kind::ModuleImage, holder->first, holder->second, 0, module.get()};
  }
  const std::lock_guard lock(mutex);
  blocks_[image.address] = image;
  if (address)
    *address = reinterpret_cast<void *>(range.first);
  if (bytes)
    *bytes = range.second;
  return hipSuccess;
}

hipError_t Front::findFunction(const void *handle, std::shared_ptr<Function> *function) {
  const auto known = [&](const void *candidate) {
    const std::lock_guard lock(mutex);
    *function = functions_.find(candidate);
    return *function != nullptr;
  };
  if (known(handle))
    return hipSuccess;
  // Compiled host code names its kernels by the address of a host function.
  hipFunction_t registered = nullptr;
  const hipError_t code = findRegisteredKernel(handle, &registered);
  if (code == hipSuccess && known(registered))
    return hipSuccess;
  if (code != hipErrorInvalidDeviceFunction)
    return code;
  return fail(hipErrorInvalidHandle, "{} is no kernel of a loaded module", handle);
}

hipError_t Front::makeKernel(const void *handle, dim3 grid, dim3 block, std::uint64_t dynamicLds,
                             void **parameters, void **extra, KernelTask *task,
                             std::shared_ptr<Function> *found) {
  task->weights = std::exchange(nextWeights(), {});
  std::shared_ptr<Function> function;
  WAVESMITH_HIP_TRY(findFunction(handle, &function));
  const KernelInfo &info = *function->info;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0)
    return fail(hipErrorInvalidConfiguration, "kernel {}: grid {}x{}x{} of {}x{}x{} is empty",
                info.name, grid.x, grid.y, grid.z, block.x, block.y, block.z);
  const std::uint64_t limit = std::min<std::uint64_t>(1024, info.maxFlatWorkgroupSize);
  if (threads > limit || block.x > 1024 || block.y > 1024 || block.z > 1024)
    return fail(hipErrorInvalidConfiguration,
                "kernel {}: a block of {}x{}x{} is {} threads, the limit is {}", info.name, block.x,
                block.y, block.z, threads, limit);
  for (const auto &[count, size] :
       {std::pair{grid.x, block.x}, {grid.y, block.y}, {grid.z, block.z}})
    if (std::uint64_t{count} * size > 0xffffffffu)
      return fail(hipErrorInvalidConfiguration, "kernel {}: {} blocks of {} pass 2^32 threads",
                  info.name, count, size);
  if (const auto &required = info.requiredWorkgroupSize;
      !required.empty() &&
      (required[0] != block.x || required[1] != block.y || required[2] != block.z))
    return fail(hipErrorInvalidConfiguration,
                "kernel {}: a block of {}x{}x{}, it requires {}x{}x{}", info.name, block.x, block.y,
                block.z, required[0], required[1], required[2]);
  const std::uint64_t lds = config().chip->ldsKib * std::uint64_t{1024};
  if (dynamicLds > lds || info.ldsBytes > lds - dynamicLds)
    return fail(hipErrorInvalidValue,
                "kernel {}: {} bytes of static and {} of dynamic LDS, the limit is {}", info.name,
                info.ldsBytes, dynamicLds, lds);
  if (const std::uint64_t groups = std::uint64_t{grid.x} * grid.y * grid.z;
      !task->weights.empty() && task->weights.size() != groups)
    return fail(hipErrorInvalidValue, "kernel {}: {} weights for {} workgroups", info.name,
                task->weights.size(), groups);
  if (extra && parameters)
    return fail(hipErrorInvalidValue, "kernel {}: both kernelParams and extra", info.name);
  task->module = function->module;
  task->kernel = info.name;
  task->grid = {grid.x, grid.y, grid.z};
  task->block = {block.x, block.y, block.z};
  task->dynamicLds = static_cast<std::uint32_t>(dynamicLds);
  if (found)
    *found = function;
  return extra ? packExtra(info, extra, &task->kernarg)
               : packParameters(info, parameters, &task->kernarg);
}

} // namespace wavesmith::hipfront
