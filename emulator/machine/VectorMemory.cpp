// Issue of vector memory: addresses per lane, range checks of buffers, captured store data.

#include "emulator/machine/Machine.h"
#include "emulator/machine/TypedBuffer.h"

namespace wavesmith::emulator {
namespace {

struct Buffer {
  u64 base;
  u32 stride, records, indexStride;
  bool swizzle, addThread;
};

Buffer bufferOf(const Wave &wave, int reg, bool typed) {
  u32 w1 = wave.scalar[reg + 1], w3 = wave.scalar[reg + 3];
  bool addThread = (w3 >> 23) & 1;
  u32 stride = (w1 >> 16) & 0x3fff;
  // Without a format its field extends the stride of buffers that add the lane (table 44).
  if (addThread && !typed)
    stride |= ((w3 >> 15) & 15) << 14;
  return {wave.pair(reg) & 0xffffffffffff, stride,   wave.scalar[reg + 2], 8u << ((w3 >> 21) & 3),
          ((w1 >> 31) & 1) != 0,           addThread};
}

void bufferAddresses(Machine &machine, Wave &wave, const Inst &inst, PendingOp &op) {
  bool typed = inst.row->access.components != 0;
  Buffer buffer = bufferOf(wave, inst.source[1].index, typed);
  u32 soffset = machine.readScalar(wave, inst.source[3]);
  auto immediate = static_cast<u32>(inst.immediate);
  const u32 *first =
      inst.source[0].kind == OperandKind::Vector ? wave.lanes(inst.source[0].index) : nullptr;
  const u32 *indices = inst.idxen ? first : nullptr;
  const u32 *offsets = inst.offen ? (inst.idxen ? first + kLanes : first) : nullptr;
  unsigned bytes = inst.row->access.bytes, step = bytes < 4 ? bytes : 4;
  unsigned dwords = bytes < 4 ? 1 : bytes / 4;
  if (typed) { // in range as a whole or not at all
    op.typed = typedAccess(inst, wave.scalar[inst.source[1].index + 3]);
    step = dataFormat(op.typed.dfmt).bytes();
    dwords = 1;
  }
  u64 start = buffer.base + soffset;
  if (!inst.idxen && !buffer.swizzle && !buffer.addThread) {
    // Raw: the range check counts the scalar offset (the published formula leaves it out, but no
    // kernel with ragged tails works that way).
    u64 within = u64{soffset} + immediate;
    u64 masks[4] = {};
    for (int lane = 0; lane < kLanes; ++lane) {
      u64 offset = offsets ? offsets[lane] : 0;
      op.address[lane] = start + immediate + offset;
      for (unsigned c = 0; c < dwords; ++c)
        masks[c] |= u64{within + offset + 4 * c + step <= buffer.records} << lane;
    }
    for (unsigned c = 0; c < dwords; ++c)
      op.inRange[c] = masks[c];
    return;
  }
  for (unsigned c = 0; c < 4; ++c)
    op.inRange[c] = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    u64 index = (indices ? indices[lane] : 0) + u64(buffer.addThread ? lane : 0);
    u64 offset = u64{immediate} + (offsets ? offsets[lane] : 0);
    u64 linear = index * buffer.stride + offset;
    if (buffer.swizzle) {
      constexpr u64 kElement = 4;
      u64 group = buffer.indexStride;
      linear = ((index / group) * buffer.stride + (offset / kElement) * kElement) * group +
               (index % group) * kElement + offset % kElement;
    }
    op.address[lane] = start + linear;
    for (unsigned c = 0; c < dwords; ++c) {
      bool inside = buffer.stride && inst.idxen
                        ? index < buffer.records
                        : u64{soffset} + linear + 4 * c + step <= buffer.records;
      op.inRange[c] |= u64{inside} << lane;
    }
  }
}

void flatAddresses(Machine &machine, Wave &wave, const Inst &inst, PendingOp &op) {
  auto immediate = static_cast<u64>(i64{inst.immediate});
  for (u64 &mask : op.inRange)
    mask = ~u64{0};
  if (inst.row->format == Format::Scratch) {
    u64 base = immediate;
    if (inst.source[1].kind != OperandKind::None)
      base += machine.readScalar(wave, inst.source[1]);
    const u32 *offsets = inst.offen ? wave.lanes(inst.source[0].index) : nullptr;
    for (int lane = 0; lane < kLanes; ++lane)
      op.address[lane] =
          (u64{kPrivateAperture} << 32) | static_cast<u32>(base + (offsets ? offsets[lane] : 0));
    return;
  }
  const u32 *low = wave.lanes(inst.source[0].index);
  if (inst.source[1].kind != OperandKind::None) {
    machine.lanes.addresses(op.address, machine.readScalar64(wave, inst.source[1]) + immediate,
                            low);
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane)
    op.address[lane] = (low[lane] | u64{low[lane + kLanes]} << 32) + immediate;
}

/// Is it a vector of three elements in every lane, which compilers store as four with any fourth?
/// landStore leaves that undefined in memory, so a kernel that uses it is reported; a host that
/// reads it is not.
bool storesThree(const Inst &inst, const PendingOp &op) {
  const Access &access = inst.row->access;
  if (inst.row->use != Use::Store || access.components || access.high || access.bytes < 4)
    return false;
  const unsigned bytes = access.bytes;
  for (int lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; (op.lanes >> lane) & 1 && i < bytes; ++i)
      if (((op.valid[i / 4][lane] >> 8 * (i % 4)) & 0xff) != (4 * i < 3 * bytes ? 0xffu : 0u))
        return false;
  return bytes % 4 == 0 && bytes != 12;
}

/// Stores and atomics take their data at issue; undefined bytes are reported here, where the
/// instruction that loses them is known.
void captureData(Machine &machine, Wave &wave, const Inst &inst, PendingOp &op) {
  const Operand &data = inst.source[2];
  for (int word = 0; word < data.words && word < 4; ++word)
    machine.lanes.copy(op.data[word], wave.lanes(data.index + word));
  if (!machine.tracksValidity())
    return;
  const Access &access = inst.row->access;
  // Scratch and LDS remember what is undefined: only device memory needs to be written in full.
  u64 remembered = inst.row->format == Format::Scratch ? ~u64{0} : 0;
  for (int lane = 0; inst.row->format == Format::Flat && lane < kLanes; ++lane) {
    auto aperture = static_cast<u32>(op.address[lane] >> 32);
    remembered |= u64{aperture == kPrivateAperture || aperture == kSharedAperture} << lane;
  }
  bool anyInvalid = false;
  for (int word = 0; word < data.words && word < 4; ++word) {
    int reg = data.index + word;
    bool invalid = wave.vectorState[reg] & kInvalid;
    anyInvalid |= invalid;
    if (invalid)
      op.valid[word] = wave.vectorValid[reg];
    else
      op.valid[word].fill(~0u);
  }
  if (!anyInvalid || storesThree(inst, op))
    return;
  for (int word = 0; word < data.words && word < 4; ++word) {
    u32 stored = access.bytes < 4 ? (1u << 8 * access.bytes) - 1 : ~0u;
    stored = access.components ? typedStoreBits(inst, op.typed, word)
                               : (access.high ? stored << 16 : stored);
    u64 bad = undefinedLanes(op.valid[word], stored);
    bad &= op.lanes & op.inRange[access.components ? 0 : word] & ~remembered;
    if (bad)
      machine.fault(CheckKind::Uninitialised, wave, inst, std::countr_zero(bad),
                    fmt::format("stores {}{}, which was never fully written, to memory",
                                data.accumulator ? 'a' : 'v', data.code + word));
  }
}

void checkAddress(Machine &machine, Wave &wave, const Inst &inst, u64 lanes) {
  auto vector = [&](const Operand &operand) {
    if (operand.kind != OperandKind::Vector)
      return;
    for (int word = 0; word < operand.words; ++word) {
      int reg = operand.index + word;
      if (!(wave.vectorState[reg] & kInvalid))
        continue;
      u64 bad = undefinedLanes(wave.vectorValid[reg]) & lanes;
      if (bad)
        machine.fault(
            CheckKind::Uninitialised, wave, inst, std::countr_zero(bad),
            fmt::format("the address in v{} was never fully written", operand.code + word));
    }
  };
  vector(inst.source[0]);
  for (int i : {1, 3}) {
    const Operand &operand = inst.source[i];
    if (operand.kind != OperandKind::Scalar)
      continue;
    for (int word = 0; word < operand.words; ++word)
      if (wave.scalarState[operand.index + word] & kInvalid)
        machine.fault(
            CheckKind::Uninitialised, wave, inst, -1,
            fmt::format("the address in s{} was never fully written", operand.index + word));
  }
}

/// An LDS DMA writes its lanes' bytes from issue on, as far as races go.
void noteDmaIssue(Machine &machine, Wave &wave, const PendingOp &op) {
  if (!machine.checks(CheckKind::Races) && !machine.checks(CheckKind::Waits))
    return;
  unsigned bytes = op.inst->row->access.bytes < 4 ? 4 : op.inst->row->access.bytes;
  u32 stride = bytes > 4 ? 16 : 4, to[kLanes];
  LdsFootprint access{op.inst, 0, to, bytes, op.sequence, true};
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = op.ldsBase + static_cast<u32>(lane) * stride;
    bool inside = u64{to[lane]} + bytes <= machine.group.ldsBytes;
    access.lanes |= u64{inside && ((op.lanes >> lane) & 1)} << lane;
  }
  machine.group.shadow.write(machine, wave, access);
}

} // namespace

