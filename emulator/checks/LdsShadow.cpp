// LDS races, and LDS DMA that was not waited for.
//
// An access of wave b is ordered after an operation of wave a exactly when a had completed it
// (waited for it) on arriving at the last barrier that b has passed. A store of what is there
// already conflicts with no earlier store: both orders leave the same bytes.

#include "emulator/checks/LdsShadow.h"

#include <algorithm>
#include <bit>

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

constexpr u64 kMaxSequence = (u64{1} << 27) - 1;
u32 keySequence(u64 sequence) { return static_cast<u32>(std::min(sequence, kMaxSequence)); }

u32 writeKey(const Wave &wave, const LdsFootprint &access) {
  return keySequence(access.sequence) << 5 | static_cast<u32>(wave.id) << 1 | access.dma;
}

u8 byteMask(u32 address, u32 dword, unsigned size) {
  u8 mask = 0;
  for (u32 byte = 0; byte < 4; ++byte)
    if (dword * 4 + byte >= address && dword * 4 + byte < address + size)
      mask |= static_cast<u8>(1 << byte);
  return mask;
}

u8 bytesOf(const LdsFootprint &access, int lane, u32 dword) {
  return access.bytes >= 4 && access.address[lane] % 4 == 0
             ? u8{15}
             : byteMask(access.address[lane], dword, access.bytes);
}

/// The bytes that a lane stores to a dword, in place.
u32 storedValue(const LdsFootprint &access, int lane, u32 dword) {
  u32 address = access.address[lane];
  if (access.bytes >= 4 && address % 4 == 0)
    return access.data[dword - address / 4][lane];
  u32 value = 0;
  for (u32 byte = 0; byte < 4; ++byte) {
    u32 from = dword * 4 + byte - address; // wraps where the lane does not store
    if (from < access.bytes) {
      u32 word = access.data[from / 4][lane] >> (access.high ? 16 : 0);
      value |= ((word >> (from % 4 * 8)) & 0xff) << (byte * 8);
    }
  }
  return value;
}

u32 byteBits(u8 mask) {
  u32 bits = 0;
  for (int byte = 0; byte < 4; ++byte)
    bits |= (mask >> byte) & 1 ? 0xffu << (8 * byte) : 0;
  return bits;
}

template <typename Use> void forEachDword(const LdsFootprint &access, Use use) {
  for (u64 rest = access.lanes; rest; rest &= rest - 1) {
    int lane = std::countr_zero(rest);
    u32 address = access.address[lane];
    for (u32 dword = address / 4; dword <= (address + access.bytes - 1) / 4; ++dword)
      use(lane, dword);
  }
}

} // namespace

void LdsShadow::resize(std::size_t waves, u32 bytes) {
  writes_.resize(bytes / 4 + 8);
  writtenBytes_.resize(bytes / 4 + 8);
  values_.resize(bytes / 4 + 8);
  reads_.assign(waves, std::vector<u32>(bytes / 4 + 8));
  history_.assign(waves * 2, std::vector<const Inst *>(kHistory));
}

void LdsShadow::reset() {
  std::fill(writes_.begin(), writes_.end(), 0);
  agreements_.clear();
  overwritten_.clear();
  partReads_.clear();
  for (auto &reads : reads_)
    std::fill(reads.begin(), reads.end(), 0);
}

void LdsShadow::thresholds(const Machine &machine, const Wave &wave, bool dmaAccess) {
  std::fill(std::begin(threshold_), std::end(threshold_), 0);
  for (const auto &other : machine.group.waves) {
    u32 *slot = threshold_ + 2 * other->id;
    if (other->id == wave.id) {
      // Own LDS operations are in order; own DMA is another counter, in order with DMA only.
      slot[0] = ~0u;
      slot[1] = dmaAccess ? ~0u : keySequence(wave.vectorDone);
    } else if (wave.barriers) {
      u64 parity = (wave.barriers - 1) & 1;
      slot[0] = keySequence(other->ldsDoneAt[parity]);
      slot[1] = keySequence(other->vectorDoneAt[parity]);
    }
  }
}

