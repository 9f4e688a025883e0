// Landing of vector memory operations: the moment when a load reads memory and writes its register,
// and when a store becomes visible.

#include "emulator/machine/Atomics.h"
#include "emulator/machine/TypedBuffer.h"

namespace wavesmith::emulator {
namespace {

/// Memory bytes of a lane and, when validity is tracked, 0xff for each valid one.
struct LaneBytes {
  u32 words[4] = {};
  u32 valid[4] = {~0u, ~0u, ~0u, ~0u};
};

u32 spreadBits(u32 bits) {
  u32 result = 0;
  for (int byte = 0; byte < 4; ++byte)
    result |= (bits >> byte) & 1 ? 0xffu << (8 * byte) : 0;
  return result;
}

void readLane(Machine &machine, Wave &wave, const PendingOp &op, int lane, unsigned bytes,
              LaneBytes &out) {
  unsigned dwords = bytes < 4 ? 1 : bytes / 4;
  unsigned inside = 0;
  for (unsigned c = 0; c < dwords; ++c)
    inside += (op.inRange[c] >> lane) & 1;
  if (!inside)
    return;
  // Range checks clip from the top, so the dwords inside come first.
  unsigned size = inside == dwords ? bytes : 4 * inside;
  Reach at = reach(machine, wave, *op.inst, lane, op.address[lane], size, "load");
  if (!at.bytes)
    return;
  if (machine.log() && at.allocation)
    machine.noteLoads(wave, op, u64{1} << lane, size);
  std::memcpy(out.words, at.bytes, size);
  if (!machine.tracksValidity())
    return;
  if (at.valid) {
    std::memcpy(out.valid, at.valid, size);
  } else if (!at.allocation->fullyWritten()) {
    u32 bits = at.allocation->written(op.address[lane], size);
    for (unsigned c = 0; c < (size + 3) / 4; ++c)
      out.valid[c] = size < 4 ? spreadBits(bits | ~((1u << size) - 1)) : spreadBits(bits >> 4 * c);
  }
}

void extend(const Access &access, u32 &word, u32 &valid) {
  if (access.bytes >= 4)
    return;
  int shift = 32 - 8 * access.bytes;
  word = access.isSigned ? static_cast<u32>(static_cast<i32>(word << shift) >> shift)
                         : word << shift >> shift;
  valid = access.isSigned ? static_cast<u32>(static_cast<i32>(valid << shift) >> shift)
                          : valid | ~0u << (8 * access.bytes);
}

/// The common case: whole dwords of one fully written allocation.
template <int kWords> bool loadFast(Machine &machine, Wave &wave, PendingOp &op) {
  constexpr unsigned kBytes = 4 * kWords;
  Allocation *allocation = wave.lastAllocation;
  if (!allocation || !allocation->fullyWritten())
    return false;
  u64 inside = op.inRange[0];
  for (int c = 1; c < kWords; ++c)
    if (op.inRange[c] != inside)
      return false;
  inside &= op.lanes;
  for (u64 rest = inside; rest; rest &= rest - 1)
    if (!allocation->contains(op.address[std::countr_zero(rest)], kBytes))
      return false;
  if (machine.log())
    machine.noteLoads(wave, op, inside, kBytes);
  alignas(64) u32 result[kWords][kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 line[kWords] = {};
    if ((inside >> lane) & 1)
      std::memcpy(line, allocation->at(op.address[lane]), kBytes);
    for (int c = 0; c < kWords; ++c)
      result[c][lane] = line[c];
  }
  if (isLdsDma(*op.inst)) {
    Workgroup &group = machine.group;
    constexpr u32 kStride = kWords == 1 ? 4 : 16;
    for (int lane = 0; lane < kLanes; ++lane) {
      u64 to = u64{op.ldsBase} + u64(lane) * kStride;
      if (!((op.lanes >> lane) & 1) || to + kBytes > group.ldsBytes)
        continue;
      for (int c = 0; c < kWords; ++c)
        std::memcpy(&group.lds[to + 4 * c], &result[c][lane], 4);
      if (machine.tracksValidity())
        std::memset(&group.ldsValid[to], 0xff, kBytes);
    }
    return true;
  }
  for (int c = 0; c < kWords; ++c) {
    int reg = op.inst->destination.index + c;
    machine.lanes.blend(wave.lanes(reg), result[c], op.lanes);
    if (machine.tracksValidity())
      machine.setAllValid(wave, reg, op.lanes);
  }
  return true;
}
bool loadFast(Machine &machine, Wave &wave, PendingOp &op) {
  switch (op.inst->row->access.bytes) {
  case 4:
    return loadFast<1>(machine, wave, op);
  case 8:
    return loadFast<2>(machine, wave, op);
  case 16:
    return loadFast<4>(machine, wave, op);
  default:
    return false;
  }
}

void land(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  if (loadFast(machine, wave, op))
    return;
  int words = access.bytes < 4 ? 1 : access.bytes / 4;
  alignas(64) u32 result[4][kLanes] = {}, valid[4][kLanes] = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!((op.lanes >> lane) & 1))
      continue;
    LaneBytes bytes;
    readLane(machine, wave, op, lane, access.bytes, bytes);
    extend(access, bytes.words[0], bytes.valid[0]);
    for (int c = 0; c < words; ++c) {
      result[c][lane] = bytes.words[c];
      valid[c][lane] = bytes.valid[c];
    }
  }
  if (isLdsDma(inst)) {
    Workgroup &group = machine.group;
    u32 stride = words > 1 ? 16 : 4;
    for (int lane = 0; lane < kLanes; ++lane) {
      u64 to = u64{op.ldsBase} + u64(lane) * stride;
      if (!((op.lanes >> lane) & 1) || to + 4 * words > group.ldsBytes)
        continue;
      for (int c = 0; c < words; ++c) {
        std::memcpy(&group.lds[to + 4 * c], &result[c][lane], 4);
        if (machine.tracksValidity())
          std::memcpy(&group.ldsValid[to + 4 * c], &valid[c][lane], 4);
      }
    }
    return;
  }
  for (int c = 0; c < words; ++c) {
    int reg = inst.destination.index + c;
    const u32 *old = wave.lanes(reg);
    if (access.half)
      for (int lane = 0; lane < kLanes; ++lane)
        result[c][lane] = access.high ? (old[lane] & 0xffff) | result[c][lane] << 16
                                      : (old[lane] & 0xffff0000) | (result[c][lane] & 0xffff);
    machine.lanes.blend(wave.lanes(reg), result[c], op.lanes);
    if (!machine.tracksValidity())
      continue;
    bool wasInvalid = wave.vectorState[reg] & kInvalid;
    LaneValidity bits;
    for (int lane = 0; lane < kLanes; ++lane) {
      u32 kept = wasInvalid ? wave.vectorValid[reg][lane] : ~0u, loaded = valid[c][lane];
      bits[lane] = !access.half  ? loaded
                   : access.high ? (kept & 0xffff) | loaded << 16
                                 : (kept & 0xffff0000) | (loaded & 0xffff);
    }
    machine.setValid(wave, reg, op.lanes, bits);
  }
}