void vectorMemory(Machine &machine, Wave &wave, const Inst &inst) {
  // The counter has six bits; issue stalls until it fits.
  machine.waitVector(wave, 62);
  if (inst.row->format == Format::Flat)
    machine.waitLds(wave, 15);
  PendingOp &op = wave.vectorMemory.push();
  op.inst = &inst;
  op.sequence = ++wave.vectorSequence;
  op.lanes = wave.exec();
  op.turn = wave.turn;
  if (inst.row->format == Format::Mubuf || inst.row->format == Format::Mtbuf)
    bufferAddresses(machine, wave, inst, op);
  else
    flatAddresses(machine, wave, inst, op);
  if (machine.tracksValidity() && op.lanes)
    checkAddress(machine, wave, inst, op.lanes);
  if (inst.row->use == Use::Store || inst.row->use == Use::Atomic)
    captureData(machine, wave, inst, op);
  if (isLdsDma(inst)) {
    // M0 counts bytes; the instruction's offset moves both addresses.
    op.ldsBase = (wave.scalar[kM0] & 0x3fffc) + static_cast<u32>(inst.immediate);
    noteDmaIssue(machine, wave, op);
  }
  if (inst.row->use == Use::Load || inst.row->use == Use::Atomic)
    machine.markPending(wave, inst, kPendingVector);
  else
    machine.markPending(wave, inst, 0);
  if (inst.row->format == Format::Flat) {
    // Flat operations count on both counters; here they finish at once and stay marked.
    machine.landVector(wave, op);
    PendingOp &twin = wave.ldsQueue.push();
    twin.inst = &inst;
    twin.sequence = ++wave.ldsSequence;
    twin.landed = true;
    machine.markPending(wave, inst, kPendingLds);
  } else if (machine.vectorEarly()) {
    machine.landVector(wave, op);
  }
}

} // namespace wavesmith::emulator
