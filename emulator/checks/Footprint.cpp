#include "emulator/checks/Footprint.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wavesmith::emulator {

Footprint::Side &Footprint::sideOf(Page &page, MemoryUse use) {
  auto which = static_cast<std::size_t>(use);
  if (!page.used[which]) {
    if (!page.sides[which])
      page.sides[which] = std::make_unique<Side>();
    page.sides[which]->bits.fill(0);
    page.used[which] = true;
  }
  return *page.sides[which];
}

void Footprint::readRun(u64 address, unsigned bytes, unsigned lanes, u32 by) {
  constexpr auto kWrite = static_cast<std::size_t>(MemoryUse::Write);
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  const bool power = std::has_single_bit(bytes);
  const u64 end = address + u64{bytes} * lanes;
  for (u64 at = address; at < end;) {
    const u64 number = at / kPageBytes, stop = std::min(end, at / 64 * 64 + 64);
    Page &page = last_ && last_->number == number ? *last_ : find(number);
    Side &side = sideOf(page, MemoryUse::Read);
    const auto offset = static_cast<u32>(at % kPageBytes), word = offset / 64;
    u64 mask = ~u64{0} >> (64 - (stop - at)) << (offset % 64);
    if (page.used[kWrite])
      mask &= ~page.sides[kWrite]->bits[word];
    // The first access stands for those that repeat it.
    if ((side.bits[word] & mask) != mask) {
      side.bits[word] |= mask;
      for (u64 dword = at / 4; dword <= (stop - 1) / 4; ++dword) {
        const u64 behind = std::max(dword * 4, address) - address;
        side.by[dword % kPageDwords] =
            by + static_cast<u32>(power ? behind >> shift : behind / bytes);
      }
    }
    at = stop;
  }
}

void Footprint::mark(Page &page, MemoryUse use, u32 offset, unsigned bytes, u32 by) {
  Side &side = sideOf(page, use);
  u32 word = offset / 64, shift = offset % 64;
  u64 mask = (u64{1} << bytes) - 1; // at most 16 bytes
  u64 low = mask << shift, high = shift + bytes > 64 ? mask >> (64 - shift) : 0;
  if (use == MemoryUse::Read) {
    if (constexpr auto kWrite = static_cast<std::size_t>(MemoryUse::Write); page.used[kWrite]) {
      const Bits &own = page.sides[kWrite]->bits;
      low &= ~own[word];
      if (high)
        high &= ~own[word + 1];
    }
    // The first access stands for those that repeat it.
    if ((side.bits[word] & low) == low && (!high || (side.bits[word + 1] & high) == high))
      return;
  }
  side.bits[word] |= low;
  if (high)
    side.bits[word + 1] |= high;
  for (u32 dword = offset / 4; dword <= (offset + bytes - 1) / 4; ++dword)
    side.by[dword] = by;
}

void Footprint::write(u64 address, unsigned bytes, u32 by, const std::byte *stored) {
  touch(MemoryUse::Write, address, bytes, by);
  for (unsigned done = 0; done < bytes;) {
    Page &page = find((address + done) / kPageBytes);
    auto offset = static_cast<u32>((address + done) % kPageBytes);
    unsigned here = std::min<unsigned>(bytes - done, kPageBytes - offset);
    if (!page.values)
      page.values = std::make_unique<std::array<u32, kPageDwords>>();
    std::memcpy(reinterpret_cast<std::byte *>(page.values->data()) + offset, stored + done, here);
    done += here;
  }
}

Footprint::Page &Footprint::find(u64 number) {
  if (2 * count_ >= index_.size())
    grow();
  const std::size_t mask = index_.size() - 1;
  std::size_t at = number * 0x9e3779b97f4a7c15 >> 32 & mask;
  while (index_[at] && index_[at]->number != number)
    at = (at + 1) & mask;
  if (!index_[at]) {
    if (count_ == pool_.size())
      pool_.push_back(std::make_unique<Page>());
    index_[at] = pool_[count_++].get();
    index_[at]->number = number;
    std::fill(std::begin(index_[at]->used), std::end(index_[at]->used), false);
  }
  last_ = index_[at];
  return *last_;
}

void Footprint::grow() {
  index_.assign(std::max<std::size_t>(64, 4 * count_), nullptr);
  const std::size_t mask = index_.size() - 1;
  for (std::size_t i = 0; i < count_; ++i) {
    std::size_t at = pool_[i]->number * 0x9e3779b97f4a7c15 >> 32 & mask;
    while (index_[at])
      at = (at + 1) & mask;
    index_[at] = pool_[i].get();
  }
}

void Footprint::clear() {
  std::fill(index_.begin(), index_.end(), nullptr);
  last_ = nullptr;
  count_ = 0;
}

} // namespace wavesmith::emulator
