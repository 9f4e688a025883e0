#include <cstdlib>

#include "emulator/hip/Call.h"
#include "emulator/hip/Front.h"

namespace wavesmith::hipfront {
namespace {

// The emulator hands out device addresses from here up; host mappings lie far above or below.
constexpr std::uint64_t kDeviceBegin = 0x1000'0000'0000, kDeviceEnd = 0x5000'0000'0000;
constexpr std::size_t kHostAlignment = 4096;

} // namespace

hipError_t Front::reserve(std::uint64_t bytes) {
  const std::lock_guard lock(mutex);
  const std::uint64_t capacity = config_.chip->memoryGib << 30;
  const auto found = allocated_.find(currentDevice());
  const std::uint64_t used = found == allocated_.end() ? 0 : found->second;
  if (bytes > capacity || used > capacity - bytes)
    return fail(hipErrorOutOfMemory, "{} bytes: {} of {} bytes are in use", bytes, used, capacity);
  allocated_[currentDevice()] += bytes;
  return hipSuccess;
}

hipError_t Front::allocate(std::uint64_t bytes, std::uint64_t *address, const void *pool) {
  WAVESMITH_HIP_TRY(usable());
  WAVESMITH_HIP_TRY(checkDevice(currentDevice()));
  WAVESMITH_HIP_TRY(reserve(bytes));
  const auto allocated = [&]() -> Expected<std::uint64_t> {
    const std::lock_guard lock(deviceMutex_);
    WAVESMITH_ASSIGN(emulator::Device * target, device());
    return target->allocate(bytes);
  }();
  const std::lock_guard lock(mutex);
  if (!allocated) {
    account(currentDevice(), bytes);
    return fail(hipErrorOutOfMemory, allocated.status());
  }
  blocks_[*allocated] = {Block::Kind::Device, *allocated, bytes, 0, nullptr, currentDevice(), pool};
  *address = *allocated;
  return hipSuccess;
}

void Front::account(int device, std::uint64_t freed) {
  if ((allocated_[device] -= freed) == 0)
    allocated_.erase(device);
}

std::uint64_t Front::bytesAllocated(int device) {
  const std::lock_guard lock(mutex);
  const auto found = allocated_.find(device);
  return found == allocated_.end() ? 0 : found->second;
}

std::uint64_t Front::bytesOfPool(const void *pool) {
  const std::lock_guard lock(mutex);
  std::uint64_t sum = 0;
  for (const auto &[address, block] : blocks_)
    sum += block.pool == pool ? block.size : 0;
  return sum;
}

hipError_t Front::mapHost(const Block &block) {
  Status status;
  {
    const std::lock_guard lock(deviceMutex_);
    const auto target = device();
    status = target ? (*target)->mapHost({reinterpret_cast<std::byte *>(block.address), block.size})
                    : target.status();
  }
  if (!status)
    return fail(hipErrorInvalidValue, status);
  const std::lock_guard lock(mutex);
  blocks_[block.address] = block;
  return hipSuccess;
}

hipError_t Front::allocateOnHost(std::uint64_t bytes, Block block, void **pointer) {
  if (bytes > std::uint64_t{1} << 46)
    return fail(hipErrorOutOfMemory, "{} bytes of host memory", bytes);
  void *memory =
      std::aligned_alloc(kHostAlignment, (bytes + kHostAlignment - 1) & ~(kHostAlignment - 1));
  if (!memory)
    return fail(hipErrorOutOfMemory, "the host has no {} bytes", bytes);
  block.address = reinterpret_cast<std::uint64_t>(memory);
  block.size = bytes;
  block.device = currentDevice();
  if (const hipError_t code = mapHost(block); code != hipSuccess) {
    std::free(memory);
    return code;
  }
  *pointer = memory;
  return hipSuccess;
}

hipError_t Front::allocateHost(std::uint64_t bytes, unsigned flags, void **pointer) {
  WAVESMITH_HIP_TRY(usable());
  return allocateOnHost(bytes, {.kind = Block::Kind::Host, .flags = flags}, pointer);
}

hipError_t Front::allocateManaged(std::uint64_t bytes, void **pointer) {
  WAVESMITH_HIP_TRY(usable());
  WAVESMITH_HIP_TRY(reserve(bytes));
  const hipError_t code = allocateOnHost(bytes, {.kind = Block::Kind::Managed}, pointer);
  if (code != hipSuccess) {
    const std::lock_guard lock(mutex);
    account(currentDevice(), bytes);
  }
  return code;
}

hipError_t Front::registerHost(void *pointer, std::uint64_t bytes, unsigned flags) {
  WAVESMITH_HIP_TRY(usable());
  if (!pointer || bytes == 0)
    return fail(hipErrorInvalidValue, "hipHostRegister: pointer {} with {} bytes", pointer, bytes);
  if (blockOf(pointer))
    return fail(hipErrorHostMemoryAlreadyRegistered, "{} is registered already", pointer);
  return mapHost({Block::Kind::Registered, reinterpret_cast<std::uint64_t>(pointer), bytes, flags,
                  nullptr, currentDevice()});
}

hipError_t Front::unregisterHost(const void *pointer) {
  return releaseBlock(pointer, hipErrorHostMemoryNotRegistered, "registered host memory",
                      [](const Block &block) { return block.kind == Block::Kind::Registered; });
}

hipError_t Front::release(const void *pointer, bool host) {
  if (!pointer)
    return hipSuccess;
  return releaseBlock(
      pointer, hipErrorInvalidValue, host ? "a live host allocation" : "a live device allocation",
      [&](const Block &block) {
        return host ? block.kind == Block::Kind::Host
                    : block.kind == Block::Kind::Device || block.kind == Block::Kind::Managed;
      });
}

hipError_t Front::releaseBlock(const void *pointer, hipError_t otherwise, const char *what,
                               const std::function<bool(const Block &)> &isRight) {
  // As on a device: memory goes away after the work that was enqueued before.
  executor_.drainAll();
  Block block;
  {
    const std::lock_guard lock(mutex);
    const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == blocks_.end() || !isRight(found->second))
      return fail(otherwise, "{} is not the start of {}", pointer, what);
    block = found->second;
    if (block.kind == Block::Kind::Device || block.kind == Block::Kind::Managed)
      account(block.device, block.size);
    blocks_.erase(found);
  }
  Status status;
  {
    const std::lock_guard lock(deviceMutex_);
    if (device_)
      status = device_->free(block.address);
  }
  if (block.isOwnHost())
    std::free(reinterpret_cast<void *>(block.address));
  return status ? hipSuccess : fail(hipErrorInvalidValue, status);
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
