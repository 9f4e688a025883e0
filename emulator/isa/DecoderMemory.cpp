// The formats of LDS and vector memory.

#include "emulator/isa/Decoding.h"

namespace wavesmith::emulator {

bool Decoding::ds() {
  inst_.readsExec = true;
  bool accumulator = bits(low(), 25, 1);
  const Access &access = row().access;
  inst_.immediate = static_cast<i32>(bits(low(), 0, 16));
  if (access.count == 2) {
    inst_.immediate = static_cast<i32>(bits(low(), 0, 8));
    inst_.offset1 = bits(low(), 8, 8);
  }
  if (row().use == Use::NoOperands)
    return true;
  int words = std::max(1, access.bytes / 4);
  if (!access.addressFromM0()) {
    inst_.source[0] = operands_.vector(bits(high(), 0, 8), 1, false);
    operands_.read(inst_.source[0], 0);
  }
  inst_.sourceCount = 1;
  if (access.addressFromM0())
    operands_.readScalar(kM0, 1, 0);
  bool hasData = row().use == Use::Store || (row().use == Use::Atomic && !access.counter) ||
                 (row().use == Use::Exchange && access.second);
  if (hasData) {
    inst_.source[inst_.sourceCount++] = operands_.vector(bits(high(), 8, 8), words, accumulator);
    operands_.read(inst_.source[1], 1);
  }
  if (access.second && row().use != Use::Exchange) {
    inst_.source[inst_.sourceCount++] = operands_.vector(bits(high(), 16, 8), words, accumulator);
    operands_.read(inst_.source[2], 2);
  }
  if (row().use != Use::Store && (row().use != Use::Atomic || access.returns)) {
    inst_.destination = operands_.vector(bits(high(), 24, 8), words * access.count, accumulator);
    operands_.write(inst_.destination);
  }
  return true;
}

void Decoding::memoryData(u32 code, u32 returnCode, bool accumulator, int dataIndex) {
  const Access &access = row().access;
  int words = std::max(1, access.bytes / 4);
  if (row().use == Use::Load) {
    inst_.destination = operands_.vector(returnCode, words, accumulator);
    operands_.write(inst_.destination);
  } else if (row().use != Use::LdsDma) {
    inst_.source[dataIndex] = operands_.vector(code, words * (access.second ? 2 : 1), accumulator);
    operands_.read(inst_.source[dataIndex], 2);
    if (row().use == Use::Atomic && inst_.sc0) {
      inst_.destination = operands_.vector(returnCode, words, accumulator);
      operands_.write(inst_.destination);
    }
  }
}

bool Decoding::buffer(bool typed) {
  if (row().use == Use::Cache) {
    inst_.sc0 = bits(low(), 14, 1);
    inst_.sc1 = bits(low(), 15, 1);
    return true;
  }
  inst_.readsExec = true;
  inst_.immediate = static_cast<i32>(bits(low(), 0, 12));
  inst_.offen = bits(low(), 12, 1);
  inst_.idxen = bits(low(), 13, 1);
  inst_.sc0 = bits(low(), 14, 1);
  if (typed) {
    inst_.dataFormat = static_cast<u8>(bits(low(), 19, 4));
    inst_.numberFormat = static_cast<u8>(bits(low(), 23, 3));
    inst_.sc1 = bits(high(), 21, 1);
    inst_.nt = bits(high(), 22, 1);
  } else {
    inst_.sc1 = bits(low(), 15, 1);
    inst_.lds = bits(low(), 16, 1);
    inst_.nt = bits(low(), 17, 1);
  }
  bool accumulator = bits(high(), 23, 1);
  if (inst_.lds && (row().use != Use::Load || row().access.half || row().access.components > 1 ||
                    (row().access.bytes > 4 && !context_.gfx950) || row().access.bytes == 8))
    return false;
  int addressWords = inst_.offen + inst_.idxen;
  inst_.sourceCount = 4;
  if (addressWords) {
    inst_.source[0] = operands_.vector(bits(high(), 0, 8), addressWords, false);
    operands_.read(inst_.source[0], 0);
  }
  inst_.source[1] = operands_.scalarWords(bits(high(), 16, 5) * 4, 4);
  operands_.read(inst_.source[1], 1);
  inst_.source[3] = operands_.source(bits(high(), 24, 8), Type::B32);
  operands_.read(inst_.source[3], 3);
  u32 data = bits(high(), 8, 8);
  if (inst_.lds)
    operands_.readScalar(kM0, 1, 3);
  else
    memoryData(data, data, accumulator, 2);
  return true;
}

bool Decoding::flat(Format format) {
  inst_.readsExec = true;
  inst_.immediate = signedBits(low(), 0, 13);
  inst_.sc0 = bits(low(), 16, 1);
  inst_.nt = bits(low(), 17, 1);
  inst_.sc1 = bits(low(), 25, 1);
  bool accumulator = bits(high(), 23, 1);
  u32 scalarCode = bits(high(), 16, 7);
  bool hasScalar = scalarCode != 0x7f;
  inst_.sourceCount = 3;
  if (format == Format::Scratch) {
    inst_.offen = bits(low(), 13, 1);
    if (inst_.offen) {
      inst_.source[0] = operands_.vector(bits(high(), 0, 8), 1, false);
      operands_.read(inst_.source[0], 0);
    }
    if (hasScalar)
      inst_.source[1] = operands_.source(scalarCode, Type::B32);
  } else {
    bool base = format == Format::Global && hasScalar;
    if (format == Format::Flat)
      inst_.immediate = static_cast<i32>(bits(low(), 0, 13));
    inst_.source[0] = operands_.vector(bits(high(), 0, 8), base ? 1 : 2, false);
    operands_.read(inst_.source[0], 0);
    if (base)
      inst_.source[1] = operands_.source(scalarCode, Type::B64);
  }
  operands_.read(inst_.source[1], 1);
  if (row().use == Use::LdsDma)
    operands_.readScalar(kM0, 1, 3);
  memoryData(bits(high(), 8, 8), bits(high(), 24, 8), accumulator, 2);
  return true;
}

} // namespace wavesmith::emulator