void landStore(Machine &machine, Wave &wave, PendingOp &op) {
  const Access &access = op.inst->row->access;
  unsigned dwords = access.bytes < 4 ? 1 : access.bytes / 4;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!((op.lanes >> lane) & 1))
      continue;
    unsigned inside = 0;
    for (unsigned c = 0; c < dwords; ++c)
      inside += (op.inRange[c] >> lane) & 1;
    if (!inside)
      continue;
    unsigned size = inside == dwords ? access.bytes : 4 * inside;
    Reach at = reach(machine, wave, *op.inst, lane, op.address[lane], size, "store");
    if (!at.bytes)
      continue;
    u32 line[4];
    for (unsigned c = 0; c < dwords; ++c)
      line[c] = access.high ? op.data[c][lane] >> 16 : op.data[c][lane];
    std::memcpy(at.bytes, line, size);
    if (machine.log() && at.allocation)
      machine.noteStore(wave, op, lane, size, reinterpret_cast<const std::byte *>(line));
    if (at.allocation) {
      // The fourth of three elements stays undefined (storesThree in VectorMemory.cpp).
      const unsigned quarter = access.bytes / 4, last = 32 - 8 * std::min(quarter, 4u);
      const bool three = machine.tracksValidity() && !access.components && quarter &&
                         size == access.bytes && !(op.valid[dwords - 1][lane] >> last);
      at.allocation->markWritten(op.address[lane], three ? size - quarter : size);
      if (three)
        at.allocation->markUnwritten(op.address[lane] + size - quarter, quarter);
    } else if (machine.tracksValidity()) {
      for (unsigned c = 0; c < dwords; ++c)
        line[c] = op.valid[c][lane] >> (access.high ? 16 : 0);
      std::memcpy(at.valid, line, size);
    }
  }
}

