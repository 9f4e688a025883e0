#pragma once
// How many workgroups of a launch read a memory line: what decides whether it comes from HBM or is
// found nearer. Known exactly when all were traced. Else estimated for each part of an allocation:
// of lines with m readers among N workgroups, 1 - (1 - m/N)^(n-1) of those that n traced ones
// touched were touched by two or more. Immutable; any thread.

#include <unordered_map>

#include "emulator/cycles/Trace.h"

namespace wavesmith::emulator::cycles {

class LineSharing {
public:
  explicit LineSharing(const TraceSampler &sampler);

  /// At least 1.
  double readers(u64 line) const {
    const auto found = readers_.find(line);
    return found == readers_.end() ? 1 : found->second;
  }
  bool isShared(u64 line) const { return readers(line) >= 2; }
  /// Does a workgroup's neighbour on its compute unit read the line too? Where a workgroup is
  /// replayed beside copies of itself, only if most do.
  bool isNeighbours(u64 line) const { return readers(line) >= neighbours_; }

private:
  std::unordered_map<u64, float> readers_; ///< of lines with more than one
  double neighbours_ = 2;
};

} // namespace wavesmith::emulator::cycles
