#include "emulator/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace wavesmith::emulator {
namespace {

constexpr std::uint64_t kGuard = 1 << 20;
constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 47;
/// Below this the heap is kinder than one mapping each.
constexpr std::uint64_t kMapThreshold = 1 << 20;

void *reserve(std::uint64_t bytes) {
  if (bytes < kMapThreshold)
    return std::calloc(std::max<std::uint64_t>(bytes, 1), 1);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void release(void *memory, std::uint64_t bytes) {
  if (bytes < kMapThreshold)
    std::free(memory);
  else
    munmap(memory, bytes);
}

/// Vector accesses may read whole lines around the last byte.
constexpr std::uint64_t kSlack = 64;

} // namespace

Expected<std::unique_ptr<Allocation>> Allocation::create(std::uint64_t base, std::uint64_t size) {
  std::unique_ptr<Allocation> allocation(new Allocation(base, size));
  allocation->data_ = static_cast<std::byte *>(reserve(size + kSlack));
  allocation->written_ = static_cast<std::atomic<std::uint8_t> *>(reserve((size + kSlack) / 8 + 8));
  if (!allocation->data_ || !allocation->written_)
    return error(StatusCode::ResourceExhausted, "the host has no {} bytes of address space", size);
  return allocation;
}

std::unique_ptr<Allocation> Allocation::view(std::span<std::byte> memory) {
  std::unique_ptr<Allocation> allocation(
      new Allocation(reinterpret_cast<std::uint64_t>(memory.data()), memory.size()));
  allocation->data_ = memory.data();
  allocation->owned_ = false;
  allocation->fullyWritten_.store(true, std::memory_order_relaxed);
  return allocation;
}

Allocation::~Allocation() {
  if (data_ && owned_)
    release(data_, size_ + kSlack);
  if (written_)
    release(written_, (size_ + kSlack) / 8 + 8);
}

std::uint32_t Allocation::written(std::uint64_t address, unsigned bytes) const {
  if (fullyWritten())
    return (1u << bytes) - 1;
  std::uint64_t offset = address - base_;
  std::uint32_t bits = 0;
  for (int i = 0; i < 3; ++i)
    bits |= std::uint32_t{written_[offset / 8 + i].load(std::memory_order_relaxed)} << (8 * i);
  return (bits >> (offset % 8)) & ((1u << bytes) - 1);
}

void Allocation::markWritten(std::uint64_t address, std::uint64_t bytes) {
  if (fullyWritten() || bytes == 0)
    return;
  std::uint64_t begin = address - base_, end = begin + bytes;
  if (begin == 0 && bytes == size_) {
    fullyWritten_.store(true, std::memory_order_relaxed);
    return;
  }
  for (std::uint64_t i = begin / 8; i <= (end - 1) / 8; ++i) {
    unsigned low = i == begin / 8 ? begin % 8 : 0;
    unsigned high = i == (end - 1) / 8 ? (end - 1) % 8 : 7;
    auto mask = static_cast<std::uint8_t>((0xffu << low) & (0xffu >> (7 - high)));
    if ((written_[i].load(std::memory_order_relaxed) & mask) != mask)
      written_[i].fetch_or(mask, std::memory_order_relaxed);
  }
}

void Allocation::markUnwritten(std::uint64_t address, std::uint64_t bytes) {
  if (!written_) // a view of the host's memory counts as written
    return;
  if (fullyWritten()) { // the bits count from when the flag falls, and others are looking
    const std::lock_guard lock(filling_);
    if (fullyWritten()) {
      for (std::uint64_t i = 0; i < (size_ + 7) / 8; ++i)
        written_[i].store(0xff, std::memory_order_relaxed);
      fullyWritten_.store(false, std::memory_order_release);
    }
  }
  for (std::uint64_t i = address - base_; i < address - base_ + bytes; ++i)
    written_[i / 8].fetch_and(static_cast<std::uint8_t>(~(1u << (i % 8))),
                              std::memory_order_relaxed);
}

void Allocation::copyWritten(std::uint64_t to, const Allocation &source, std::uint64_t from,
                             std::uint64_t bytes) {
  if (source.fullyWritten())
    return markWritten(to, bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (source.written(from + i, 1))
      markWritten(to + i, 1);
    else
      markUnwritten(to + i, 1);
  }
}

Expected<std::uint64_t> Memory::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return error(StatusCode::InvalidArgument, "alignment {} is not a power of two", alignment);
  if (bytes == 0)
    return error(StatusCode::InvalidArgument, "an allocation needs at least one byte");
  std::uint64_t step = std::max<std::uint64_t>(alignment, 256);
  std::uint64_t base = (next_ + step - 1) & ~(step - 1);
  if (bytes > kAddressLimit || base > kAddressLimit - bytes)
    return error(StatusCode::ResourceExhausted,
                 "{} bytes do not fit the 47-bit device address space", bytes);
  WAVESMITH_ASSIGN(auto allocation, Allocation::create(base, bytes));
  live_[base] = std::move(allocation);
  next_ = base + bytes + kGuard;
  return base;
}

