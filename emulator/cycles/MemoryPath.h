#pragma once
// Vector and scalar memory as one compute unit sees it: address unit, L1, its share of L2, MALL and
// HBM. Latencies by where a line is found, one bandwidth bucket per level. One simulation, one
// thread.

#include <span>
#include <vector>

#include "emulator/cycles/Chips.h"
#include "emulator/cycles/LineSharing.h"
#include "emulator/isa/Types.h"

namespace wavesmith::emulator::cycles {

/// Least-recently-used sets of line numbers.
class LineCache {
public:
  /// `hashed`: sets are mixed from the whole address, else they follow its low bits.
  LineCache(int lines, int ways, bool hashed = true);
  /// Was it there? It is afterwards.
  bool touch(u64 line);
  /// When the line that was touched last is there: one that is on its way is found, but not yet.
  double &arrival() { return arrivals_[last_]; }

private:
  int ways_;
  bool hashed_;
  u64 sets_, clock_ = 0, last_ = 0;
  std::vector<u64> tags_, used_;
  std::vector<double> arrivals_;
};

class MemoryPath {
public:
  /// Lines that other workgroups read too are found in MALL; HBM is paid for by all of them.
  MemoryPath(const Chip &chip, int activeCus, const LineSharing &sharing);

  /// When the last line of a load is there. `addressClk` is the instruction's time in the address
  /// unit.
  double load(double now, int addressClk, std::span<const u64> lines, u64 salt);
  /// `bytes`: of all lanes; a store moves what it writes, a load whole lines.
  double store(double now, int addressClk, std::span<const u64> lines, double bytes, u64 salt);
  /// In L2, whatever L1 holds; `serial` lanes take turns on one address.
  double atomic(double now, int addressClk, std::span<const u64> lines, int serial, u64 salt);
  double scalarLoad(double now, std::span<const u64> lines, u64 salt);

  double hbmBytes() const { return hbmBytes_; }
  double fillBusy() const { return fillBusy_; }
  double hbmBusy() const { return hbmBusy_; }

private:
  double enter(double now, int addressClk, std::size_t lines);
  u64 salted(u64 line, u64 salt) const {
    return sharing_.isNeighbours(line) ? line : line ^ (salt << 48);
  }

  const Architecture &a_;
  const LineSharing &sharing_;
  LineCache l1_, l2_, dirty_, scalar_; ///< dirty_: the lines of L2 that will be written back
  double hbmPerClk_, mallPerClk_, fillPerClk_, writePerClk_;
  double addressFree_ = 0, l1Free_ = 0, fillFree_ = 0, mallFree_ = 0, hbmFree_ = 0, writeFree_ = 0;
  double hbmBytes_ = 0, fillBusy_ = 0, hbmBusy_ = 0;
};

} // namespace wavesmith::emulator::cycles
