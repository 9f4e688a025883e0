#include "emulator/cycles/LdsBanks.h"

#include <algorithm>
#include <array>

namespace wavesmith::emulator::cycles {
namespace {

/// Phase of each of 32 lanes; the upper half repeats it.
using Phases = std::array<u8, 32>;

constexpr Phases consecutive(int lanes) {
  Phases phases{};
  for (int lane = 0; lane < 32; ++lane)
    phases[lane] = static_cast<u8>(lane / lanes);
  return phases;
}

constexpr void put(Phases &phases, int first, int last, int phase) {
  for (int lane = first; lane <= last; ++lane)
    phases[lane] = static_cast<u8>(phase);
}

/// b128 and b96 over 32 banks: {0-3,20-23} {4-7,16-19} {8-11,28-31} {12-15,24-27}.
constexpr Phases wide32() {
  Phases phases{};
  put(phases, 0, 3, 0), put(phases, 20, 23, 0);
  put(phases, 4, 7, 1), put(phases, 16, 19, 1);
  put(phases, 8, 11, 2), put(phases, 28, 31, 2);
  put(phases, 12, 15, 3), put(phases, 24, 27, 3);
  return phases;
}

/// b128 over 64 banks: {0-3,12-15,20-27} {4-11,16-19,28-31}.
constexpr Phases wide64() {
  Phases phases{};
  put(phases, 4, 11, 1), put(phases, 16, 19, 1), put(phases, 28, 31, 1);
  return phases;
}

constexpr Phases kWhole = consecutive(32), kHalves = consecutive(16), kQuarters = consecutive(8);
constexpr Phases kWide32 = wide32(), kWide64 = wide64();

struct Plan {
  const Phases *phases;
  int banks;
};

Plan planFor(bool isRead, int bytes, int banks) {
  if (bytes <= 4)
    return {&kWhole, banks};
  if (bytes == 8)
    return {isRead && banks == 64 ? &kWhole : &kHalves, isRead ? banks : 32};
  if (bytes == 12)
    return {isRead ? &kWide32 : &kQuarters, 32};
  if (!isRead)
    return {&kQuarters, 32};
  return {banks == 64 ? &kWide64 : &kWide32, banks};
}

int phaseClocks(const Phases &phases, int phase, const u32 *address, u64 lanes, int words,
                int banks, bool serial) {
  u32 seen[64][64];
  u8 count[64] = {};
  int worst = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (phases[lane] != phase || !((lanes >> lane) & 1))
      continue;
    for (int word = 0; word < words; ++word) {
      u32 dword = address[lane] / 4 + static_cast<u32>(word);
      u32 bank = dword % static_cast<u32>(banks);
      u32 *begin = seen[bank], *end = begin + count[bank];
      if ((!serial && std::find(begin, end, dword) != end) || count[bank] == 64)
        continue;
      *end = dword;
      worst = std::max<int>(worst, ++count[bank]);
    }
  }
  return worst;
}

} // namespace

int bankClocks(const Inst &inst, const u64 *address, u64 lanes, int banks) {
  const Access &access = inst.row->access;
  bool isRead = inst.row->use == Use::Load || inst.row->use == Use::Transpose;
  bool serial = inst.row->use == Use::Atomic;
  int clocks = 0;
  for (int element = 0; element < access.count; ++element) {
    u32 offset = access.count == 1
                     ? static_cast<u32>(inst.immediate)
                     : (element ? inst.offset1 : static_cast<u32>(inst.immediate)) * access.stride;
    u32 at[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      at[lane] = static_cast<u32>(address[lane]) + offset;
    int words = std::max(1, access.bytes / 4);
    Plan plan = planFor(isRead, access.bytes, banks);
    int last = *std::max_element(plan.phases->begin(), plan.phases->end());
    for (int half = 0; half < 2; ++half)
      for (int phase = 0; phase <= last; ++phase)
        clocks += phaseClocks(*plan.phases, phase, at + 32 * half, (lanes >> (32 * half)) & ~0u,
                              words, plan.banks, serial);
  }
  return clocks;
}

} // namespace wavesmith::emulator::cycles
