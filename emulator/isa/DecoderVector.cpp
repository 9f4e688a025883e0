// The formats of the vector ALU and the matrix core.

#include "emulator/isa/Decoding.h"

namespace wavesmith::emulator {

void Decoding::moveByIndex(Operand &operand, int role) {
  if (operand.kind != OperandKind::Vector || operand.accumulator ||
      !((context_.indexMask >> role) & 1))
    return;
  int moved = operand.index + context_.index;
  if (moved + operand.words <= context_.vgprs) {
    operand.index = static_cast<u16>(moved);
    return;
  }
  // Out of range a source is v0 and a destination stops the instruction (CDNA3 ISA 3.6.1).
  inst_.outsideIndex = static_cast<u16>(moved + operand.words - 1);
  inst_.nullified |= role == kDestinationRole;
  operand.index = 0;
}

Operand Decoding::vectorDestination(u32 code) {
  Type type = row().signature.result;
  switch (row().use) {
  case Use::ToScalar:
    return operands_.scalar(code, Type::B32);
  case Use::AccumMove:
  case Use::AccumWrite:
    return operands_.vector(code, 1, true);
  case Use::AccumRead:
  case Use::Swap:
    return operands_.vector(code, 1, false);
  default:
    return operands_.vector(code, wordsOf(type), false);
  }
}

void Decoding::finishVector() {
  inst_.isVector = true;
  inst_.readsExec = row().use != Use::ToScalar || row().handler == readFirstLane;
}

void Decoding::maskOperands(u32 resultCode, bool fromThird) {
  const Signature &signature = row().signature;
  if (signature.isCompare || signature.setsCarry) {
    inst_.scalarDestination = operands_.scalar(resultCode, Type::B64);
    operands_.writeScalar(resultCode, 2);
    if (row().use == Use::WriteExec)
      operands_.writeScalar(kExec, 2);
  }
  if (signature.readsCarry && !fromThird) {
    inst_.source[inst_.sourceCount] = operands_.scalar(kVcc, Type::B64);
    ++inst_.sourceCount;
    operands_.readScalar(kVcc, 2, 3);
  }
}

bool Decoding::shortVector(Format format) {
  finishVector();
  u32 code = bits(low(), 0, 9);
  const Signature &signature = row().signature;
  if (row().use == Use::Literal) {
    // D = S0*K + S1 or S0*S1 + K; which one shows in the opcode's low bit.
    bool constantLast = row().opcode == 0x18 || row().opcode == 0x25;
    addSource(code, 0);
    Operand k = operands_.source(255, signature.sources[1]);
    k.type = Type::F32; // shown in full
    Operand v = operands_.source(256 + bits(low(), 9, 8), signature.sources[2]);
    // The multiply-add that the unit receives has v where its source 1 or 2 is.
    moveByIndex(v, constantLast ? 1 : 2);
    inst_.source[inst_.sourceCount++] = constantLast ? v : k;
    inst_.source[inst_.sourceCount++] = constantLast ? k : v;
    operands_.read(v, 1);
  } else {
    if ((code == 249 || code == 250) && signature.sourceCount > 0) {
      if (!extended(code == 249, format))
        return false;
      code = 256 + bits(words_[1], 0, 8);
      if (inst_.variant == Variant::Sdwa && bits(words_[1], 23, 1))
        code -= 256;
    }
    if (signature.sourceCount > 0) {
      if (row().use == Use::AccumMove && code < 256)
        return false;
      if (row().use == Use::AccumMove)
        addRegister(code & 0xff, true);
      else
        addSource(code, 0);
    }
    if (format != Format::Vop1) {
      u32 second = bits(low(), 9, 8) + 256;
      if (inst_.variant == Variant::Sdwa && bits(words_[1], 31, 1))
        second -= 256;
      addSource(second, 1);
    }
  }
  u32 maskCode = kVcc;
  if (inst_.variant == Variant::Sdwa && format == Format::Vopc && bits(words_[1], 15, 1))
    maskCode = bits(words_[1], 8, 7);
  maskOperands(maskCode, false);
  if (format != Format::Vopc && row().use != Use::NoOperands) {
    setDestination(vectorDestination(bits(low(), 17, 8)));
    if (row().use == Use::Swap)
      operands_.write(inst_.source[0]), operands_.read(inst_.destination, 1);
  }
  // A partial write keeps lanes or bytes of the old value.
  if (inst_.variant == Variant::Sdwa && inst_.dstUnused == 2 && inst_.dstSel != 6)
    operands_.read(inst_.destination, 3);
  return true;
}

void Decoding::addRegister(u32 code, bool accumulator) {
  inst_.source[inst_.sourceCount] = operands_.vector(code, 1, accumulator);
  moveByIndex(inst_.source[inst_.sourceCount], inst_.sourceCount);
  operands_.read(inst_.source[inst_.sourceCount], inst_.sourceCount);
  ++inst_.sourceCount;
}

bool Decoding::extended(bool sdwa, Format format) {
  if (words_.size() < 2)
    return false;
  u32 word = words_[1];
  inst_.size = 8;
  if (sdwa) {
    inst_.variant = Variant::Sdwa;
    if (format != Format::Vopc) {
      inst_.dstSel = bits(word, 8, 3);
      inst_.dstUnused = bits(word, 11, 2);
      inst_.clamp = bits(word, 13, 1);
      inst_.omod = bits(word, 14, 2);
    }
    inst_.srcSel[0] = bits(word, 16, 3);
    inst_.srcSext[0] = bits(word, 19, 1);
    inst_.srcSel[1] = bits(word, 24, 3);
    inst_.srcSext[1] = bits(word, 27, 1);
    inst_.neg = bits(word, 20, 1) | bits(word, 28, 1) << 1;
    inst_.abs = bits(word, 21, 1) | bits(word, 29, 1) << 1;
    // Without a second source its fields mean nothing.
    if (format == Format::Vop1)
      inst_.srcSel[1] = 6;
    // Reserved encodings.
    if (inst_.dstSel == 7 || inst_.dstUnused == 3 || inst_.srcSel[0] == 7 || inst_.srcSel[1] == 7)
      return false;
  } else {
    inst_.variant = Variant::Dpp;
    inst_.dppControl = bits(word, 8, 9);
    inst_.boundControl = bits(word, 19, 1);
    inst_.neg = bits(word, 20, 1) | bits(word, 22, 1) << 1;
    inst_.abs = bits(word, 21, 1) | bits(word, 23, 1) << 1;
    inst_.neg &= row().fields.signsUsed;
    inst_.abs &= row().fields.signsUsed;
    inst_.bankMask = bits(word, 24, 4);
    inst_.rowMask = bits(word, 28, 4);
  }
  inst_.modified = true;
  return true;
}

bool Decoding::longVector() {
  bool shortOnly = row().use == Use::AccumMove || row().handler == swapRegisters ||
                   row().handler == readFirstLane;
  if (shortOnly)
    return false;
  finishVector();
  inst_.variant = Variant::Long;
  const Signature &signature = row().signature;
  // With a scalar destination (VOP3b) these bits name it.
  if (!signature.setsCarry) {
    inst_.abs = bits(low(), 8, 3);
    inst_.opSel = bits(low(), 11, 4);
  }
  inst_.clamp = bits(low(), 15, 1);
  inst_.omod = bits(high(), 27, 2);
  inst_.neg = bits(high(), 29, 3);
  if (row().use == Use::Bitop) {
    // The modifiers' bits are the table.
    inst_.immediate = static_cast<i32>(inst_.neg | inst_.abs << 3 | inst_.omod << 6);
    inst_.neg = inst_.abs = inst_.omod = 0;
  }
  inst_.neg &= row().fields.signsUsed;
  inst_.abs &= row().fields.signsUsed;
  static constexpr int kShift[3] = {0, 9, 18};
  int encoded = std::min<int>(signature.sourceCount, 3);
  if (row().use == Use::Bitop)
    encoded = 3;
  for (int i = 0; i < encoded; ++i) {
    u32 code = bits(high(), kShift[i], 9);
    if (code == 255 || code == 249 || code == 250)
      return false;
    // More than two registers must be VGPRs (CDNA4 ISA 6.7.1).
    if (wordsOf(signature.sources[i]) > 2 && code < 256)
      return false;
    if ((row().use == Use::AccumMove || row().use == Use::Swap) && code < 256)
      return false;
    if (row().use == Use::AccumMove)
      addRegister(code & 0xff, true);
    else
      addSource(code, i);
  }
  if (row().format == Format::Vopc && (low() & 0x80))
    return false;
  bool fromThird = signature.readsCarry && row().format == Format::Vop2;
  if (fromThird) {
    inst_.source[inst_.sourceCount] = operands_.source(bits(high(), 18, 9), Type::B64);
    operands_.read(inst_.source[inst_.sourceCount], 3);
    ++inst_.sourceCount;
  }
  u32 code = bits(low(), 0, 8);
  maskOperands(row().format == Format::Vopc ? code & 0x7f : bits(low(), 8, 7), fromThird);
  if (row().format != Format::Vopc && row().use != Use::NoOperands) {
    setDestination(vectorDestination(code));
    if (row().use == Use::Swap)
      operands_.write(inst_.source[0]), operands_.read(inst_.destination, 1);
    bool partial = row().use == Use::HalfResult || row().use == Use::ByteResult ||
                   row().use == Use::ByteToHalf || (inst_.opSel & 8) || row().handler == writeLane;
    if (partial)
      operands_.read(inst_.destination, 3);
  }
  inst_.modified = inst_.neg || inst_.abs || inst_.omod || inst_.clamp || inst_.opSel;
  return true;
}

bool Decoding::packed() {
  finishVector();
  inst_.variant = Variant::Long;
  inst_.negHi = bits(low(), 8, 3);
  inst_.opSel = bits(low(), 11, 3);
  inst_.opSelHi = bits(high(), 27, 2) | bits(low(), 14, 1) << 2;
  inst_.clamp = bits(low(), 15, 1);
  inst_.neg = bits(high(), 29, 3);
  if (row().use == Use::AccumRead || row().use == Use::AccumWrite) {
    if (row().use == Use::AccumRead && !bits(high(), 8, 1))
      return false;
    if (row().use == Use::AccumRead)
      addRegister(bits(high(), 0, 8), true);
    else
      addSource(bits(high(), 0, 9), 0);
    setDestination(vectorDestination(bits(low(), 0, 8)));
    return true;
  }
  int count = row().use == Use::PackedMove ? 2 : row().signature.sourceCount;
  bool wide = row().use == Use::Packed32 || row().use == Use::PackedMove;
  for (int i = 0; i < count; ++i) {
    u32 code = bits(high(), 9 * i, 9);
    if (code == 255)
      return false;
    Type type = wide ? Type::B64 : row().signature.sources[i];
    // Inline constants: the half that a mixed sum takes is one, packed integers take those of
    // float32 (LLVM's operand type V2INT16).
    if (row().use == Use::Mix)
      type = inst_.opSelHi >> i & 1 ? Type::F16 : Type::F32;
    else if (row().use == Use::Packed16 && type == Type::B16)
      type = Type::B32;
    Operand operand = wide ? operands_.packedFloats(code) : operands_.source(code, type);
    moveByIndex(operand, i);
    inst_.source[inst_.sourceCount++] = operand;
    operands_.read(operand, i);
  }
  setDestination(operands_.vector(bits(low(), 0, 8), wide ? 2 : 1, false));
  if (row().use == Use::Mix && row().opcode != 0x20)
    operands_.read(inst_.destination, 3);
  return true;
}

bool Decoding::matrix(int at) {
  u32 first = words_[at], second = words_[at + 1];
  inst_.isVector = true;
  inst_.variant = Variant::Long;
  inst_.cbsz = bits(first, 8, 3);
  inst_.abid = bits(first, 11, 4);
  inst_.blgp = bits(second, 29, 3);
  bool accumD = bits(first, 15, 1);
  const MatrixShape &shape = matrixRow(row()).shape;
  bool mixed = row().opcode == 0x2d || row().opcode == 0x2e;
  int wordsA = mixed ? formatWords(inst_.cbsz) : inputWords(shape.a, shape.m, shape);
  int wordsB = mixed ? formatWords(inst_.blgp) : inputWords(shape.b, shape.n, shape);
  int wordsD = shape.m * shape.n * shape.blocks / kLanes * (shape.a == MatrixType::F64 ? 2 : 1);
  if (!wordsA || !wordsB)
    return false;
  auto input = [&](int shift, int words, bool accumulator) {
    u32 code = bits(second, shift, 9);
    return code >= 256 ? operands_.vector(code - 256, words, accumulator) : Operand();
  };
  inst_.source[0] = input(0, wordsA, bits(second, 27, 1));
  inst_.source[1] = input(9, wordsB, bits(second, 28, 1));
  u32 codeC = bits(second, 18, 9);
  inst_.source[2] =
      codeC >= 256 ? operands_.vector(codeC - 256, wordsD, accumD)
                   : operands_.source(codeC, shape.a == MatrixType::F64 ? Type::F64 : Type::F32);
  inst_.sourceCount = 3;
  if (inst_.source[0].kind != OperandKind::Vector || inst_.source[1].kind != OperandKind::Vector ||
      codeC < 128)
    return false;
  if (inst_.source[2].kind == OperandKind::Special)
    return false;
  for (int i = 0; i < 3; ++i) {
    moveByIndex(inst_.source[i], i);
    operands_.read(inst_.source[i], i);
  }
  setDestination(operands_.vector(bits(first, 0, 8), wordsD, accumD));
  return true;
}

bool Decoding::sparseMatrix() {
  inst_.isVector = true;
  inst_.variant = Variant::Long;
  inst_.cbsz = bits(low(), 8, 3);
  inst_.abid = bits(low(), 11, 4);
  bool accumD = bits(low(), 15, 1);
  const MatrixShape &shape = matrixRow(row()).shape;
  auto input = [&](int shift, int words, bool accumulator) {
    u32 code = bits(high(), shift, 9);
    return code >= 256 ? operands_.vector(code - 256, words, accumulator) : Operand();
  };
  inst_.source[0] = input(0, inputWords(shape.a, shape.m, shape) / 2, bits(high(), 27, 1));
  inst_.source[1] = input(9, inputWords(shape.b, shape.n, shape), bits(high(), 28, 1));
  inst_.source[2] = input(18, 1, false);
  inst_.sourceCount = 3;
  for (int i = 0; i < 3; ++i) {
    if (inst_.source[i].kind != OperandKind::Vector)
      return false;
    moveByIndex(inst_.source[i], i);
    // The index is no accumulator: it counts as an A/B operand.
    operands_.read(inst_.source[i], i == 2 ? 1 : i);
  }
  inst_.destination = operands_.vector(bits(low(), 0, 8), shape.m * shape.n / kLanes, accumD);
  moveByIndex(inst_.destination, kDestinationRole);
  operands_.read(inst_.destination, 2);
  operands_.write(inst_.destination);
  return true;
}

int Decoding::formatWords(u8 format) {
  // Formats beyond 4 do not exist; LLVM shows eight registers.
  return format == 4 ? 4 : (format == 2 || format == 3 ? 6 : 8);
}

int Decoding::inputWords(MatrixType type, int rows, const MatrixShape &shape) {
  int itemBits = type == MatrixType::F64                               ? 64
                 : type == MatrixType::F32 || type == MatrixType::Xf32 ? 32
                 : type == MatrixType::F16 || type == MatrixType::Bf16 ? 16
                                                                       : 8;
  return std::max(1, rows * shape.k * shape.blocks * itemBits / (32 * kLanes));
}

bool Decoding::scaledMatrix() {
  if (words_.size() < 4)
    return false;
  u32 opcode = bits(words_[2], 16, 7);
  if ((words_[2] & 0xff800000) != 0xd3800000 || (opcode != 0x2d && opcode != 0x2e))
    return false;
  inst_.size = 16;
  inst_.row = findRow(Format::Vop3p, opcode, true);
  inst_.handler = inst_.row->handler;
  if (!matrix(2))
    return false;
  for (int i = 0; i < 2; ++i) {
    inst_.scale[i] = operands_.source(bits(words_[1], 9 * i, 9), Type::F32);
    operands_.read(inst_.scale[i], 3 + i);
    inst_.scaleSel[i] = bits(words_[0], 11 + i, 1) | bits(words_[1], 27 + i, 1) << 1;
  }
  operands_.finish();
  return operands_.ok();
}

} // namespace wavesmith::emulator
