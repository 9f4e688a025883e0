#pragma once
// Races in device memory between the workgroups of one launch. Each workgroup hands in what it
// touched; two accesses conflict when both touch a byte, one writes, not both are atomic, and no
// chain of atomics orders them. Order is kept per workgroup: clocks that a releasing access leaves
// at its address and an acquiring one takes. That is coarser than per wave, so a race may be missed
// but none is invented. One per launch; the caller serialises the calls.

#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator/checks/Footprint.h"

namespace wavesmith::emulator {

struct GlobalConflict {
  MemoryUse use, earlierUse;
  u64 address;
  u32 by;        ///< Access32
  u32 earlierBy; ///< Access32 without a lane
  u32 earlierGroup;
};

/// By workgroup: the last clock whose accesses are known to come before.
using GroupClocks = std::vector<u32>;

/// One workgroup's side of the check.
struct GroupLog {
  u32 group = 0; ///< in order of start
  u32 clock = 1;
  GroupClocks known;
  Footprint footprint;
  std::vector<GlobalConflict> conflicts;
  std::size_t reported = 0; ///< of the conflicts, for whoever reports them

  void reset(u32 newGroup) {
    group = newGroup;
    clock = 1;
    known.clear();
    footprint.clear();
    conflicts.clear();
    reported = 0;
  }
};

class GlobalRaces {
public:
  /// Whether a plain read that meets an atomic is a race. Not in code with compare-and-swap loops,
  /// which compilers begin with a plain read whatever else changes the place.
  explicit GlobalRaces(bool readsMeetAtomics) : readsMeetAtomics_(readsMeetAtomics) {}

  /// Takes over what the log gathered and adds its conflicts to it, one per pair of instructions.
  void merge(GroupLog &log);
  /// An atomic access to the dword at `address`: what came before it in this workgroup is visible
  /// to whoever acquires there later.
  void release(GroupLog &log, u64 address);
  void acquire(GroupLog &log, u64 address);

private:
  using Bits = Footprint::Bits;
  /// Neighbouring dwords that one instruction of one wave touched.
  struct Run {
    u16 first, count;
    u32 by;
    u32 value; ///< where its values begin
  };
  struct Entry {
    u32 group, clock;
    MemoryUse use;
    Bits bits;
    std::vector<Run> runs;
    std::vector<u32> values; ///< of plain stores

    const Run &runOf(u32 dword) const;
  };
  /// The entries of one use.
  struct Cover {
    Bits any{};   ///< their union
    Bits twice{}; ///< in two of them, which is enough to find a third party
  };
  struct Page {
    std::vector<Entry> entries;
    std::unique_ptr<Cover> covers[kMemoryUses]; ///< null: none
  };

  bool conflicts(MemoryUse a, MemoryUse b) const {
    if (a == MemoryUse::Write || b == MemoryUse::Write)
      return true;
    return readsMeetAtomics_ && a != b;
  }
  static bool ordered(const GroupLog &log, const Entry &entry) {
    return entry.group == log.group ||
           (entry.group < log.known.size() && log.known[entry.group] >= entry.clock);
  }
  void compare(GroupLog &log, const Footprint::Page &from, MemoryUse use, const Page &page) const;
  static void dropEqual(Bits &overlap, const Footprint::Page &from, const Entry &entry);
  void add(const GroupLog &log, const Footprint::Page &from, MemoryUse use, Page &page);
  static void refresh(Page &page);
  static void extend(Page &page, MemoryUse use, const Bits &bits);

  const bool readsMeetAtomics_;
  std::unordered_map<u64, Page> pages_;
  std::unordered_map<u64, GroupClocks> released_; ///< by dword
};

} // namespace wavesmith::emulator
