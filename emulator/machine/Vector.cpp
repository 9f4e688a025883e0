// The driver of vector instructions: operands in, modifiers, the row's lane function, masked result
// out.

#include "emulator/machine/Machine.h"
#include "emulator/machine/VectorForms.h"

namespace wavesmith::emulator {
namespace {

const LaneFunction *tableOf(const LaneSet &lanes, Format format) {
  switch (format) {
  case Format::Vop1:
    return lanes.vop1;
  case Format::Vop2:
    return lanes.vop2;
  case Format::Vopc:
    return lanes.vopc;
  case Format::Vop3:
    return lanes.vop3;
  default:
    return lanes.vop3p;
  }
}

/// Does MODE flush denormals of this type? Bit 0: inputs, bit 1: outputs.
unsigned flushes(const Wave &wave, Type type) {
  if (type == Type::F32)
    return ~(wave.mode >> 4) & 3;
  if (type == Type::F16 || type == Type::F64)
    return ~(wave.mode >> 6) & 3;
  return 0;
}

void flush(const LaneSet &lanes, Type type, u32 *values) {
  if (type == Type::F32)
    lanes.flushF32(values);
  else if (type == Type::F16)
    lanes.flushF16(values);
  else
    lanes.flushF64(values);
}

} // namespace

LaneFunction laneFunctionFor(const LaneSet &lanes, const Row &row) {
  return tableOf(lanes, row.format)[row.laneIndex];
}

void runVector(Machine &machine, Wave &wave, const Inst &inst) {
  const Row &row = *inst.row;
  const Signature &signature = row.signature;
  const LaneSet &lanes = machine.lanes;
  alignas(64) u32 scratch[4][2 * kLanes];
  alignas(64) u32 result[2 * kLanes];
  LaneIo io;
  io.mode = machine.modeOf(wave);
  for (int i = 0; i < signature.sourceCount && i < inst.sourceCount; ++i)
    io.source[i] = machine.fetch(wave, inst.source[i], scratch[i]);
  if (row.use == Use::Bitop) {
    lanes.splat(scratch[3], static_cast<u32>(inst.immediate));
    io.source[3] = scratch[3];
  }
  u64 mask = wave.exec();
  if (inst.modified)
    prepareSources(machine, wave, inst, io, scratch, mask);
  const bool pairs = row.use == Use::Dot && row.opcode < 0x28;
  if (pairs && (inst.opSel || (inst.opSelHi & 3) != 3 || inst.neg || inst.negHi))
    prepareDot(inst, io, scratch);
  for (int i = 0; i < signature.sourceCount; ++i) {
    Type type = signature.sources[i];
    if (!(flushes(wave, type) & 1))
      continue;
    if (io.source[i] != scratch[i]) {
      lanes.copy(scratch[i], io.source[i]);
      if (type == Type::F64)
        lanes.copy(scratch[i] + kLanes, io.source[i] + kLanes);
      io.source[i] = scratch[i];
    }
    flush(lanes, type, scratch[i]);
  }
  bool hasVector = inst.destination.kind == OperandKind::Vector;
  io.old = hasVector ? wave.lanes(inst.destination.index) : result;
  io.result = result;
  if (signature.readsCarry)
    io.maskIn = machine.readScalar64(wave, inst.source[inst.sourceCount - 1]);

  callLanes(machine, wave, inst, io);

  if (hasVector) {
    if (flushes(wave, signature.result) & 2)
      flush(lanes, signature.result, result);
    if (inst.modified || row.use == Use::HalfResult || row.use == Use::ByteResult ||
        row.use == Use::ByteToHalf)
      finishResult(machine, wave, inst, io, result);
    if (row.use == Use::Dot && inst.clamp)
      finishDot(machine, inst, io, result);
    machine.writeVector(wave, inst.destination, result, inst.destination.words, mask);
  }
  if (signature.isCompare || signature.setsCarry) {
    u64 active = io.maskOut & wave.exec();
    wave.setPair(inst.scalarDestination.index, active);
    if (row.use == Use::WriteExec)
      wave.setPair(kExec, active);
  }
}

void runPacked16(Machine &machine, Wave &wave, const Inst &inst) {
  const Signature &signature = inst.row->signature;
  const LaneSet &lanes = machine.lanes;
  alignas(64) u32 scratch[3][2 * kLanes], parts[3][kLanes], halves[2][kLanes];
  const u32 *sources[3] = {};
  for (int i = 0; i < signature.sourceCount; ++i)
    sources[i] = machine.fetch(wave, inst.source[i], scratch[i]);
  bool isFloat = signature.result == Type::F16;
  for (int half = 0; half < 2; ++half) {
    LaneIo io;
    io.mode = machine.modeOf(wave);
    unsigned select = half ? inst.opSelHi : inst.opSel;
    unsigned negate = half ? inst.negHi : inst.neg;
    for (int i = 0; i < signature.sourceCount; ++i) {
      int shift = (select >> i) & 1 ? 16 : 0;
      // Inline float constants are 16 bits wide; the high half of one reads as zero.
      u32 flip = isFloat && ((negate >> i) & 1) ? 0x8000 : 0;
      for (int lane = 0; lane < kLanes; ++lane)
        parts[i][lane] = ((sources[i][lane] >> shift) & 0xffff) ^ flip;
      if (isFloat && (flushes(wave, Type::F16) & 1))
        lanes.flushF16(parts[i]);
      io.source[i] = parts[i];
    }
    io.result = halves[half];
    callLanes(machine, wave, inst, io);
    if (isFloat && (flushes(wave, Type::F16) & 2))
      lanes.flushF16(halves[half]);
    if (inst.clamp && isFloat)
      clampHalves(halves[half], io.mode.dx10Clamp);
    else if (inst.clamp && !saturate(inst, io, halves[half]))
      machine.fault(CheckKind::Registers, wave, inst, -1,
                    "clamp on this integer instruction is not implemented");
  }
  for (int lane = 0; lane < kLanes; ++lane)
    halves[0][lane] = (halves[0][lane] & 0xffff) | halves[1][lane] << 16;
  machine.writeVector(wave, inst.destination, halves[0], 1, wave.exec());
}

void runPacked32(Machine &machine, Wave &wave, const Inst &inst) {
  const Signature &signature = inst.row->signature;
  const LaneSet &lanes = machine.lanes;
  alignas(64) u32 scratch[3][2 * kLanes], changed[3][kLanes], result[2 * kLanes];
  const u32 *sources[3] = {};
  for (int i = 0; i < signature.sourceCount; ++i)
    sources[i] = machine.fetch(wave, inst.source[i], scratch[i]);
  unsigned flushing = flushes(wave, Type::F32);
  for (int half = 0; half < 2; ++half) {
    LaneIo io;
    io.mode = machine.modeOf(wave);
    unsigned select = half ? inst.opSelHi : inst.opSel;
    unsigned negate = half ? inst.negHi : inst.neg;
    for (int i = 0; i < signature.sourceCount; ++i) {
      io.source[i] = sources[i] + ((select >> i) & 1 ? kLanes : 0);
      if (!((negate >> i) & 1) && !(flushing & 1))
        continue;
      lanes.signs(changed[i], io.source[i], ~0u, (negate >> i) & 1 ? 0x80000000 : 0);
      if (flushing & 1)
        lanes.flushF32(changed[i]);
      io.source[i] = changed[i];
    }
    io.result = result + half * kLanes;
    callLanes(machine, wave, inst, io);
    if (flushing & 2)
      lanes.flushF32(io.result);
    if (inst.clamp)
      lanes.clampF32(io.result, io.mode.dx10Clamp);
  }
  machine.writeVector(wave, inst.destination, result, 2, wave.exec());
}

void runPackedMove(Machine &machine, Wave &wave, const Inst &inst) {
  // The low word comes from source 0, the high one from source 1; op_sel picks their words.
  alignas(64) u32 scratch[2][2 * kLanes], result[2 * kLanes];
  for (int i = 0; i < 2; ++i) {
    const u32 *source = machine.fetch(wave, inst.source[i], scratch[i]);
    machine.lanes.copy(result + i * kLanes, source + ((inst.opSel >> i) & 1 ? kLanes : 0));
  }
  machine.writeVector(wave, inst.destination, result, 2, wave.exec());
}

} // namespace wavesmith::emulator
