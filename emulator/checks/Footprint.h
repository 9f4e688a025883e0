#pragma once
// Which bytes of device memory one workgroup touched, and who did it: by pages, one bit per byte
// and the last instruction, wave and lane per dword. Filled as operations land, handed to
// GlobalRaces. Owned by one workgroup at a time.

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "emulator/isa/Types.h"

namespace wavesmith::emulator {

enum class MemoryUse : u8 { Read, Write, Atomic };
inline constexpr int kMemoryUses = 3;

/// Instruction (Inst::number), wave and lane of an access in one word.
struct Access32 {
  static constexpr u32 kMaxNumber = (1u << 22) - 1;
  static u32 pack(u32 number, int wave, int lane) {
    return (number < kMaxNumber ? number : kMaxNumber) << 10 | static_cast<u32>(wave) << 6 |
           static_cast<u32>(lane);
  }
  static u32 number(u32 access) { return access >> 10; }
  static int wave(u32 access) { return static_cast<int>((access >> 6) & 15); }
  static int lane(u32 access) { return static_cast<int>(access & 63); }
};

class Footprint {
public:
  // Small, since rows of one head among many lie far apart.
  static constexpr u32 kPageBytes = 512, kPageDwords = kPageBytes / 4;
  using Bits = std::array<u64, kPageBytes / 64>;

  struct Side {
    Bits bits;
    std::array<u32, kPageDwords> by;
  };
  struct Page {
    u64 number = 0; ///< address / kPageBytes
    std::unique_ptr<Side> sides[kMemoryUses];
    std::unique_ptr<std::array<u32, kPageDwords>> values; ///< of plain stores
    bool used[kMemoryUses] = {};
  };

  /// What the workgroup stored before is its own and no read of anyone else's bytes.
  void read(u64 address, unsigned bytes, u32 by) { touch(MemoryUse::Read, address, bytes, by); }
  /// The same of neighbouring lanes that read one behind the other; `by` is the first one's.
  void readRun(u64 address, unsigned bytes, unsigned lanes, u32 by);
  void atomic(u64 address, unsigned bytes, u32 by) { touch(MemoryUse::Atomic, address, bytes, by); }
  void write(u64 address, unsigned bytes, u32 by, const std::byte *stored);

  bool empty() const { return count_ == 0; }
  void clear();
  /// The pages touched, in order of their first access.
  std::span<const std::unique_ptr<Page>> pages() const { return {pool_.data(), count_}; }

private:
  void touch(MemoryUse use, u64 address, unsigned bytes, u32 by) {
    u64 number = address / kPageBytes;
    auto offset = static_cast<u32>(address % kPageBytes);
    Page &page = last_ && last_->number == number ? *last_ : find(number);
    if (offset + bytes > kPageBytes) {
      unsigned here = kPageBytes - offset;
      touch(use, address + here, bytes - here, by);
      bytes = here;
    }
    mark(page, use, offset, bytes, by);
  }
  static Side &sideOf(Page &page, MemoryUse use);
  void mark(Page &page, MemoryUse use, u32 offset, unsigned bytes, u32 by);
  Page &find(u64 number);
  void grow();

  Page *last_ = nullptr;                    ///< that was found
  std::vector<Page *> index_;               ///< open addressing; a power of two, at most half full
  std::vector<std::unique_ptr<Page>> pool_; ///< the first count_ are in use
  std::size_t count_ = 0;
};

} // namespace wavesmith::emulator