bool LdsShadow::repeats(const LdsFootprint &access, int lane, u32 dword, u8 bytes) const {
  if (!access.data || !(writtenBytes_[dword] & kStored))
    return false;
  u8 mask = byteMask(access.address[lane], dword, access.bytes) & bytes;
  return ((storedValue(access, lane, dword) ^ values_[dword]) & byteBits(mask)) == 0;
}

u32 LdsShadow::agreed(u32 dword) const {
  auto found = agreements_.find(dword);
  return found != agreements_.end() && found->second.key == writes_[dword] ? found->second.waves
                                                                           : 0;
}

void LdsShadow::keepRest(u32 dword, u32 key, u8 mask) {
  u8 rest = writtenBytes_[dword] & 15 & ~mask;
  bool keep = rest && writes_[dword] && writes_[dword] != key && !(writtenBytes_[dword] & kAtomic);
  if (!keep && overwritten_.empty())
    return;
  std::vector<Partial> &standing = overwritten_[dword];
  for (Partial &other : standing)
    other.bytes &= static_cast<u8>(~mask);
  std::erase_if(standing, [](const Partial &other) { return other.bytes == 0; });
  if (keep)
    standing.push_back({writes_[dword], rest});
  if (standing.empty())
    overwritten_.erase(dword);
}

u32 LdsShadow::unorderedRest(u32 dword, u8 mask) const {
  if (overwritten_.empty())
    return 0;
  auto found = overwritten_.find(dword);
  if (found == overwritten_.end())
    return 0;
  for (const Partial &write : found->second)
    if ((write.bytes & mask) && (write.key >> 5) > threshold_[write.key & 31])
      return write.key;
  return 0;
}

void LdsShadow::remember(const Wave &wave, const LdsFootprint &access) {
  history_[2 * wave.id + access.dma][access.sequence % kHistory] = access.inst;
}

const Inst *LdsShadow::instOf(std::size_t wave, bool dma, u64 sequence) const {
  return history_[2 * wave + dma][sequence % kHistory];
}

void LdsShadow::read(Machine &machine, Wave &wave, const LdsFootprint &access) {
  thresholds(machine, wave, false);
  u32 *reads = reads_[wave.id].data();
  const u32 *writes = writes_.data();
  u32 sequence = keySequence(access.sequence);
  bool bad = false;
  bool whole = access.bytes == 16 && access.lanes == ~u64{0} && overwritten_.empty() &&
               std::all_of(access.address, access.address + kLanes,
                           [](u32 address) { return address % 4 == 0; });
  if (whole) {
    for (int lane = 0; lane < kLanes; ++lane) {
      u32 dword = access.address[lane] / 4;
      for (u32 i = dword; i < dword + 4; ++i) {
        bad |= (writes[i] >> 5) > threshold_[writes[i] & 31];
        reads[i] = sequence;
      }
    }
  } else {
    forEachDword(access, [&](int lane, u32 dword) {
      u8 mask = bytesOf(access, lane, dword);
      bad |= (writes[dword] >> 5) > threshold_[writes[dword] & 31] || unorderedRest(dword, mask);
      if (mask == 15)
        reads[dword] = sequence;
      else
        rememberPart(dword, writeKey(wave, access), mask);
    });
  }
  remember(wave, access);
  if (bad)
    reportRead(machine, wave, access);
}

void LdsShadow::rememberPart(u32 dword, u32 key, u8 mask) {
  std::vector<Partial> &parts = partReads_[dword];
  for (Partial &part : parts)
    if (((part.key ^ key) & 31) == 0 && part.bytes == mask) {
      part.key = key;
      return;
    }
  parts.push_back({key, mask});
}

