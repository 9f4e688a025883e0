#pragma once
// One instruction being decoded: the fields of each format into an Inst. Private to the decoder,
// whose formats are spread over Decoder.cpp, DecoderVector.cpp and DecoderMemory.cpp.

#include <algorithm>

#include "emulator/isa/OperandDecoder.h"
#include "emulator/isa/Reserved.h"
#include "emulator/isa/Table.h"

namespace wavesmith::emulator {

inline u32 bits(u32 word, int low, int count) { return (word >> low) & ((1u << count) - 1); }
inline i32 signedBits(u32 word, int low, int count) {
  return static_cast<i32>(word << (32 - low - count)) >> (32 - count);
}

class Decoding {
public:
  Decoding(std::span<const u32> words, const DecodeContext &context, Inst &inst)
      : words_(words), context_(context), inst_(inst), operands_(words, context, inst) {}

  bool run() {
    u32 word = words_[0];
    // A scale prefix occupies the VOP3P space in front of its matrix instruction.
    if (context_.gfx950 && (word & 0xffff0000) == 0xd3ac0000)
      return scaledMatrix();
    const FormatInfo *info = formatOf(word);
    if (!info || words_.size() * 4 < info->bytes)
      return false;
    u32 opcode = bits(word, info->opcodeShift, info->opcodeBits);
    inst_.size = info->bytes;
    inst_.row = info->format == Format::Vop3 ? findLongRow(opcode, context_.gfx950)
                                             : findRow(info->format, opcode, context_.gfx950);
    if (!inst_.row)
      return false;
    inst_.handler = inst_.row->handler;
    if (!fields(info->format))
      return false;
    operands_.finish();
    return operands_.ok() && reservedBitsClear(inst_);
  }

private:
  const Row &row() const { return *inst_.row; }
  u32 low() const { return words_[0]; }
  u32 high() const { return words_[1]; }

  bool fields(Format format) {
    switch (format) {
    case Format::Sop1:
      return sop1();
    case Format::Sop2:
      addSource(bits(low(), 0, 8), 0);
      addSource(bits(low(), 8, 8), 1);
      if (row().use == Use::Fork)
        return changesExec();
      setDestination(operands_.scalar(bits(low(), 16, 7), row().signature.result));
      return true;
    case Format::Sopc:
      addSource(bits(low(), 0, 8), 0);
      if (row().use == Use::IndexMode) {
        inst_.immediate = static_cast<i32>(bits(low(), 8, 8));
        return changesM0();
      }
      addSource(bits(low(), 8, 8), 1);
      inst_.writesScc = row().use != Use::SkipMode;
      return true;
    case Format::Sopk:
      return sopk();
    case Format::Sopp:
      inst_.immediate = signedBits(low(), 0, 16);
      inst_.readsScc = row().opcode == 4 || row().opcode == 5;
      if (row().opcode == 6 || row().opcode == 7)
        operands_.readScalar(kVcc, 2, 0);
      inst_.readsExec = row().opcode == 8 || row().opcode == 9;
      return row().use != Use::IndexMode || changesM0();
    case Format::Smem:
      return smem();
    case Format::Vop1:
    case Format::Vop2:
    case Format::Vopc:
      return shortVector(format);
    case Format::Vop3:
      return longVector();
    case Format::Vop3p:
      return row().use == Use::Matrix         ? matrix(0)
             : row().use == Use::SparseMatrix ? sparseMatrix()
                                              : packed();
    case Format::Ds:
      return ds();
    case Format::Mubuf:
    case Format::Mtbuf:
      return buffer(format == Format::Mtbuf);
    default:
      return flat(format);
    }
  }

  void addSource(u32 code, int index) {
    Operand operand = operands_.source(code, row().signature.sources[index]);
    // Beside a float source LLVM shows the constants of 16 bit integers as floats.
    if (operand.kind == OperandKind::Constant && operand.type == Type::B16 && row().fields.signs)
      operand.type = Type::F16;
    moveByIndex(operand, index);
    inst_.source[inst_.sourceCount++] = operand;
    operands_.read(operand, index);
  }
  void setDestination(Operand operand) {
    moveByIndex(operand, kDestinationRole);
    inst_.destination = operand;
    operands_.write(operand);
    if (row().signature.readsOld)
      operands_.read(operand, 3);
    if (row().signature.setsScc && !row().signature.isCompare)
      inst_.writesScc = true;
    if (row().signature.readsCarry && operand.kind == OperandKind::Scalar)
      inst_.readsScc = true;
  }

  /// M0 keeps the bits that these instructions do not write.
  bool changesM0() {
    operands_.readScalar(kM0, 1, 1);
    operands_.writeScalar(kM0, 1);
    return true;
  }

  bool changesExec() {
    operands_.readScalar(kExec, 2, 1);
    operands_.writeScalar(kExec, 2);
    inst_.readsExec = true;
    return true;
  }

