// Lane exchanges that run through the LDS crossbar: no memory, but counted like LDS.

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

/// Writes lanes at once (the exchange has no memory to wait for) and leaves the counter mark.
void finish(Machine &machine, Wave &wave, const Inst &inst, const u32 *result) {
  machine.waitLds(wave, 15);
  machine.writeVector(wave, inst.destination, result, 1, wave.exec());
  PendingOp &op = wave.ldsQueue.push();
  op.inst = &inst;
  op.sequence = ++wave.ldsSequence;
  op.landed = true;
  machine.markPending(wave, inst, kPendingLds);
}

} // namespace

void bpermuteLanes(Machine &machine, Wave &wave, const Inst &inst) {
  const u32 *address = wave.lanes(inst.source[0].index);
  const u32 *data = wave.lanes(inst.source[1].index);
  u64 exec = wave.exec();
  alignas(64) u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 from = (address[lane] + static_cast<u32>(inst.immediate)) / 4 % kLanes;
    result[lane] = (exec >> from) & 1 ? data[from] : 0;
  }
  finish(machine, wave, inst, result);
}

void permuteLanes(Machine &machine, Wave &wave, const Inst &inst) {
  const u32 *address = wave.lanes(inst.source[0].index);
  const u32 *data = wave.lanes(inst.source[1].index);
  u64 exec = wave.exec();
  alignas(64) u32 result[kLanes] = {};
  for (int lane = 0; lane < kLanes; ++lane)
    if ((exec >> lane) & 1)
      result[(address[lane] + static_cast<u32>(inst.immediate)) / 4 % kLanes] = data[lane];
  finish(machine, wave, inst, result);
}

void swizzleLanes(Machine &machine, Wave &wave, const Inst &inst) {
  const u32 *data = wave.lanes(inst.source[0].index);
  auto offset = static_cast<u32>(inst.immediate);
  u64 exec = wave.exec();
  alignas(64) u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    int from;
    if (offset >= 0xe000) { // FFT bit reversal inside 32 lanes
      u32 mask = offset & 31, reversed = 0;
      for (int bit = 0; bit < 5; ++bit)
        reversed |= ((lane >> bit) & 1) << (4 - bit);
      u32 zeros = 0;
      for (u32 m = mask; m; m >>= 1)
        zeros += m & 1;
      from = (lane & 32) | static_cast<int>(reversed >> zeros) | (lane & static_cast<int>(mask));
    } else if (offset >= 0xc000) { // rotate
      u32 mask = offset & 31, amount = (offset >> 5) & 31;
      bool left = !((offset >> 10) & 1);
      u32 in = lane & 31, rotated = left ? in + amount : in - amount;
      from = (lane & 32) | static_cast<int>((in & mask) | (rotated & ~mask & 31));
    } else if (offset & 0x8000) {
      from = (lane & ~3) | ((offset >> (2 * (lane & 3))) & 3);
    } else {
      u32 andMask = offset & 31, orMask = (offset >> 5) & 31, xorMask = (offset >> 10) & 31;
      from = (lane & 32) | static_cast<int>((((lane & 31) & andMask) | orMask) ^ xorMask);
    }
    result[lane] = (exec >> from) & 1 ? data[from] : 0;
  }
  finish(machine, wave, inst, result);
}

} // namespace wavesmith::emulator
