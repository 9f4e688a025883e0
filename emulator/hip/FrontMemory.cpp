#include <cstdlib>

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"

namespace wavesmith::hipfront {
namespace {

// The emulator hands out device addresses from here up; host mappings lie far above or below.
constexpr std::uint64_t kDeviceBegin = 0x1000'0000'0000, kDeviceEnd = 0x5000'0000'0000;
constexpr std::size_t kHostAlignment = 4096;

} // namespace

hipError_t Front::allocate(std::uint64_t bytes, std::uint64_t *address) {
  WAVESMITH_HIP_TRY(usable());
  const std::uint64_t capacity = config().chip->memoryGib << 30;
  if (bytes > capacity || allocated_.load() > capacity - bytes)
    return fail(hipErrorOutOfMemory, "{} bytes: {} of {} bytes are in use", bytes,
                allocated_.load(), capacity);
  std::uint64_t base = 0;
  {
    const std::lock_guard lock(deviceMutex_);
    const auto target = device();
    if (!target)
      return fail(hipErrorOutOfMemory, target.status());
    const auto allocated = (*target)->allocate(bytes);
    if (!allocated)
      return fail(hipErrorOutOfMemory, allocated.status());
    base = *allocated;
  }
  const std::lock_guard lock(mutex);
  blocks_[base] = {Block::Kind::Device, base, bytes, 0};
  allocated_ += bytes;
  *address = base;
  return hipSuccess;
}

hipError_t Front::allocateHost(std::uint64_t bytes, unsigned flags, void **pointer) {
  WAVESMITH_HIP_TRY(usable());
  if (bytes > std::uint64_t{1} << 46)
    return fail(hipErrorOutOfMemory, "{} bytes of host memory", bytes);
  void *memory =
      std::aligned_alloc(kHostAlignment, (bytes + kHostAlignment - 1) & ~(kHostAlignment - 1));
  if (!memory)
    return fail(hipErrorOutOfMemory, "the host has no {} bytes", bytes);
  const std::lock_guard lock(mutex);
  const auto base = reinterpret_cast<std::uint64_t>(memory);
  blocks_[base] = {Block::Kind::Host, base, bytes, flags};
  *pointer = memory;
  return hipSuccess;
}

hipError_t Front::registerHost(void *pointer, std::uint64_t bytes, unsigned flags) {
  if (!pointer || bytes == 0)
    return fail(hipErrorInvalidValue, "hipHostRegister: pointer {} with {} bytes", pointer, bytes);
  if (blockOf(pointer))
    return fail(hipErrorHostMemoryAlreadyRegistered, "{} is registered already", pointer);
  const std::lock_guard lock(mutex);
  const auto base = reinterpret_cast<std::uint64_t>(pointer);
  blocks_[base] = {Block::Kind::Registered, base, bytes, flags};
  return hipSuccess;
}

hipError_t Front::unregisterHost(const void *pointer) {
  executor_.drainAll();
  const std::lock_guard lock(mutex);
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == blocks_.end() || found->second.kind != Block::Kind::Registered)
    return fail(hipErrorHostMemoryNotRegistered, "{} is not registered", pointer);
  blocks_.erase(found);
  return hipSuccess;
}

hipError_t Front::release(const void *pointer, bool host) {
  if (!pointer)
    return hipSuccess;
  // As on a device: memory goes away after the work that was enqueued before.
  executor_.drainAll();
  const auto base = reinterpret_cast<std::uint64_t>(pointer);
  const Block::Kind kind = host ? Block::Kind::Host : Block::Kind::Device;
  {
    const std::lock_guard lock(mutex);
    const auto found = blocks_.find(base);
    if (found == blocks_.end() || found->second.kind != kind)
      return fail(hipErrorInvalidValue, "{} is not the start of a live {} allocation", pointer,
                  host ? "host" : "device");
    if (!host)
      allocated_ -= found->second.size;
    blocks_.erase(found);
  }
  if (host) {
    std::free(reinterpret_cast<void *>(base));
    return hipSuccess;
  }
  const std::lock_guard lock(deviceMutex_);
  if (device_)
    if (const Status status = device_->free(base); !status)
      return fail(hipErrorInvalidValue, status);
  return hipSuccess;
}

std::optional<Block> Front::blockOf(const void *pointer) {
  const std::lock_guard lock(mutex);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin())
    return std::nullopt;
  const Block &block = std::prev(after)->second;
  if (address - block.address >= std::max<std::uint64_t>(block.size, 1))
    return std::nullopt;
  return block;
}

hipError_t Front::locate(const void *pointer, std::uint64_t bytes, const char *what,
                         Location *location) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  *location = {address, false};
  if (bytes == 0)
    return hipSuccess;
  if (!pointer)
    return fail(hipErrorInvalidValue, "{} is null, {} bytes wanted", what, bytes);
  const auto block = blockOf(pointer);
  if (!block) {
    if (address >= kDeviceBegin && address < kDeviceEnd)
      return fail(hipErrorInvalidValue, "{} {:#x} lies in no live allocation", what, address);
    return hipSuccess;
  }
  location->onDevice = block->onDevice();
  const std::uint64_t left = block->address + block->size - address;
  if (bytes > left)
    return fail(hipErrorInvalidValue, "{} {:#x}: {} bytes wanted, the allocation has {} left", what,
                address, bytes, left);
  return hipSuccess;
}

} // namespace wavesmith::hipfront