Status Memory::mapHost(std::span<std::byte> memory) {
  const auto base = reinterpret_cast<std::uint64_t>(memory.data());
  const auto after = live_.lower_bound(base);
  const bool meetsNext = after != live_.end() && after->first - base < memory.size();
  if (memory.empty() || find(base) || meetsNext)
    return error(StatusCode::InvalidArgument,
                 "{} bytes of host memory at {:#x} cannot be mapped: {}", memory.size(), base,
                 memory.empty() ? "there is nothing" : "some are mapped already");
  freed_.erase(base);
  live_[base] = Allocation::view(memory);
  return Status::ok();
}

Status Memory::free(std::uint64_t address) {
  auto it = live_.find(address);
  if (it == live_.end())
    return error(StatusCode::InvalidArgument, "address {:#x} is not the start of an allocation{}",
                 address, freed_.count(address) ? ": it was freed before" : "");
  freed_[address] = it->second->size();
  live_.erase(it);
  return Status::ok();
}

Allocation *Memory::find(std::uint64_t address) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin())
    return nullptr;
  Allocation *allocation = std::prev(it)->second.get();
  return address - allocation->base() < allocation->size() ? allocation : nullptr;
}

std::string Memory::describe(std::uint64_t address) const {
  auto freed = freed_.upper_bound(address);
  if (freed != freed_.begin()) {
    --freed;
    if (address - freed->first < freed->second)
      return fmt::format("inside the freed allocation {:#x}+{}", freed->first, freed->second);
  }
  auto above = live_.upper_bound(address);
  if (above != live_.begin()) {
    const Allocation &below = *std::prev(above)->second;
    std::uint64_t past = address - below.base() - below.size();
    if (past < kGuard)
      return fmt::format("{} bytes past the end of allocation {:#x}+{}", past, below.base(),
                         below.size());
  }
  if (above != live_.end() && above->first - address <= kGuard)
    return fmt::format("{} bytes before allocation {:#x}+{}", above->first - address, above->first,
                       above->second->size());
  return "in no allocation";
}

Expected<Allocation *> Memory::range(std::uint64_t address, std::uint64_t bytes,
                                     const char *what) const {
  Allocation *allocation = find(address);
  if (!allocation)
    return error(StatusCode::InvalidArgument, "{} of {} bytes at {:#x}, which is {}", what, bytes,
                 address, describe(address));
  if (!allocation->contains(address, bytes))
    return error(StatusCode::InvalidArgument,
                 "{} of {} bytes at {:#x} leaves allocation {:#x}+{} by {} bytes", what, bytes,
                 address, allocation->base(), allocation->size(),
                 address + bytes - allocation->base() - allocation->size());
  return allocation;
}

Status Memory::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty())
    return Status::ok();
  WAVESMITH_ASSIGN(Allocation * allocation, range(address, bytes.size(), "write"));
  std::memcpy(allocation->at(address), bytes.data(), bytes.size());
  allocation->markWritten(address, bytes.size());
  return Status::ok();
}

Status Memory::read(std::uint64_t address, std::span<std::byte> bytes) const {
  if (bytes.empty())
    return Status::ok();
  WAVESMITH_ASSIGN(Allocation * allocation, range(address, bytes.size(), "read"));
  std::memcpy(bytes.data(), allocation->at(address), bytes.size());
  return Status::ok();
}

Status Memory::fill(std::uint64_t address, std::byte value, std::uint64_t bytes) {
  if (bytes == 0)
    return Status::ok();
  WAVESMITH_ASSIGN(Allocation * allocation, range(address, bytes, "fill"));
  std::memset(allocation->at(address), std::to_integer<int>(value), bytes);
  allocation->markWritten(address, bytes);
  return Status::ok();
}

Status Memory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0)
    return Status::ok();
  WAVESMITH_ASSIGN(Allocation * source, range(from, bytes, "copy source"));
  WAVESMITH_ASSIGN(Allocation * target, range(to, bytes, "copy target"));
  std::memmove(target->at(to), source->at(from), bytes);
  target->copyWritten(to, *source, from, bytes);
  return Status::ok();
}

} // namespace wavesmith::emulator
