// Vector instructions that cross lanes or files or take many registers: readlane, swaps, AGPR
// moves, matrix products, mixed-precision fma, wide operands.

#include <algorithm>
#include <bit>

#include "emulator/isa/Table.h"
#include "emulator/machine/Machine.h"
#include "emulator/machine/VectorForms.h"

namespace wavesmith::emulator {

void readFirstLane(Machine &machine, Wave &wave, const Inst &inst) {
  u64 exec = wave.exec();
  int lane = exec ? std::countr_zero(exec) : 0;
  alignas(64) u32 scratch[2 * kLanes];
  wave.scalar[inst.destination.index] = machine.fetch(wave, inst.source[0], scratch)[lane];
}

void readLane(Machine &machine, Wave &wave, const Inst &inst) {
  alignas(64) u32 scratch[2 * kLanes];
  u32 lane = machine.readScalar(wave, inst.source[1]) & 63;
  wave.scalar[inst.destination.index] = machine.fetch(wave, inst.source[0], scratch)[lane];
}

void writeLane(Machine &machine, Wave &wave, const Inst &inst) {
  u32 lane = machine.readScalar(wave, inst.source[1]) & 63;
  wave.lanes(inst.destination.index)[lane] = machine.readScalar(wave, inst.source[0]);
}

void swapRegisters(Machine &, Wave &wave, const Inst &inst) {
  u32 *a = wave.lanes(inst.destination.index), *b = wave.lanes(inst.source[0].index);
  u64 exec = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane)
    if ((exec >> lane) & 1)
      std::swap(a[lane], b[lane]);
}

void moveRegister(Machine &machine, Wave &wave, const Inst &inst) {
  alignas(64) u32 scratch[2 * kLanes];
  const u32 *from = machine.fetch(wave, inst.source[0], scratch);
  machine.writeVector(wave, inst.destination, from, 1, wave.exec());
}

void permlaneSwap(Machine &, Wave &wave, const Inst &inst) {
  u32 *d = wave.lanes(inst.destination.index), *s = wave.lanes(inst.source[0].index);
  int width = inst.row->opcode == 0x59 ? 16 : 32;
  // Odd rows of the destination change places with even rows of the source.
  for (int lane = 0; lane < kLanes; ++lane)
    if ((lane / width) % 2)
      std::swap(d[lane], s[lane - width]);
}

namespace {
/// The published model covers these; float32 and float64 are fma chains in it.
bool hasGroupedSums(MatrixType type) {
  return type == MatrixType::F16 || type == MatrixType::Bf16 || type == MatrixType::Fp8 ||
         type == MatrixType::Bf8 || type == MatrixType::Xf32;
}
int itemBits(MatrixType type) {
  return type == MatrixType::F16 || type == MatrixType::Bf16 ? 16 : 8;
}
} // namespace