  bool sop1() {
    Type result = row().signature.result, type = row().signature.sources[0];
    if (row().use == Use::IndexMode) {
      addSource(bits(low(), 0, 8), 0);
      return changesM0();
    }
    if (row().use == Use::Fork) {
      addSource(bits(low(), 0, 8), 0);
      return changesExec();
    }
    if (row().use != Use::WriteOnly)
      addSource(bits(low(), 0, 8), 0);
    if (row().use == Use::WriteOnly || row().use == Use::ReadOnly || row().handler == swapPc)
      result = type = Type::B64;
    if (row().use != Use::ReadOnly)
      setDestination(operands_.scalar(bits(low(), 16, 7), result));
    if (row().use == Use::SaveExec) {
      operands_.readScalar(kExec, 2, 1);
      operands_.writeScalar(kExec, 2);
      inst_.writesScc = true;
      inst_.readsExec = true;
    }
    return true;
  }

  bool sopk() {
    inst_.immediate = signedBits(low(), 0, 16);
    u32 code = bits(low(), 16, 7);
    switch (row().use) {
    case Use::WriteOnly: // getreg
      setDestination(operands_.scalar(code, Type::B32));
      return true;
    case Use::ReadOnly: // setreg
      inst_.source[inst_.sourceCount++] = operands_.scalar(code, Type::B32);
      operands_.read(inst_.source[0], 0);
      return true;
    case Use::Fork:
      inst_.source[inst_.sourceCount++] = operands_.scalar(code, Type::B64);
      operands_.read(inst_.source[0], 0);
      return changesExec();
    case Use::Literal: // setreg_imm32
      inst_.source[inst_.sourceCount++] = operands_.source(255, Type::B32);
      return true;
    case Use::Branch: // call
      setDestination(operands_.scalar(code, Type::B64));
      return true;
    default:
      break;
    }
    inst_.source[inst_.sourceCount++] =
        operands_.constant(static_cast<u64>(i64{inst_.immediate}), Type::B32);
    Operand reg = operands_.scalar(code, Type::B32);
    if (row().signature.isCompare) {
      inst_.destination = reg;
      operands_.read(reg, 0);
      inst_.writesScc = true;
    } else {
      setDestination(reg);
    }
    return true;
  }

  bool smem() {
    if (row().use == Use::Cache)
      return true;
    // A compare and swap has what to compare with behind the new value.
    bool hasData = row().use != Use::AddressOnly && row().use != Use::Probe;
    int words = row().access.bytes / 4 * (row().access.second ? 2 : 1);
    Operand data;
    if (hasData)
      data = operands_.scalarWords(bits(low(), 6, 7), words);
    else
      inst_.offset1 = static_cast<u8>(bits(low(), 6, 7));
    inst_.destination = data;
    if (row().use == Use::WriteOnly) {
      operands_.write(data);
      return true;
    }
    Operand base = operands_.scalarWords(bits(low(), 0, 6) * 2, row().access.count == 4 ? 4 : 2);
    inst_.source[0] = base;
    inst_.sourceCount = 1;
    operands_.read(base, 0);
    bool immediate = bits(low(), 17, 1), offset = bits(low(), 14, 1);
    inst_.sc0 = hasData && bits(low(), 16, 1);
    if (immediate)
      inst_.immediate = signedBits(high(), 0, 21);
    if (offset || !immediate) {
      inst_.source[1] =
          operands_.source(offset ? bits(high(), 25, 7) : bits(high(), 0, 7), Type::B32);
      inst_.sourceCount = 2;
      operands_.read(inst_.source[1], 1);
    }
    if (row().use == Use::Store || row().use == Use::Atomic)
      operands_.read(data, 2);
    if (row().use == Use::Load || (row().use == Use::Atomic && inst_.sc0))
      operands_.write(data);
    return true;
  }

  // DecoderVector.cpp
  static constexpr int kDestinationRole = 3;
  /// VGPR indexing: adds M0's index to a VGPR when the mask has the operand's role.
  void moveByIndex(Operand &operand, int role);
  Operand vectorDestination(u32 code);
  void finishVector();
  /// The mask operands that the row's signature implies: VCC in the short forms.
  void maskOperands(u32 resultCode, bool fromThird);
  bool shortVector(Format format);
  void addRegister(u32 code, bool accumulator);
  bool extended(bool sdwa, Format format);
  bool longVector();
  bool packed();
  bool matrix(int at);
  bool sparseMatrix();
  static int formatWords(u8 format);
  static int inputWords(MatrixType type, int rows, const MatrixShape &shape);
  bool scaledMatrix();

  // DecoderMemory.cpp
  bool ds();
  /// Data operand of a vector memory row: destination of loads, source of stores and atomics.
  void memoryData(u32 code, u32 returnCode, bool accumulator, int dataIndex);
  bool buffer(bool typed);
  bool flat(Format format);

  std::span<const u32> words_;
  const DecodeContext &context_;
  Inst &inst_;
  OperandDecoder operands_;
};

} // namespace wavesmith::emulator