void LdsShadow::reportRead(Machine &machine, Wave &wave, const LdsFootprint &access) {
  const Program &program = *machine.launch.program;
  forEachDword(access, [&](int lane, u32 dword) {
    u8 mask = byteMask(access.address[lane], dword, access.bytes);
    u32 key = writes_[dword];
    if ((key >> 5) <= threshold_[key & 31] || ((agreed(dword) >> wave.id) & 1) ||
        (writtenBytes_[dword] & kCompares) || !(writtenBytes_[dword] & mask))
      key = unorderedRest(dword, mask);
    if (!key)
      return;
    u32 from = (key >> 1) & 15;
    bool dma = key & 1;
    const Inst *writer = instOf(from, dma, key >> 5);
    if (from == static_cast<u32>(wave.id)) {
      if (machine.checks(CheckKind::Waits))
        machine.fault(CheckKind::Waits, wave, *access.inst, lane,
                      fmt::format("reads LDS at {:#x}, which an LDS DMA at {} still fills "
                                  "(vmcnt not waited for)",
                                  dword * 4, program.place(*writer)));
    } else if (machine.checks(CheckKind::Races)) {
      machine.fault(CheckKind::Races, wave, *access.inst, lane,
                    fmt::format("reads LDS at {:#x} with no completed wait and barrier after the "
                                "write by {}{} of wave {} at {}",
                                dword * 4, writer->row->name, dma ? " (DMA)" : "", from,
                                program.place(*writer)));
    }
  });
}

u32 LdsShadow::readLimitOf(const Wave &wave, const LdsFootprint &access, std::size_t other) const {
  return static_cast<int>(other) == wave.id ? (access.dma ? keySequence(wave.ldsDone) : ~0u)
                                            : threshold_[2 * other];
}

u32 LdsShadow::unorderedPart(const Wave &wave, const LdsFootprint &access, u32 dword,
                             u8 mask) const {
  if (partReads_.empty())
    return 0;
  auto found = partReads_.find(dword);
  if (found == partReads_.end())
    return 0;
  for (const Partial &read : found->second)
    if ((read.bytes & mask) && (read.key >> 5) > readLimitOf(wave, access, (read.key >> 1) & 15))
      return read.key;
  return 0;
}

void LdsShadow::write(Machine &machine, Wave &wave, const LdsFootprint &access) {
  thresholds(machine, wave, access.dma);
  u32 *writes = writes_.data();
  u32 key = writeKey(wave, access);
  bool bad = false;
  u32 first = access.address[0] / 4;
  bool dense = !access.atomic && access.bytes == 4 && access.lanes == ~u64{0} &&
               access.address[0] % 4 == 0 && overwritten_.empty() && partReads_.empty();
  for (u32 lane = 0; dense && lane < kLanes; ++lane)
    dense = access.address[lane] == access.address[0] + 4 * lane;
  auto readLimit = [&](std::size_t other) { return readLimitOf(wave, access, other); };
  if (dense) {
    for (u32 i = first; i < first + kLanes; ++i)
      bad |= (writes[i] >> 5) > threshold_[writes[i] & 31];
    for (std::size_t other = 0; other < reads_.size(); ++other) {
      const u32 *reads = reads_[other].data() + first;
      u32 limit = readLimit(other), over = 0;
      for (int i = 0; i < kLanes; ++i)
        over |= reads[i] > limit;
      bad |= over != 0;
    }
  } else {
    forEachDword(access, [&](int lane, u32 dword) {
      u8 mask = bytesOf(access, lane, dword);
      bad |= overtakes(access, dword) || unorderedRest(dword, mask) ||
             (!access.compares && unorderedPart(wave, access, dword, mask));
      for (std::size_t other = 0; !access.compares && other < reads_.size(); ++other)
        bad |= reads_[other][dword] > readLimit(other);
    });
  }
  remember(wave, access);
  if (bad)
    reportWrite(machine, wave, access);
  if (dense) {
    std::fill_n(writes + first, kLanes, key);
    std::fill_n(writtenBytes_.data() + first, kLanes, access.data ? u8{15 | kStored} : u8{15});
    if (access.data)
      std::copy_n(access.data[0], kLanes, values_.data() + first);
    return;
  }
  forEachDword(access, [&](int lane, u32 dword) {
    u8 mask = bytesOf(access, lane, dword);
    u8 kind = access.atomic ? kAtomic : access.data ? kStored : u8{0};
    kind |= access.compares ? kCompares : u8{0};
    if (access.data) {
      u32 bits = byteBits(mask);
      values_[dword] = (values_[dword] & ~bits) | (storedValue(access, lane, dword) & bits);
    }
    if (writes[dword] != key)
      keepRest(dword, key, mask);
    mask |= kind;
    // Lanes of one access add up.
    writtenBytes_[dword] = writes[dword] == key ? writtenBytes_[dword] | mask : mask;
    writes[dword] = key;
  });
}

