#pragma once
// Who touched which LDS dword last: the memory of the race check. Each dword keeps its last writer
// and, per wave, its last reader, by that wave's own order of operations; accesses to parts of a
// dword, which are rare, are kept apart. Owned by a Workgroup.

#include <unordered_map>
#include <vector>

#include "emulator/isa/Inst.h"

namespace wavesmith::emulator {

class Machine;
struct Wave;

/// The dwords of one access: up to four runs per lane.
struct LdsFootprint {
  const Inst *inst;
  u64 lanes;
  const u32 *address; ///< per lane, bytes
  unsigned bytes;     ///< per lane
  u64 sequence;
  bool dma;
  bool atomic = false; ///< no race with another atomic: the hardware serialises them
  /// A compare-and-swap: no race with reads. It judges for itself whether what was read is still
  /// there; the loops that compilers expand atomics to begin with a plain read.
  bool compares = false;
  const u32 (*data)[kLanes] = nullptr; ///< what a plain store writes, by dword of a lane
  bool high = false;                   ///< the upper halves of it
};

class LdsShadow {
public:
  void resize(std::size_t waves, u32 bytes);
  void reset();

  /// Record an access and report what it conflicts with.
  void read(Machine &machine, Wave &wave, const LdsFootprint &access);
  void write(Machine &machine, Wave &wave, const LdsFootprint &access);

private:
  /// Highest sequence of each (wave, counter) that is ordered before an access of `wave`.
  void thresholds(const Machine &machine, const Wave &wave, bool dmaAccess);
  void reportRead(Machine &machine, Wave &wave, const LdsFootprint &access);
  void reportWrite(Machine &machine, Wave &wave, const LdsFootprint &access);
  /// Whether a write conflicts with the last write of the dword.
  bool overtakes(const LdsFootprint &access, u32 dword) const {
    return (writes_[dword] >> 5) > threshold_[writes_[dword] & 31] &&
           !(access.atomic && (writtenBytes_[dword] & kAtomic));
  }
  /// Whether a store leaves the bytes of another wave's store as they are, which compilers rely on
  /// where they spread a value over more waves than it has elements.
  bool repeats(const LdsFootprint &access, int lane, u32 dword, u8 bytes) const;
  /// The waves, as a mask, that stored what the last write of the dword repeated.
  u32 agreed(u32 dword) const;
  void remember(const Wave &wave, const LdsFootprint &access);
  /// Keeps what a write by `key` of some bytes leaves of the dword's last one.
  void keepRest(u32 dword, u32 key, u8 mask);
  /// The write that stands in some of these bytes, is not ordered before this access and is not the
  /// dword's last; zero when there is none.
  u32 unorderedRest(u32 dword, u8 mask) const;
  void rememberPart(u32 dword, u32 key, u8 mask);
  /// The same for reads of parts of a dword, before a write of these bytes.
  u32 unorderedPart(const Wave &wave, const LdsFootprint &access, u32 dword, u8 mask) const;
  /// The last read of a wave that is ordered before a write of this one.
  u32 readLimitOf(const Wave &wave, const LdsFootprint &access, std::size_t other) const;
  const Inst *instOf(std::size_t wave, bool dma, u64 sequence) const;

  // A key is sequence << 5 | wave << 1 | dma; zero is "never".
  std::vector<u32> writes_;
  std::vector<u8> writtenBytes_; ///< mask of the last write, and what it was
  static constexpr u8 kAtomic = 16, kStored = 32, kCompares = 64;
  std::vector<u32> values_; ///< of the last plain store
  /// The waves that stored the same, with the key of the last. Few dwords, so the usual path does
  /// not look.
  struct Agreement {
    u32 key, waves;
  };
  std::unordered_map<u32, Agreement> agreements_;
  /// A write that a later one of another wave left standing in part.
  struct Partial {
    u32 key;
    u8 bytes; ///< still standing
  };
  std::unordered_map<u32, std::vector<Partial>> overwritten_;
  /// Reads of parts of a dword, by dword: key and bytes.
  std::unordered_map<u32, std::vector<Partial>> partReads_;
  std::vector<std::vector<u32>> reads_; ///< sequence, [wave][dword]
  /// The last instructions of each wave and counter, for messages.
  static constexpr std::size_t kHistory = 1024;
  std::vector<std::vector<const Inst *>> history_;
  u32 threshold_[32] = {};
};

} // namespace wavesmith::emulator
