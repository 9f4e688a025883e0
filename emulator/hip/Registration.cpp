#include "emulator/hip/Registration.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"

namespace wavesmith::hipfront {
namespace {

struct FatBinary {
  const void *image = nullptr;
  hipModule_t module = nullptr; ///< null until first used, and stale after hipDeviceReset
};

struct Symbol {
  FatBinary *binary = nullptr;
  std::string name;
  hipFunction_t function = nullptr;
};

struct CallConfiguration {
  dim3 grid, block;
  std::size_t lds;
  hipStream_t stream;
};

/// Filled by static constructors, so it makes no Front; never destroyed, as they may outlive us.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const void *, std::unique_ptr<FatBinary>> binaries;
  std::unordered_map<const void *, Symbol> kernels, variables;

  static Registry &get() {
    static auto *registry = new Registry;
    return *registry;
  }
};

std::vector<CallConfiguration> &callConfigurations() {
  thread_local std::vector<CallConfiguration> stack;
  return stack;
}

hipError_t ensureLoaded(FatBinary &binary) {
  Front &front = Front::get();
  std::shared_ptr<LoadedModule> module;
  if (binary.module && front.findModule(binary.module, &module) == hipSuccess)
    return hipSuccess;
  return front.load(binary.image, std::nullopt, "fat binary", &binary.module);
}

} // namespace

hipError_t findRegisteredKernel(const void *hostFunction, hipFunction_t *function) {
  Registry &registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.kernels.find(hostFunction);
  if (found == registry.kernels.end())
    return fail(hipErrorInvalidDeviceFunction, "{} stands for no kernel", hostFunction);
  Symbol &symbol = found->second;
  const hipModule_t before = symbol.binary->module;
  WAVESMITH_HIP_TRY(ensureLoaded(*symbol.binary));
  if (!symbol.function || symbol.binary->module != before)
    WAVESMITH_HIP_TRY(
        Front::get().function(symbol.binary->module, symbol.name.c_str(), &symbol.function));
  *function = symbol.function;
  return hipSuccess;
}

hipError_t findRegisteredVariable(const void *hostVariable, void **address, std::size_t *bytes) {
  Registry &registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.variables.find(hostVariable);
  if (found == registry.variables.end())
    return fail(hipErrorInvalidSymbol, "{} stands for no device variable", hostVariable);
  WAVESMITH_HIP_TRY(ensureLoaded(*found->second.binary));
  return Front::get().global(found->second.binary->module, found->second.name.c_str(), address,
                             bytes);
}

} // namespace wavesmith::hipfront

using namespace wavesmith::hipfront;

namespace {

hipError_t copySymbol(const void *symbol, std::size_t bytes, std::size_t offset, void **address) {
  std::size_t size = 0;
  WAVESMITH_HIP_TRY(findRegisteredVariable(symbol, address, &size));
  if (offset > size || bytes > size - offset)
    return fail(hipErrorInvalidValue, "{} bytes at offset {} of a variable of {}", bytes, offset,
                size);
  *address = static_cast<char *>(*address) + offset;
  return hipSuccess;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// The compiler calls these by name; HIP's headers do not declare them.
void **__hipRegisterFatBinary(const void *image);
void __hipUnregisterFatBinary(void **binary);
void __hipRegisterFunction(void **binary, const void *hostFunction, char *deviceFunction,
                           const char *deviceName, unsigned threadLimit, void *, void *, void *,
                           void *, int *);
void __hipRegisterVar(void **binary, void *hostVariable, char *, char *deviceName, int, std::size_t,
                      int, int);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t lds, hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, std::size_t *lds,
                                     hipStream_t *stream);

void **__hipRegisterFatBinary(const void *image) {
  void **handle = nullptr;
  (void)guarded([&] {
    Registry &registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    auto binary = std::make_unique<FatBinary>();
    binary->image = image;
    handle = reinterpret_cast<void **>(binary.get());
    registry.binaries.emplace(binary.get(), std::move(binary));
    return hipSuccess;
  });
  return handle;
}

void __hipUnregisterFatBinary(void **handle) {
  (void)guarded([&] {
    Registry &registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    const auto *binary = reinterpret_cast<const FatBinary *>(handle);
    for (auto *symbols : {&registry.kernels, &registry.variables})
      std::erase_if(*symbols, [&](const auto &entry) { return entry.second.binary == binary; });
    registry.binaries.erase(handle);
    return hipSuccess;
  });
}

void __hipRegisterFunction(void **handle, const void *hostFunction, char *, const char *deviceName,
                           unsigned, void *, void *, void *, void *, int *) {
  (void)guarded([&] {
    Registry &registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    registry.kernels[hostFunction] = {reinterpret_cast<FatBinary *>(handle), deviceName, nullptr};
    return hipSuccess;
  });
}

void __hipRegisterVar(void **handle, void *hostVariable, char *, char *deviceName, int, std::size_t,
                      int, int) {
  (void)guarded([&] {
    Registry &registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    registry.variables[hostVariable] = {reinterpret_cast<FatBinary *>(handle), deviceName, nullptr};
    return hipSuccess;
  });
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t lds, hipStream_t stream) {
  return guarded([&] {
    callConfigurations().push_back({grid, block, lds, stream});
    return hipSuccess;
  });
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, std::size_t *lds,
                                     hipStream_t *stream) {
  return guarded([&] {
    if (callConfigurations().empty())
      return fail(hipErrorMissingConfiguration, "no launch was configured");
    const CallConfiguration top = callConfigurations().back();
    callConfigurations().pop_back();
    *grid = top.grid;
    *block = top.block;
    *lds = top.lds;
    *stream = top.stream;
    return hipSuccess;
  });
}

hipError_t hipGetSymbolAddress(void **address, const void *symbol) {
  return guarded([&] {
    if (!address)
      return fail(hipErrorInvalidValue, "null result pointer");
    return findRegisteredVariable(symbol, address, nullptr);
  });
}

hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol) {
  return guarded([&] {
    if (!bytes)
      return fail(hipErrorInvalidValue, "null result pointer");
    return findRegisteredVariable(symbol, nullptr, bytes);
  });
}

hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                             hipMemcpyKind kind) {
  return guarded([&]() -> hipError_t {
    void *address = nullptr;
    WAVESMITH_HIP_TRY(copySymbol(symbol, bytes, offset, &address));
    return hipMemcpy(address, from, bytes, kind);
  });
}

hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                               hipMemcpyKind kind) {
  return guarded([&]() -> hipError_t {
    void *address = nullptr;
    WAVESMITH_HIP_TRY(copySymbol(symbol, bytes, offset, &address));
    return hipMemcpy(to, address, bytes, kind);
  });
}

} // extern "C"
#pragma GCC visibility pop
