// LDS reads, writes and transposes, and what all LDS operations do at issue.

#include <algorithm>
#include <bit>

#include "emulator/machine/Atomics.h"
#include "emulator/machine/LdsAccess.h"

namespace wavesmith::emulator {
namespace {

void checkOperands(Machine &machine, Wave &wave, const Inst &inst, const PendingOp &op) {
  if (inst.row->access.addressFromM0() && (wave.scalarState[kM0] & kInvalid) &&
      (~wave.scalarValid[kM0] & 0xffff))
    machine.fault(CheckKind::Uninitialised, wave, inst, -1,
                  "M0, which is the LDS address, was never fully written");
  int reg = inst.source[0].index;
  if (inst.source[0].kind != OperandKind::Vector || !(wave.vectorState[reg] & kInvalid))
    return;
  u64 bad = undefinedLanes(wave.vectorValid[reg]) & op.lanes;
  if (bad)
    machine.fault(
        CheckKind::Uninitialised, wave, inst, std::countr_zero(bad),
        fmt::format("the LDS address in v{} was never fully written", inst.source[0].code));
}

/// One lane's bytes; out of range reads give zero and writes are dropped, as on the hardware.
bool inside(Machine &machine, Wave &wave, const Inst &inst, int lane, u64 address, unsigned size) {
  if (address + size <= machine.group.ldsBytes)
    return true;
  if (machine.checks(CheckKind::Memory))
    machine.fault(CheckKind::Memory, wave, inst, lane,
                  fmt::format("LDS access of {} bytes at {:#x}, beyond the workgroup's {} bytes",
                              size, address, machine.group.ldsBytes));
  return false;
}

/// HSA has the unaligned mode on: plain reads and writes may be anywhere. Those that transpose are
/// dword aligned, atomics are aligned to their size.
unsigned alignmentOf(const Row &row) {
  if (row.use == Use::Atomic)
    return row.access.bytes;
  return row.use == Use::Transpose ? 4 : 1;
}

void checkAlignment(Machine &machine, Wave &wave, const Inst &inst, int lane, u64 address) {
  const unsigned need = alignmentOf(*inst.row);
  if (address % need && machine.checks(CheckKind::Alignment))
    machine.fault(CheckKind::Alignment, wave, inst, lane,
                  fmt::format("LDS access of {} bytes at {:#x}, not a multiple of {}",
                              inst.row->access.bytes, address, need));
}

/// The common case: whole dwords, every lane on, all bytes valid.
template <int kWords> bool readFast(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  Workgroup &group = machine.group;
  constexpr u32 kBytes = 4 * kWords;
  if (op.lanes != ~u64{0} || group.ldsBytes < kBytes)
    return false;
  auto offset = static_cast<u32>(inst.immediate);
  u64 highest = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    highest = std::max(highest, op.address[lane]);
  if (highest + offset + kBytes > group.ldsBytes)
    return false;
  u32 *to = wave.lanes(inst.destination.index);
  const u8 *from = group.lds.data() + offset, *validity = group.ldsValid.data() + offset;
  bool tracks = machine.tracksValidity();
  if (tracks) {
    u32 all = ~0u;
    for (int lane = 0; lane < kLanes; ++lane) {
      u32 line[kWords];
      std::memcpy(line, validity + op.address[lane], kBytes);
      for (int word = 0; word < kWords; ++word)
        all &= line[word];
    }
    if (all != ~0u)
      return false;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 line[kWords];
    std::memcpy(line, from + op.address[lane], kBytes);
    for (int word = 0; word < kWords; ++word)
      to[word * kLanes + lane] = line[word];
  }
  if (machine.tracksValidity())
    for (int word = 0; word < kWords; ++word)
      machine.setAllValid(wave, inst.destination.index + word, ~u64{0});
  return true;
}

void landRead(Machine &machine, Wave &wave, PendingOp &op) {
  const Access &shape = op.inst->row->access;
  if (shape.count == 1 && ((shape.bytes == 16 && readFast<4>(machine, wave, op)) ||
                           (shape.bytes == 8 && readFast<2>(machine, wave, op)) ||
                           (shape.bytes == 4 && readFast<1>(machine, wave, op))))
    return;
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  Workgroup &group = machine.group;
  int words = access.bytes < 4 ? 1 : access.bytes / 4;
  bool tracks = machine.tracksValidity();
  alignas(64) u32 result[8][kLanes], valid[8][kLanes];
  u32 allValid = ~0u;
  for (int element = 0; element < access.count; ++element) {
    u32 offset = elementOffset(inst, element);
    for (int lane = 0; lane < kLanes; ++lane) {
      u32 line[4] = {}, lineValid[4] = {~0u, ~0u, ~0u, ~0u};
      u64 address = ldsAddress(op, lane, offset);
      if ((op.lanes >> lane) & 1 && address + access.bytes <= group.ldsBytes) {
        std::memcpy(line, &group.lds[address], access.bytes);
        if (tracks)
          std::memcpy(lineValid, &group.ldsValid[address], access.bytes);
      }
      if (access.bytes < 4) {
        int shift = 32 - 8 * access.bytes;
        for (u32 *word : {line, lineValid})
          if (access.isSigned)
            *word = static_cast<u32>(static_cast<i32>(*word << shift) >> shift);
      }
      for (int word = 0; word < words; ++word) {
        result[element * words + word][lane] = line[word];
        valid[element * words + word][lane] = lineValid[word];
        allValid &= lineValid[word];
      }
    }
  }
  for (int word = 0; word < words * access.count; ++word) {
    int reg = inst.destination.index + word;
    u32 *to = wave.lanes(reg);
    if (access.half)
      for (int lane = 0; lane < kLanes; ++lane)
        result[word][lane] = access.high ? (to[lane] & 0xffff) | result[word][lane] << 16
                                         : (to[lane] & 0xffff0000) | (result[word][lane] & 0xffff);
    machine.lanes.blend(to, result[word], op.lanes);
    if (!machine.tracksValidity())
      continue;
    bool wasInvalid = wave.vectorState[reg] & kInvalid;
    if (allValid == ~0u && !access.half) {
      if (wasInvalid)
        machine.setAllValid(wave, reg, op.lanes);
      continue;
    }
    LaneValidity bits;
    for (int lane = 0; lane < kLanes; ++lane) {
      u32 kept = wasInvalid ? wave.vectorValid[reg][lane] : ~0u, loaded = valid[word][lane];
      bits[lane] = !access.half  ? loaded
                   : access.high ? (kept & 0xffff) | loaded << 16
                                 : (kept & 0xffff0000) | (loaded & 0xffff);
    }
    machine.setValid(wave, reg, op.lanes, bits);
  }
}

void landWrite(Machine &machine, Wave &, PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  Workgroup &group = machine.group;
  int words = access.bytes < 4 ? 1 : access.bytes / 4;
  for (int element = 0; element < access.count; ++element) {
    u32 offset = elementOffset(inst, element);
    for (int lane = 0; lane < kLanes; ++lane) {
      u64 address = ldsAddress(op, lane, offset);
      if (!((op.lanes >> lane) & 1) || address + access.bytes > group.ldsBytes)
        continue;
      u32 line[4];
      for (int word = 0; word < words; ++word)
        line[word] = op.data[element * words + word][lane] >> (access.high ? 16 : 0);
      std::memcpy(&group.lds[address], line, access.bytes);
      if (!machine.tracksValidity())
        continue;
      for (int word = 0; word < words; ++word)
        line[word] = op.valid[element * words + word][lane] >> (access.high ? 16 : 0);
      std::memcpy(&group.ldsValid[address], line, access.bytes);
    }
  }
}

/// The 8 and 16 bit transposes of valid bytes: the sixteen strings in a row, every 16th element.
template <typename T> bool transposeFast(Machine &machine, Wave &wave, PendingOp &op) {
  Workgroup &group = machine.group;
  constexpr int kElements = 8 / sizeof(T);
  bool tracks = machine.tracksValidity();
  u32 *low = wave.lanes(op.inst->destination.index), *high = low + kLanes;
  if (op.lanes != ~u64{0})
    return false;
  alignas(64) u32 result[2][kLanes];
  for (int first = 0; first < kLanes; first += 16) {
    T strings[16 * kElements];
    for (int i = 0; i < 16; ++i) {
      u64 address = ldsAddress(op, first + i, u32(op.inst->immediate));
      u64 valid = ~u64{0};
      if (address + 8 > group.ldsBytes)
        return false;
      std::memcpy(strings + i * kElements, &group.lds[address], 8);
      if (tracks)
        std::memcpy(&valid, &group.ldsValid[address], 8);
      if (valid != ~u64{0})
        return false;
    }
    for (int t = 0; t < 16; ++t) {
      T picked[kElements];
      for (int j = 0; j < kElements; ++j)
        picked[j] = strings[j * 16 + t];
      u32 words[2];
      std::memcpy(words, picked, 8);
      result[0][first + t] = words[0];
      result[1][first + t] = words[1];
    }
  }
  machine.lanes.copy(low, result[0]);
  machine.lanes.copy(high, result[1]);
  if (machine.tracksValidity())
    for (int word = 0; word < 2; ++word)
      machine.setAllValid(wave, op.inst->destination.index + word, ~u64{0});
  return true;
}

/// gfx950's transposing reads: sixteen lanes fetch a string of bytes each; lane t of the group gets
/// the elements j*16 + t of the concatenation.
void landTranspose(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  if ((inst.row->opcode == 0xe2 && transposeFast<u8>(machine, wave, op)) ||
      (inst.row->opcode == 0xe3 && transposeFast<u16>(machine, wave, op)))
    return;
  Workgroup &group = machine.group;
  int bytes = inst.row->access.bytes;
  int bits = inst.row->opcode == 0xe0   ? 4
             : inst.row->opcode == 0xe1 ? 6
             : inst.row->opcode == 0xe2 ? 8
                                        : 16;
  alignas(64) u32 result[3][kLanes] = {}, valid[3][kLanes] = {};
  for (int first = 0; first < kLanes; first += 16) {
    u8 fetched[16][16] = {}, fetchedValid[16][16] = {};
    for (int i = 0; i < 16; ++i) {
      u64 address = ldsAddress(op, first + i, u32(inst.immediate));
      if (address + bytes > group.ldsBytes)
        continue;
      std::memcpy(fetched[i], &group.lds[address], bytes);
      std::memcpy(fetchedValid[i], &group.ldsValid[address], bytes);
    }
    int perLane = bytes * 8 / bits;
    for (int t = 0; t < 16; ++t)
      for (int j = 0; j < perLane; ++j) {
        int element = j * 16 + t, source = element / perLane, at = element % perLane * bits;
        u32 pair = fetched[source][at / 8] | u32{fetched[source][at / 8 + 1]} << 8;
        u32 value = (pair >> (at % 8)) & ((1u << bits) - 1);
        bool isValid = fetchedValid[source][at / 8] && fetchedValid[source][(at + bits - 1) / 8];
        int to = j * bits;
        result[to / 32][first + t] |= value << (to % 32);
        u32 validBits = isValid ? (1u << bits) - 1 : 0;
        valid[to / 32][first + t] |= validBits << (to % 32);
        if (to % 32 + bits > 32) {
          result[to / 32 + 1][first + t] |= value >> (32 - to % 32);
          valid[to / 32 + 1][first + t] |= validBits >> (32 - to % 32);
        }
      }
  }
  for (int word = 0; word < bytes / 4; ++word) {
    int reg = inst.destination.index + word;
    machine.lanes.blend(wave.lanes(reg), result[word], op.lanes);
    if (!machine.tracksValidity())
      continue;
    LaneValidity bits;
    std::copy_n(valid[word], kLanes, bits.begin());
    machine.setValid(wave, reg, op.lanes, bits);
  }
}

/// Range, alignment and race checks at issue.
void examine(Machine &machine, Wave &wave, const PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  bool races = machine.checks(CheckKind::Races) || machine.checks(CheckKind::Waits);
  bool atomic = inst.row->use == Use::Atomic;
  bool writes = inst.row->use == Use::Store || atomic;
  for (int element = 0; element < access.count; ++element) {
    u32 offset = elementOffset(inst, element), address[kLanes], low = 0, highest = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      address[lane] = static_cast<u32>(ldsAddress(op, lane, offset));
      low |= address[lane];
      highest = std::max(highest, address[lane]);
    }
    LdsFootprint footprint{&inst, op.lanes, address, access.bytes, op.sequence, false, atomic};
    footprint.compares =
        atomic && static_cast<AtomicKind>(access.atomic) == AtomicKind::CompareSwap;
    if (inst.row->use == Use::Store) {
      footprint.data = op.data + element * (access.bytes < 4 ? 1 : access.bytes / 4);
      footprint.high = access.high;
    }
    // Lanes that are off may hold anything; look closer only when some lane is suspicious.
    if (low % alignmentOf(*inst.row) || u64{highest} + access.bytes > machine.group.ldsBytes) {
      footprint.lanes = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        if (!((op.lanes >> lane) & 1))
          continue;
        u64 at = address[lane];
        checkAlignment(machine, wave, inst, lane, at);
        footprint.lanes |= u64{inside(machine, wave, inst, lane, at, access.bytes)} << lane;
      }
    }
    if (!races || !footprint.lanes)
      continue;
    if (writes)
      machine.group.shadow.write(machine, wave, footprint);
    else
      machine.group.shadow.read(machine, wave, footprint);
  }
}

} // namespace

