#pragma once
// Device memory: sparse and 64-bit. Every allocation has its exact byte range with unmapped guard
// space around it, zero pages from the host at first touch, and one validity bit per byte. Freed
// addresses are never handed out again. Changing the set of allocations is for one thread; lookups
// and accesses are safe from many.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/support/Status.h"

namespace wavesmith::emulator {

class Allocation {
public:
  static Expected<std::unique_ptr<Allocation>> create(std::uint64_t base, std::uint64_t size);
  /// Memory that someone else owns, at its own address and written already.
  static std::unique_ptr<Allocation> view(std::span<std::byte> memory);
  ~Allocation();
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;

  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return size_; }
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return address >= base_ && bytes <= size_ && address - base_ <= size_ - bytes;
  }
  std::byte *at(std::uint64_t address) { return data_ + (address - base_); }
  const std::byte *at(std::uint64_t address) const { return data_ + (address - base_); }

  /// True when every byte was written: the common case, which spares the bit tests.
  bool fullyWritten() const { return fullyWritten_.load(std::memory_order_acquire); }
  /// Bit i: byte address+i was written; bytes <= 16.
  std::uint32_t written(std::uint64_t address, unsigned bytes) const;
  void markWritten(std::uint64_t address, std::uint64_t bytes);
  void markUnwritten(std::uint64_t address, std::uint64_t bytes);
  /// Copies validity too, which keeps a copy of a half-written buffer half-written.
  void copyWritten(std::uint64_t to, const Allocation &source, std::uint64_t from,
                   std::uint64_t bytes);

private:
  Allocation(std::uint64_t base, std::uint64_t size) : base_(base), size_(size) {}

  std::uint64_t base_, size_;
  std::byte *data_ = nullptr;
  bool owned_ = true;
  std::atomic<std::uint8_t> *written_ = nullptr; ///< one bit per byte
  std::atomic<bool> fullyWritten_{false};
  std::mutex filling_; ///< of the bits, when they begin to count
};

class Memory {
public:
  Expected<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment);
  Status free(std::uint64_t address);
  /// A view of host memory, until it is freed.
  Status mapHost(std::span<std::byte> memory);
  Status write(std::uint64_t address, std::span<const std::byte> bytes);
  Status read(std::uint64_t address, std::span<std::byte> bytes) const;
  Status fill(std::uint64_t address, std::byte value, std::uint64_t bytes);
  Status copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  /// The allocation that holds `address`, or null.
  Allocation *find(std::uint64_t address) const;
  /// Where an address outside every allocation lies: "12 bytes past the end of ...".
  std::string describe(std::uint64_t address) const;

private:
  Expected<Allocation *> range(std::uint64_t address, std::uint64_t bytes, const char *what) const;

  std::map<std::uint64_t, std::unique_ptr<Allocation>> live_;
  std::map<std::uint64_t, std::uint64_t> freed_; ///< base -> size, for messages
  std::uint64_t next_ = 0x1000'0000'0000;
};

} // namespace wavesmith::emulator
