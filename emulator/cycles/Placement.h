#pragma once
// The workgroups of a grid on XCDs and compute units: who runs where, beside how many, until when.
// Pure functions; any thread.

#include <cstdint>
#include <vector>

#include "emulator/cycles/Chips.h"

namespace wavesmith::emulator::cycles {

/// A workgroup's place and time.
struct Placed {
  std::uint64_t group = 0;
  int xcd = 0, cu = 0, place = 0; ///< place: which of the workgroups that fit on a compute unit
  double from = 0, until = 0;
};

struct Placement {
  double makespan = 0;
  double used = 0; ///< clocks of compute units with a workgroup on them
  std::vector<Placed> groups;
};

/// How long workgroups take.
struct Pace {
  std::vector<double> clocks; ///< of each, first on its compute unit, a full set of neighbours
  int residents = 1;          ///< such a set
  double alone = 1;           ///< the part of `clocks` that one without neighbours takes
  double saving = 0; ///< clocks that one saves where another has run: what both read is cached
};

/// Workgroup i goes to XCD i mod n and there to the compute unit with the most room.
Placement place(const Pace &pace, const Chip &chip);

} // namespace wavesmith::emulator::cycles
