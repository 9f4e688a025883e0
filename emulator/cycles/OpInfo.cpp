#include "emulator/cycles/OpInfo.h"

#include <algorithm>
#include <string_view>

#include "emulator/isa/Table.h"
#include "emulator/machine/MemoryAccess.h"

namespace wavesmith::emulator::cycles {
namespace {

bool startsWithAny(std::string_view name, std::initializer_list<std::string_view> heads) {
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return name.starts_with(head); });
}

bool isTranscendental(std::string_view name) {
  return startsWithAny(
      name, {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_", "v_prng_"});
}

/// The conversions that the compiler's table calls quarter rate.
bool isConversion(std::string_view name) {
  if (!name.starts_with("v_cvt_") || startsWithAny(name, {"v_cvt_scalef32_", "v_cvt_pk_bf16_"}))
    return false;
  return startsWithAny(name, {"v_cvt_pk_fp8_", "v_cvt_pk_bf8_", "v_cvt_sr_", "v_cvt_f32_",
                              "v_cvt_pk_f32_", "v_cvt_u32_", "v_cvt_i32_", "v_cvt_f16_"});
}

bool isWideInteger(std::string_view name) {
  return startsWithAny(
      name, {"v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u64_u32", "v_mad_i64_i32"});
}

/// F8F6F4 at two passes' rate when an operand has 8 bits (formats 0 and 1).
u8 passesOf(const Inst &inst) {
  const MatrixRow &row = matrixRow(*inst.row);
  std::string_view name = inst.row->name;
  if (name.ends_with("f8f6f4") && inst.cbsz > 1 && inst.blgp > 1)
    return static_cast<u8>(row.passes / 2);
  return row.passes;
}

void describeMatrix(const Inst &inst, const Architecture &a, OpInfo &op) {
  op.kind = Kind::Matrix;
  op.passes = passesOf(inst);
  bool sparse = inst.row->use == Use::SparseMatrix;
  op.portClk = static_cast<u16>(sparse ? a.sparseMatrixClk : a.matrixClk);
  const Operand &c = sparse ? inst.destination : inst.source[2];
  if (c.kind == OperandKind::Vector)
    op.accumulator = c.index;
  switch (matrixRow(*inst.row).shape.a) {
  case MatrixType::F16:
    op.matrixType = 4;
    break;
  case MatrixType::Bf16:
    op.matrixType = 1;
    break;
  case MatrixType::F32:
  case MatrixType::Xf32:
  case MatrixType::F64:
    op.matrixType = 3;
    break;
  default:
    op.matrixType = 2;
  }
}

void describeVector(const Inst &inst, const Architecture &a, OpInfo &op) {
  op.category = Category::Vector;
  std::string_view name = inst.row->name;
  if (inst.isMatrix)
    return describeMatrix(inst, a, op);
  if (inst.row->use == Use::Packed32)
    op.kind = Kind::PackedF32;
  int clk = a.vectorClk;
  if (isTranscendental(name)) {
    op.kind = Kind::Transcendental;
    clk = a.transcendentalClk;
  } else if (isConversion(name))
    clk = a.convertClk;
  else if (isWideInteger(name))
    clk = a.wideIntegerClk;
  else if (startsWithAny(name, {"v_permlane32_swap", "v_permlane16_swap"}))
    clk = a.swapClk;
  op.portClk = static_cast<u16>(clk);
}

void describeLds(const Inst &inst, const Architecture &a, OpInfo &op) {
  op.category = Category::Lds;
  op.kind = Kind::LdsAccess;
  const Access &access = inst.row->access;
  int bytes = std::max(4, int(access.bytes) * access.count);
  switch (inst.row->use) {
  case Use::Load:
  case Use::Transpose: {
    // The wider path of gfx950 serves wide reads.
    int port = bytes >= 8 ? a.ldsPortBytes : std::min(a.ldsPortBytes, 64);
    op.ldsPortClk = static_cast<u16>(kLanes * bytes / port);
    break;
  }
  default: // address and data share the input bus
    op.ldsPortClk = static_cast<u16>(kLanes * (4 + bytes) / 64);
  }
  op.ldsLatency = static_cast<u16>(bytes <= 4   ? a.ldsLatency32
                                   : bytes <= 8 ? a.ldsLatency64
                                                : a.ldsLatency128);
}

void describeVectorMemory(const Inst &inst, const Architecture &a, OpInfo &op) {
  op.category = Category::VectorMemory;
  op.isFlat = inst.row->format == Format::Flat;
  if (inst.row->use == Use::Cache) {
    op.kind = Kind::Store;
    return;
  }
  op.accessBytes = inst.row->access.bytes;
  int dwords = std::max(1, op.accessBytes / 4);
  op.portClk = static_cast<u16>(a.addressClk * dwords);
  if (isLdsDma(inst)) {
    op.kind = Kind::LdsDma;
    op.portClk = static_cast<u16>(std::max(a.ldsDmaClk, a.addressClk * dwords));
  } else {
    op.kind = inst.row->use == Use::Atomic                            ? Kind::Atomic
              : inst.row->use == Use::Store || !inst.vectorWriteCount ? Kind::Store
                                                                      : Kind::Load;
  }
}

void describeInternal(const Inst &inst, const Architecture &a, OpInfo &op) {
  std::string_view name = inst.row->name;
  auto imm = static_cast<u16>(inst.immediate);
  op.immediate = imm;
  if (name == "s_waitcnt") {
    op.kind = Kind::Wait;
  } else if (name == "s_barrier") {
    op.kind = Kind::Barrier;
  } else if (name == "s_nop") {
    op.kind = Kind::Nop;
    op.issueClk = static_cast<u16>(4 * ((imm & 15) + 1));
  } else if (name == "s_sleep") {
    op.kind = Kind::Sleep;
    op.issueClk = static_cast<u16>(std::max(4, 64 * (imm & 127)));
  } else if (name == "s_setprio") {
    op.kind = Kind::SetPriority;
  } else if (name.starts_with("s_endpgm")) {
    op.kind = Kind::End;
  }
  (void)a;
}

} // namespace

OpInfo describe(const Inst &inst, const Architecture &a) {
  OpInfo op;
  op.pc = inst.pc;
  op.size = inst.size;
  op.straddles = inst.size == 8 && inst.pc % 8 == 4;
  // A 16-byte instruction takes two turns.
  op.issueClk = inst.size > 8 ? 8 : 4;
  if (!inst.row)
    return op;
  for (int i = 0; i < inst.vectorReadCount; ++i)
    op.reads[op.readCount++] = inst.vectorReads[i];
  if (inst.vectorWriteCount) {
    op.result = inst.vectorWrites[0].first;
    op.resultCount = inst.vectorWrites[0].count;
  }
  switch (inst.row->format) {
  case Format::Vop1:
  case Format::Vop2:
  case Format::Vopc:
  case Format::Vop3:
  case Format::Vop3p:
    describeVector(inst, a, op);
    break;
  case Format::Ds:
    describeLds(inst, a, op);
    break;
  case Format::Flat:
  case Format::Scratch:
  case Format::Global:
  case Format::Mubuf:
  case Format::Mtbuf:
    describeVectorMemory(inst, a, op);
    break;
  case Format::Smem:
    op.category = Category::Scalar;
    op.kind =
        inst.row->use == Use::Cache || !inst.scalarWriteCount ? Kind::Plain : Kind::ScalarLoad;
    break;
  case Format::Sopp:
    if (inst.row->use == Use::Branch)
      op.category = Category::Branch;
    else
      describeInternal(inst, a, op);
    break;
  default:
    op.category = Category::Scalar;
  }
  return op;
}

} // namespace wavesmith::emulator::cycles
