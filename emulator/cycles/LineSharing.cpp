#include "emulator/cycles/LineSharing.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace wavesmith::emulator::cycles {
namespace {

/// Bytes of an allocation that are looked at together: enough for a good estimate, few enough that
/// tensors in one allocation stay apart.
constexpr u64 kPartBytes = u64{16} << 20;

struct Part {
  double lines = 0, shared = 0; ///< that traced workgroups touched, and of these more than one
};

} // namespace

LineSharing::LineSharing(const TraceSampler &sampler) {
  std::unordered_map<u64, float> touched;
  const auto lineBytes = static_cast<u64>(sampler.architecture().lineBytes);
  for (const auto &[index, trace] : sampler.traces()) {
    std::unordered_set<u64> own;
    for (const WaveTrace &wave : trace->waves) {
      own.insert(wave.lines.begin(), wave.lines.end());
      for (u64 line : wave.scalarLines)
        own.insert(line * kScalarLineBytes / lineBytes);
    }
    for (u64 line : own)
      ++touched[line];
  }
  const auto groups = static_cast<double>(sampler.sizes().size());
  const auto traced = static_cast<double>(sampler.traces().size());
  if (!sampler.tracesAll())
    neighbours_ = std::max(2.0, groups / 2);
  std::unordered_map<u64, Part> parts;
  // Parts are fewer than bytes, so an allocation's do not reach the next one's base.
  const auto partOf = [&](u64 line) {
    const u64 address = line * lineBytes;
    const u64 base = sampler.allocationBase(address);
    return base + (address - base) / kPartBytes;
  };
  const bool estimates = traced > 1 && traced < groups;
  // What most of them touched is known from that alone and says nothing of the lines beside it.
  const auto isCommon = [&](float count) { return 2 * count > traced; };
  if (estimates)
    for (const auto &[line, count] : touched) {
      if (isCommon(count))
        continue;
      Part &part = parts[partOf(line)];
      ++part.lines;
      part.shared += count > 1;
    }
  for (const auto &[line, count] : touched) {
    double readers = count;
    if (estimates && isCommon(count)) {
      readers = groups * count / traced;
    } else if (estimates) {
      const Part &part = parts[partOf(line)];
      const double alone = 1 - part.shared / part.lines;
      readers = std::max(readers, groups * (1 - std::pow(alone, 1 / (traced - 1))));
    }
    if (readers > 1)
      readers_.emplace(line, static_cast<float>(readers));
  }
}

} // namespace wavesmith::emulator::cycles
