#include "emulator/checks/GlobalRaces.h"

#include <algorithm>
#include <bit>

namespace wavesmith::emulator {
namespace {

using Bits = Footprint::Bits;

bool meet(const Bits &a, const Bits &b) {
  u64 common = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    common |= a[i] & b[i];
  return common != 0;
}

template <typename Use> void forEachBit(const Bits &bits, Use use) {
  for (std::size_t word = 0; word < bits.size(); ++word)
    for (u64 rest = bits[word]; rest; rest &= rest - 1)
      use(static_cast<u32>(word * 64) + static_cast<u32>(std::countr_zero(rest)));
}

/// The four bits of a dword.
u32 dwordBits(const Bits &bits, u32 dword) {
  return static_cast<u32>(bits[dword / 16] >> (dword % 16 * 4)) & 15;
}

void join(GroupClocks &to, const GroupClocks &from) {
  if (to.size() < from.size())
    to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}

/// Would a join with these clocks tell nothing new?
bool covers(const GroupClocks &known, const GroupClocks &others) {
  for (std::size_t i = 0; i < others.size(); ++i)
    if (others[i] > (i < known.size() ? known[i] : 0))
      return false;
  return true;
}

} // namespace

const GlobalRaces::Run &GlobalRaces::Entry::runOf(u32 dword) const {
  auto after = std::upper_bound(runs.begin(), runs.end(), dword,
                                [](u32 at, const Run &run) { return at < run.first; });
  return *std::prev(after);
}

void GlobalRaces::dropEqual(Bits &overlap, const Footprint::Page &from, const Entry &entry) {
  Bits all = overlap;
  forEachBit(all, [&](u32 byte) {
    u32 dword = byte / 4;
    const Run &run = entry.runOf(dword);
    u32 theirs = entry.values[run.value + dword - run.first], mine = (*from.values)[dword];
    if ((((theirs ^ mine) >> (byte % 4 * 8)) & 0xff) == 0)
      overlap[byte / 64] &= ~(u64{1} << (byte % 64));
  });
}

void GlobalRaces::compare(GroupLog &log, const Footprint::Page &from, MemoryUse use,
                          const Page &page) const {
  const Footprint::Side &side = *from.sides[static_cast<std::size_t>(use)];
  bool suspicious = false;
  for (int other = 0; other < kMemoryUses; ++other)
    suspicious |= page.covers[other] && conflicts(use, static_cast<MemoryUse>(other)) &&
                  meet(side.bits, page.covers[other]->any);
  if (!suspicious)
    return;
  for (const Entry &entry : page.entries) {
    if (!conflicts(use, entry.use) || ordered(log, entry))
      continue;
    Bits overlap;
    for (std::size_t i = 0; i < overlap.size(); ++i)
      overlap[i] = side.bits[i] & entry.bits[i];
    if (use == MemoryUse::Write && entry.use == MemoryUse::Write)
      dropEqual(overlap, from, entry);
    forEachBit(overlap, [&](u32 byte) {
      GlobalConflict found{use,
                           entry.use,
                           from.number * Footprint::kPageBytes + byte,
                           side.by[byte / 4],
                           entry.runOf(byte / 4).by,
                           entry.group};
      auto same = [&](const GlobalConflict &known) {
        return known.use == use && known.earlierUse == entry.use &&
               Access32::number(known.by) == Access32::number(found.by) &&
               Access32::number(known.earlierBy) == Access32::number(found.earlierBy);
      };
      if (std::none_of(log.conflicts.begin(), log.conflicts.end(), same))
        log.conflicts.push_back(found);
    });
  }
}

void GlobalRaces::refresh(Page &page) {
  std::erase_if(page.entries, [](const Entry &entry) {
    return std::all_of(entry.bits.begin(), entry.bits.end(), [](u64 word) { return word == 0; });
  });
  for (auto &cover : page.covers)
    cover.reset();
  for (const Entry &entry : page.entries)
    extend(page, entry.use, entry.bits);
}

void GlobalRaces::extend(Page &page, MemoryUse use, const Bits &bits) {
  auto &cover = page.covers[static_cast<std::size_t>(use)];
  if (!cover)
    cover = std::make_unique<Cover>();
  for (std::size_t i = 0; i < bits.size(); ++i) {
    cover->twice[i] |= cover->any[i] & bits[i];
    cover->any[i] |= bits[i];
  }
}

void GlobalRaces::add(const GroupLog &log, const Footprint::Page &from, MemoryUse use, Page &page) {
  auto which = static_cast<std::size_t>(use);
  const Footprint::Side &side = *from.sides[which];
  // A write stands for all before it; another access for those of its kind that it follows. What
  // conflicts with one of them conflicts with this one too, or was reported already.
  bool replaces = false;
  for (int other = 0; other < kMemoryUses; ++other)
    replaces |= page.covers[other] &&
                (use == MemoryUse::Write || use == static_cast<MemoryUse>(other)) &&
                meet(side.bits, page.covers[other]->any);
  if (replaces) {
    bool changed = false;
    for (Entry &entry : page.entries) {
      if (use != MemoryUse::Write && (entry.use != use || !ordered(log, entry)))
        continue;
      for (std::size_t i = 0; i < side.bits.size(); ++i) {
        changed |= (entry.bits[i] & side.bits[i]) != 0;
        entry.bits[i] &= ~side.bits[i];
      }
    }
    if (changed)
      refresh(page);
  }
  Entry entry{log.group, log.clock, use, side.bits, {}, {}};
  u64 fresh = 0;
  for (std::size_t i = 0; i < side.bits.size(); ++i) {
    if (page.covers[which])
      entry.bits[i] &= ~page.covers[which]->twice[i];
    fresh |= entry.bits[i];
  }
  if (!fresh)
    return;
  extend(page, use, entry.bits);
  for (u32 dword = 0; dword < Footprint::kPageDwords; ++dword) {
    if (!dwordBits(entry.bits, dword))
      continue;
    u32 by = side.by[dword] & ~63u;
    if (entry.runs.empty() || entry.runs.back().by != by ||
        u32{entry.runs.back().first} + entry.runs.back().count != dword)
      entry.runs.push_back({static_cast<u16>(dword), 0, by, static_cast<u32>(entry.values.size())});
    ++entry.runs.back().count;
    if (use == MemoryUse::Write)
      entry.values.push_back((*from.values)[dword]);
  }
  page.entries.push_back(std::move(entry));
}

void GlobalRaces::merge(GroupLog &log) {
  constexpr MemoryUse kUses[] = {MemoryUse::Write, MemoryUse::Atomic, MemoryUse::Read};
  for (const auto &from : log.footprint.pages()) {
    Page &page = pages_[from->number];
    for (MemoryUse use : kUses)
      if (from->used[static_cast<std::size_t>(use)])
        compare(log, *from, use, page);
    for (MemoryUse use : kUses)
      if (from->used[static_cast<std::size_t>(use)])
        add(log, *from, use, page);
  }
  log.footprint.clear();
}

void GlobalRaces::release(GroupLog &log, u64 address) {
  if (!log.footprint.empty()) {
    merge(log);
    if (log.known.size() <= log.group)
      log.known.resize(log.group + 1);
    log.known[log.group] = log.clock++;
  }
  join(released_[address / 4], log.known);
}

void GlobalRaces::acquire(GroupLog &log, u64 address) {
  auto found = released_.find(address / 4);
  if (found == released_.end() || covers(log.known, found->second))
    return;
  // What was done before knew less.
  merge(log);
  join(log.known, found->second);
}

} // namespace wavesmith::emulator