void Machine::landLds(Wave &wave, PendingOp &op) {
  if (op.landed)
    return;
  op.landed = true;
  if (!op.lanes)
    return;
  switch (op.inst->row->use) {
  case Use::Load:
    return landRead(*this, wave, op);
  case Use::Store:
    return landWrite(*this, wave, op);
  case Use::Atomic:
    return landLdsAtomic(*this, wave, op);
  case Use::Transpose:
    return landTranspose(*this, wave, op);
  default:
    return;
  }
}

void ldsAccess(Machine &machine, Wave &wave, const Inst &inst) {
  machine.waitLds(wave, 15);
  PendingOp &op = wave.ldsQueue.push();
  op.inst = &inst;
  op.sequence = ++wave.ldsSequence;
  op.lanes = wave.exec();
  if (inst.source[0].kind == OperandKind::Vector) {
    const u32 *addresses = wave.lanes(inst.source[0].index);
    for (int lane = 0; lane < kLanes; ++lane)
      op.address[lane] = addresses[lane];
  } else { // M0, and for some the lane
    bool byLane = inst.row->access.laneAddress;
    u32 base = wave.scalar[kM0] & 0xffff;
    for (u32 lane = 0; lane < kLanes; ++lane)
      op.address[lane] = base + (byLane ? 4 * lane : 0);
  }
  int word = 0;
  for (int source = 1; source < inst.sourceCount; ++source)
    for (int i = 0; i < inst.source[source].words; ++i, ++word) {
      int reg = inst.source[source].index + i;
      machine.lanes.copy(op.data[word], wave.lanes(reg));
      if (!machine.tracksValidity())
        continue;
      if (wave.vectorState[reg] & kInvalid)
        op.valid[word] = wave.vectorValid[reg];
      else
        op.valid[word].fill(~0u);
    }
  if (machine.tracksValidity())
    checkOperands(machine, wave, inst, op);
  if (machine.checksLds())
    examine(machine, wave, op);
  if (inst.row->use == Use::Transpose && op.lanes != ~u64{0})
    machine.fault(CheckKind::Registers, wave, inst, -1,
                  "transposing LDS reads need every lane active");
  machine.markPending(wave, inst, kPendingLds);
  if (machine.ldsEarly())
    machine.landLds(wave, op);
}

} // namespace wavesmith::emulator