void landAtomic(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  auto kind = static_cast<AtomicKind>(access.atomic);
  int words = access.bytes / 4;
  alignas(64) u32 before[2][kLanes] = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!((op.lanes & op.inRange[words - 1]) >> lane & 1))
      continue;
    u64 address = op.address[lane];
    if (address % access.bytes) {
      machine.fault(
          CheckKind::Alignment, wave, inst, lane,
          fmt::format("atomic at {:#x}, which is not a multiple of {}", address, access.bytes));
      continue;
    }
    Reach at = reach(machine, wave, inst, lane, address, access.bytes, "atomic");
    if (!at.bytes)
      continue;
    if (machine.log() && at.allocation)
      machine.noteAtomic(wave, op, lane);
    u64 data = op.data[0][lane], compare = op.data[words == 1 ? 1 : 2][lane], old;
    Flush flush;
    if (inst.row->format == Format::Flat && address >> 32 == kSharedAperture)
      flush = ldsFlush(kind, access.bytes, wave.mode);
    if (words == 2) {
      data |= u64{op.data[1][lane]} << 32;
      compare |= u64{op.data[3][lane]} << 32;
      old = exchange<u64>(at.bytes, kind, data, compare, flush);
    } else {
      old = exchange<u32>(at.bytes, kind, static_cast<u32>(data), static_cast<u32>(compare), flush);
    }
    before[0][lane] = static_cast<u32>(old);
    before[1][lane] = static_cast<u32>(old >> 32);
    if (at.allocation)
      at.allocation->markWritten(address, access.bytes);
  }
  if (inst.destination.kind != OperandKind::Vector)
    return;
  for (int word = 0; word < words; ++word) {
    machine.lanes.blend(wave.lanes(inst.destination.index + word), before[word], op.lanes);
    machine.setAllValid(wave, inst.destination.index + word, op.lanes);
  }
}

} // namespace

Reach reach(Machine &machine, Wave &wave, const Inst &inst, int lane, u64 address, unsigned size,
            const char *what) {
  Allocation *allocation = wave.lastAllocation;
  if (allocation && allocation->contains(address, size))
    return {allocation->at(address), allocation, nullptr};
  if (inst.row->format == Format::Scratch || inst.row->format == Format::Flat) {
    auto high = static_cast<u32>(address >> 32);
    auto low = static_cast<u32>(address);
    if (high == kPrivateAperture) {
      u32 perLane = machine.launch.scratchBytes;
      if (u64{low} + size <= perLane)
        return {&wave.scratch[std::size_t(lane) * perLane + low], nullptr,
                &wave.scratchValid[std::size_t(lane) * perLane + low]};
      machine.fault(CheckKind::Memory, wave, inst, lane,
                    fmt::format("{} of {} bytes at scratch offset {:#x}, beyond the {} bytes "
                                "that the kernel declares",
                                what, size, low, perLane));
      return {};
    }
    if (high == kSharedAperture) {
      Workgroup &group = machine.group;
      if (u64{low} + size <= group.ldsBytes)
        return {reinterpret_cast<std::byte *>(&group.lds[low]), nullptr, &group.ldsValid[low]};
    }
  }
  allocation = machine.launch.memory->find(address);
  if (allocation && allocation->contains(address, size)) {
    wave.lastAllocation = allocation;
    return {allocation->at(address), allocation, nullptr};
  }
  if (machine.checks(CheckKind::Memory) || !allocation)
    machine.fault(CheckKind::Memory, wave, inst, lane,
                  allocation
                      ? fmt::format("{} of {} bytes at {:#x} leaves allocation {:#x}+{}", what,
                                    size, address, allocation->base(), allocation->size())
                      : fmt::format("{} of {} bytes at {:#x}, {}", what, size, address,
                                    machine.launch.memory->describe(address)));
  return {};
}

void Machine::landVector(Wave &wave, PendingOp &op) {
  if (op.landed)
    return;
  op.landed = true;
  if (!op.lanes)
    return;
  if (op.inst->row->access.components)
    return op.inst->row->use == Use::Store ? landTypedStore(*this, wave, op)
                                           : landTypedLoad(*this, wave, op);
  switch (op.inst->row->use) {
  case Use::Store:
    return landStore(*this, wave, op);
  case Use::Atomic:
    return landAtomic(*this, wave, op);
  default:
    return land(*this, wave, op);
  }
}

} // namespace wavesmith::emulator
