#include "emulator/isa/OperandDecoder.h"

#include <algorithm>
#include <cstring>

namespace wavesmith::emulator {
namespace {

// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi) in the three float formats.
constexpr u16 kHalves[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
constexpr u32 kFloats[9] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                            0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr u64 kDoubles[9] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                             0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                             0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

} // namespace

u64 OperandDecoder::inlineConstant(u32 code, Type type) {
  if (code >= 128 && code <= 208) {
    i64 value = code <= 192 ? i64(code) - 128 : 192 - i64(code);
    return static_cast<u64>(value);
  }
  int index = static_cast<int>(code) - 240;
  switch (type) {
  case Type::F16:
  case Type::B16:
  case Type::Halves:
    return kHalves[index];
  case Type::Brain:
  case Type::Brains:
    return kFloats[index] >> 16;
  case Type::F64:
  case Type::B64:
    return kDoubles[index];
  default:
    return kFloats[index];
  }
}

Operand OperandDecoder::constant(u64 value, Type type) {
  Operand operand;
  operand.kind = OperandKind::Constant;
  operand.type = type;
  operand.words = static_cast<u8>(std::max(1, wordsOf(type)));
  operand.value = operand.words == 1 ? static_cast<u32>(value) : value;
  return operand;
}

Operand OperandDecoder::source(u32 code, Type type) {
  int words = std::max(1, wordsOf(type));
  Operand operand;
  if (code >= 256) {
    operand = vector(code - 256, words, false);
  } else if ((code >= 128 && code <= 208) || (code >= 240 && code <= 248)) {
    operand = constant(inlineConstant(code, type), type);
  } else if (code == 255) {
    // Two sources may name the one literal.
    bool first = std::none_of(inst_.source, inst_.source + inst_.sourceCount,
                              [](const Operand &o) { return o.literal; });
    std::size_t at = inst_.size / 4 - (first ? 0 : 1);
    if (at >= words_.size() || inst_.size >= 16) {
      ok_ = false;
      return operand;
    }
    if (first)
      inst_.size += 4;
    u64 value = words_[at];
    if (type == Type::F64)
      value <<= 32;
    operand = constant(value, type);
    operand.literal = true;
  } else if (code == 251 || code == 252 || code == 253 || (code >= 235 && code <= 238)) {
    operand.kind = OperandKind::Special;
    operand.words = static_cast<u8>(words);
    SpecialOperand special = code == 251   ? SpecialOperand::Vccz
                             : code == 252 ? SpecialOperand::Execz
                             : code == 253 ? SpecialOperand::Scc
                             : code == 235 ? SpecialOperand::SharedBase
                             : code == 236 ? SpecialOperand::SharedLimit
                             : code == 237 ? SpecialOperand::PrivateBase
                                           : SpecialOperand::PrivateLimit;
    operand.index = static_cast<u16>(special);
    if (special == SpecialOperand::Scc)
      inst_.readsScc = true;
  } else if (code == kNull) {
    operand = constant(0, type);
  } else if (code < 128) {
    operand = scalarWords(code, words);
  } else {
    ok_ = false;
  }
  if (operand.kind != OperandKind::Scalar)
    operand.code = static_cast<u16>(code >= 256 ? code - 256 : code);
  operand.type = type;
  return operand;
}

Operand OperandDecoder::packedFloats(u32 code) {
  if (code >= 128 && code < 256) {
    Operand operand = source(code, Type::F32);
    operand.words = 2;
    return operand;
  }
  return source(code, Type::B64);
}

Operand OperandDecoder::scalarWords(u32 code, int words) {
  Operand operand;
  operand.kind = OperandKind::Scalar;
  operand.words = static_cast<u8>(words);
  operand.type = words == 2 ? Type::B64 : Type::B32;
  operand.code = static_cast<u16>(code);
  // The low bits of a misaligned tuple are ignored by the hardware.
  u32 aligned = words == 1 ? code : (words == 2 ? code & ~1u : code & ~3u);
  // Named registers come in whole, aligned tuples only; m0 is a single one.
  bool isTtmp = code >= kTtmp0 && code < kM0;
  bool named = code >= kFlatScratch && !isTtmp;
  bool beyond = aligned < kFlatScratch
                    ? aligned + static_cast<u32>(words) > kFlatScratch + 2u * (words > 2)
                : isTtmp ? aligned + static_cast<u32>(words) > kM0
                         : named && (words > 2 || (words == 2 && code == kM0));
  if (code == kNull)
    aligned = kNull, beyond = named = false;
  if (code >= kScalarRegisters || beyond || (named && aligned != code))
    ok_ = false;
  operand.index = static_cast<u16>(aligned);
  operand.code = operand.index;
  // Writes to null go where nothing reads, see source().
  if (aligned == kNull)
    operand.index = kScalarRegisters;
  return operand;
}

Operand OperandDecoder::vector(u32 code, int words, bool accumulator) {
  Operand operand;
  operand.kind = OperandKind::Vector;
  operand.words = static_cast<u8>(words);
  operand.accumulator = accumulator;
  operand.code = static_cast<u16>(code);
  if (accumulator && code + static_cast<u32>(words) > 256)
    ok_ = false;
  operand.index = static_cast<u16>(code + (accumulator ? context_.accumOffset : 0));
  return operand;
}

void OperandDecoder::read(const Operand &operand, int index) {
  if (operand.kind == OperandKind::Vector) {
    if (inst_.vectorReadCount < 5)
      inst_.vectorReads[inst_.vectorReadCount++] = {operand.index, operand.words,
                                                    static_cast<u8>(index)};
  } else if (operand.kind == OperandKind::Scalar) {
    readScalar(operand.index, operand.words, index);
  } else if (operand.kind == OperandKind::Special) {
    if (operand.index == static_cast<u16>(SpecialOperand::Vccz))
      readScalar(kVcc, 2, index);
  }
}

void OperandDecoder::write(const Operand &operand) {
  if (operand.kind == OperandKind::Vector && inst_.vectorWriteCount < 2)
    inst_.vectorWrites[inst_.vectorWriteCount++] = {operand.index, operand.words, 0};
  else if (operand.kind == OperandKind::Scalar)
    writeScalar(operand.index, operand.words);
}

void OperandDecoder::readScalar(u32 code, int words, int index) {
  if (inst_.scalarReadCount < 5)
    inst_.scalarReads[inst_.scalarReadCount++] = {static_cast<u16>(code), static_cast<u8>(words),
                                                  static_cast<u8>(index)};
}

void OperandDecoder::writeScalar(u32 code, int words) {
  if (inst_.scalarWriteCount < 3)
    inst_.scalarWrites[inst_.scalarWriteCount++] = {static_cast<u16>(code), static_cast<u8>(words),
                                                    0};
}

void OperandDecoder::finish() {
  auto vectors = [&](const RegisterRange *ranges, int count) {
    for (int i = 0; i < count; ++i)
      inst_.maxVector = std::max<u16>(inst_.maxVector, ranges[i].first + ranges[i].count);
  };
  vectors(inst_.vectorReads, inst_.vectorReadCount);
  vectors(inst_.vectorWrites, inst_.vectorWriteCount);
  auto scalars = [&](const RegisterRange *ranges, int count) {
    for (int i = 0; i < count; ++i)
      if (ranges[i].first < kFlatScratch)
        inst_.maxScalar = std::max<u16>(inst_.maxScalar, ranges[i].first + ranges[i].count);
  };
  scalars(inst_.scalarReads, inst_.scalarReadCount);
  scalars(inst_.scalarWrites, inst_.scalarWriteCount);
}

} // namespace wavesmith::emulator