void runMatrix(Machine &machine, Wave &wave, const Inst &inst) {
  const MatrixRow &row = matrixRow(*inst.row);
  MatrixIo io;
  io.shape = row.shape;
  io.ocp = machine.gfx950();
  io.grouped = machine.launch.options->matrixSums == MatrixSums::Cdna3 &&
               inst.row->use == Use::Matrix && (inst.row->targets & kGfx942) &&
               hasGroupedSums(row.shape.a);
  bool mixed = inst.row->opcode == 0x2d || inst.row->opcode == 0x2e;
  if (mixed) {
    if (inst.cbsz > 4 || inst.blgp > 4)
      return machine.fatal(CheckKind::Memory, wave, inst, -1,
                           fmt::format("format {} of a matrix operand is none of FP8, BF8, FP6, "
                                       "BF6 and FP4 (0 to 4)",
                                       std::max(inst.cbsz, inst.blgp)));
    static constexpr MatrixType kFormats[] = {MatrixType::Fp8, MatrixType::Bf8, MatrixType::Fp6,
                                              MatrixType::Bf6, MatrixType::Fp4};
    io.shape.a = kFormats[inst.cbsz];
    io.shape.b = kFormats[inst.blgp];
    io.splitA = inst.cbsz < 2;
    io.splitB = inst.blgp < 2;
    io.broadcastSize = io.broadcastId = io.permuteB = 0;
  } else if (inst.row->use == Use::SparseMatrix) {
    io.broadcastSize = io.broadcastId = io.permuteB = 0;
    io.sparseIndex = wave.lanes(inst.source[2].index);
    // The index register holds several sets when the items need fewer than 32 bits.
    int bits = inst.source[0].words * (32 / itemBits(io.shape.a)) * 2;
    io.indexShift = static_cast<u8>(inst.cbsz ? 0 : bits * inst.abid % 32);
    io.splitB = itemBits(io.shape.b) == 8 && inst.source[1].words == 8;
  } else {
    io.broadcastSize = inst.cbsz;
    io.broadcastId = inst.abid;
    io.permuteB = inst.blgp;
  }
  alignas(64) u32 scratch[32 * kLanes], scales[2][kLanes], spread[2][2 * kLanes];
  io.a = wave.lanes(inst.source[0].index);
  io.b = wave.lanes(inst.source[1].index);
  io.d = wave.lanes(inst.destination.index);
  int words = inst.destination.words;
  if (inst.row->use == Use::SparseMatrix) {
    io.c = io.d;
  } else if (inst.source[2].kind == OperandKind::Vector) {
    io.c = wave.lanes(inst.source[2].index);
    int distance = int(inst.source[2].index) - int(inst.destination.index);
    if (distance != 0 && std::abs(distance) < words) {
      std::memcpy(scratch, io.c, sizeof(u32) * kLanes * words);
      io.c = scratch;
    }
  } else {
    u64 value = machine.readScalar64(wave, inst.source[2]);
    if (inst.source[2].kind == OperandKind::Scalar)
      value = wave.scalar[inst.source[2].index];
    for (int word = 0; word < words; ++word)
      machine.lanes.splat(
          scratch + word * kLanes,
          static_cast<u32>(io.shape.a == MatrixType::F64 && word % 2 ? value >> 32 : value));
    io.c = scratch;
  }
  if (inst.size == 16) {
    for (int i = 0; i < 2; ++i) {
      const u32 *from = machine.fetch(wave, inst.scale[i], spread[i]);
      // An inline constant stands for its float's exponent.
      int shift = inst.scale[i].kind == OperandKind::Constant ? 23 : 8 * inst.scaleSel[i];
      for (int lane = 0; lane < kLanes; ++lane)
        scales[i][lane] = (from[lane] >> shift) & 0xff;
    }
    io.scaleA = scales[0];
    io.scaleB = scales[1];
  }
  machine.lanes.matrix(io);
}

void runWide(Machine &machine, Wave &wave, const Inst &inst) {
  alignas(64) u32 scratch[3][2 * kLanes], result[32 * kLanes];
  LaneIo io;
  io.mode = machine.modeOf(wave);
  for (int i = 0; i < inst.sourceCount; ++i)
    io.source[i] = machine.fetch(wave, inst.source[i], scratch[i]);
  io.result = result;
  machine.lanes.wide[inst.row->laneIndex](io);
  machine.writeVector(wave, inst.destination, result, inst.destination.words, wave.exec());
}

void runMix(Machine &machine, Wave &wave, const Inst &inst) {
  // op_sel_hi makes a source a half, op_sel picks which; neg_hi is abs here.
  alignas(64) u32 scratch[3][2 * kLanes], values[3][kLanes], result[kLanes];
  LaneIo io;
  io.mode = machine.modeOf(wave);
  for (int i = 0; i < 3; ++i) {
    const u32 *from = machine.fetch(wave, inst.source[i], scratch[i]);
    bool half = (inst.opSelHi >> i) & 1, high = (inst.opSel >> i) & 1;
    if (half) {
      alignas(64) u32 part[kLanes];
      for (int lane = 0; lane < kLanes; ++lane)
        part[lane] = high ? from[lane] >> 16 : from[lane] & 0xffff;
      LaneIo convert;
      convert.mode = io.mode;
      convert.source[0] = part;
      convert.result = values[i];
      laneFunctionFor(machine.lanes, *findRow(Format::Vop1, 0x0b, machine.gfx950()))(convert);
    } else {
      machine.lanes.copy(values[i], from);
    }
    bool absolute = (inst.negHi >> i) & 1, negate = (inst.neg >> i) & 1;
    machine.lanes.signs(values[i], values[i], absolute ? 0x7fffffff : ~0u, negate ? 0x80000000 : 0);
    io.source[i] = values[i];
  }
  io.result = result;
  callLanes(machine, wave, inst, io);
  const u32 *old = wave.lanes(inst.destination.index);
  if (inst.clamp && inst.row->opcode == 0x20)
    machine.lanes.clampF32(result, io.mode.dx10Clamp);
  if (inst.clamp && inst.row->opcode != 0x20)
    clampHalves(result, io.mode.dx10Clamp);
  if (inst.row->opcode != 0x20)
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] = inst.row->opcode == 0x21 ? (old[lane] & 0xffff0000) | (result[lane] & 0xffff)
                                              : (old[lane] & 0xffff) | result[lane] << 16;
  machine.writeVector(wave, inst.destination, result, 1, wave.exec());
}

} // namespace wavesmith::emulator