void LdsShadow::reportWrite(Machine &machine, Wave &wave, const LdsFootprint &access) {
  const Program &program = *machine.launch.program;
  bool races = machine.checks(CheckKind::Races), waits = machine.checks(CheckKind::Waits);
  std::vector<std::pair<u32, u32>> repeated; // dword, waves
  forEachDword(access, [&](int lane, u32 dword) {
    u8 mask = byteMask(access.address[lane], dword, access.bytes);
    u32 key = writes_[dword], from = (key >> 1) & 15;
    if (overtakes(access, dword) && (writtenBytes_[dword] & mask)) {
      const Inst *writer = instOf(from, key & 1, key >> 5);
      bool own = from == static_cast<u32>(wave.id);
      if (!own && repeats(access, lane, dword, writtenBytes_[dword])) {
        repeated.push_back({dword, agreed(dword) | 1u << from | 1u << wave.id});
      } else if (own ? waits : races)
        machine.fault(own ? CheckKind::Waits : CheckKind::Races, wave, *access.inst, lane,
                      fmt::format("writes LDS at {:#x} with no completed wait{} after the write by "
                                  "{}{} of wave {} at {}",
                                  dword * 4, own ? "" : " and barrier", writer->row->name,
                                  key & 1 ? " (DMA)" : "", from, program.place(*writer)));
    }
    if (u32 rest = unorderedRest(dword, mask);
        rest && !repeats(access, lane, dword, 15) && ((rest >> 1) & 15) != u32(wave.id) && races) {
      const Inst *writer = instOf((rest >> 1) & 15, rest & 1, rest >> 5);
      machine.fault(CheckKind::Races, wave, *access.inst, lane,
                    fmt::format("writes LDS at {:#x} with no completed wait and barrier after the "
                                "write by {} of wave {} at {}",
                                dword * 4, writer->row->name, (rest >> 1) & 15,
                                program.place(*writer)));
    }
    u32 part = unorderedPart(wave, access, dword, mask);
    for (std::size_t other = 0; !access.compares && other < reads_.size(); ++other) {
      u32 sequence = reads_[other][dword];
      bool own = static_cast<int>(other) == wave.id;
      u32 limit = readLimitOf(wave, access, other);
      if (part && ((part >> 1) & 15) == other)
        sequence = std::max(sequence, part >> 5);
      if (sequence <= limit || !(own ? waits : races))
        continue;
      // Who reads what it stored itself does not notice that it is stored again.
      bool afterStore = ((agreed(dword) >> other) & 1) || (other == from && sequence > (key >> 5));
      if (!own && afterStore && repeats(access, lane, dword, writtenBytes_[dword]))
        continue;
      const Inst *reader = instOf(other, false, sequence);
      machine.fault(own ? CheckKind::Waits : CheckKind::Races, wave, *access.inst, lane,
                    fmt::format("writes LDS at {:#x} with no completed wait{} after the read by {} "
                                "of wave {} at {}",
                                dword * 4, own ? "" : " and barrier", reader->row->name, other,
                                program.place(*reader)));
    }
  });
  for (auto [dword, waves] : repeated)
    agreements_[dword] = {writeKey(wave, access), waves};
}

} // namespace wavesmith::emulator
