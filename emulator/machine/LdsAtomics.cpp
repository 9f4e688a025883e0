// Landing of LDS atomics, exchanges and counters.

#include <algorithm>
#include <bit>

#include "emulator/machine/Atomics.h"
#include "emulator/machine/LdsAccess.h"

namespace wavesmith::emulator {
namespace {

/// Results of all lanes with their defined bits; up to two elements of two dwords.
struct Results {
  alignas(64) u32 words[4][kLanes] = {};
  alignas(64) u32 valid[4][kLanes];

  Results() { std::memset(valid, 0xff, sizeof(valid)); }
};

void writeResults(Machine &machine, Wave &wave, const PendingOp &op, const Results &results) {
  const Operand &to = op.inst->destination;
  for (int word = 0; word < to.words; ++word) {
    machine.lanes.blend(wave.lanes(to.index + word), results.words[word], op.lanes);
    if (!machine.tracksValidity())
      continue;
    LaneValidity bits;
    std::copy_n(results.valid[word], kLanes, bits.begin());
    machine.setValid(wave, to.index + word, op.lanes, bits);
  }
}

/// One or two elements change places with registers, and so does what is known of their bytes.
void landSwap(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  Workgroup &group = machine.group;
  int words = access.bytes / 4;
  bool tracks = machine.tracksValidity();
  Results before;
  for (u64 rest = op.lanes; rest; rest &= rest - 1) {
    int lane = std::countr_zero(rest);
    u64 address[2] = {};
    bool inside[2] = {};
    // Both elements are read before either is written.
    for (int element = 0; element < access.count; ++element) {
      address[element] = ldsAddress(op, lane, elementOffset(inst, element));
      inside[element] = address[element] + access.bytes <= group.ldsBytes;
      for (int word = 0; inside[element] && word < words; ++word) {
        int at = element * words + word;
        std::memcpy(&before.words[at][lane], &group.lds[address[element] + 4 * word], 4);
        if (tracks)
          std::memcpy(&before.valid[at][lane], &group.ldsValid[address[element] + 4 * word], 4);
      }
    }
    for (int element = 0; element < access.count; ++element)
      for (int word = 0; inside[element] && word < words; ++word) {
        int at = element * words + word;
        u64 to = address[element] + 4 * word;
        std::memcpy(&group.lds[to], &op.data[at][lane], 4);
        if (tracks)
          std::memcpy(&group.ldsValid[to], &op.valid[at][lane], 4);
      }
  }
  if (access.returns)
    writeResults(machine, wave, op, before);
}

/// One dword counts the active lanes; all of them get what it was.
void landCounter(Machine &machine, Wave &wave, PendingOp &op) {
  Workgroup &group = machine.group;
  const Access &access = op.inst->row->access;
  u64 address = ldsAddress(op, 0, elementOffset(*op.inst, 0));
  Results before;
  if (address + 4 <= group.ldsBytes) {
    u32 old, valid = ~0u;
    std::memcpy(&old, &group.lds[address], 4);
    if (machine.tracksValidity())
      std::memcpy(&valid, &group.ldsValid[address], 4);
    auto next = static_cast<u32>(applyAtomic(static_cast<AtomicKind>(access.atomic), old,
                                             static_cast<u64>(std::popcount(op.lanes)), 0, 4));
    std::memcpy(&group.lds[address], &next, 4);
    machine.lanes.splat(before.words[0], old);
    machine.lanes.splat(before.valid[0], valid);
  }
  writeResults(machine, wave, op, before);
}

} // namespace

void landLdsAtomic(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  auto kind = static_cast<AtomicKind>(access.atomic);
  if (access.counter)
    return landCounter(machine, wave, op);
  if (kind == AtomicKind::Swap)
    return landSwap(machine, wave, op);
  Workgroup &group = machine.group;
  int words = access.bytes / 4;
  Flush flush = ldsFlush(kind, access.bytes, wave.mode);
  Results before;
  for (int lane = 0; lane < kLanes; ++lane) {
    u64 address = ldsAddress(op, lane, elementOffset(inst, 0));
    if (!((op.lanes >> lane) & 1) || address + access.bytes > group.ldsBytes)
      continue;
    u64 old = 0, data = op.data[0][lane], second = op.data[words][lane];
    if (words == 2) {
      data |= u64{op.data[1][lane]} << 32;
      second |= u64{op.data[3][lane]} << 32;
    }
    std::memcpy(&old, &group.lds[address], access.bytes);
    // With two data operands the first is what to compare with.
    u64 next = access.second ? applyAtomic(kind, old, second, data, access.bytes, flush)
                             : applyAtomic(kind, old, data, 0, access.bytes, flush);
    std::memcpy(&group.lds[address], &next, access.bytes);
    before.words[0][lane] = static_cast<u32>(old);
    before.words[1][lane] = static_cast<u32>(old >> 32);
  }
  if (access.returns)
    writeResults(machine, wave, op, before);
}

} // namespace wavesmith::emulator
