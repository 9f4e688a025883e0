// Lane functions of the rows in isa/rows/Wide.def, in row order.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {
namespace {

/// Four sums over the byte windows of a, each added to a word of c.
void maskedQuadSad(LaneIo &io) {
  for (int i = 0; i < 4; ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      u64 a = loadLane<u64>(io.source[0], lane);
      u32 sum = maskedSadBytes(static_cast<u32>(a >> (8 * i)), io.source[1][lane]);
      io.result[i * kLanes + lane] = sum + io.source[2][i * kLanes + lane];
    }
}

} // namespace

#define WIDE(name, opcode, targets, result, s0, s1, s2, ...) __VA_ARGS__,
extern const LaneFunction kWide[];
const LaneFunction kWide[] = {
#include "emulator/isa/rows/Wide.def"
};

} // namespace wavesmith::emulator::WAVESMITH_LANES
