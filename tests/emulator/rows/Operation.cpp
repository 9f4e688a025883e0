#include "tests/emulator/rows/Operation.h"

#include <cmath>

#include "tests/emulator/conversion/ScalarModel.h"

namespace wavesmith::emulator::rows {

double number(Half half) { return model::decode(model::Format::F16, half.bits); }
Half half(double value) {
  return {
      static_cast<u16>(model::encode(model::Format::F16, value, model::Rounding::Nearest, false))};
}

const std::vector<u64> &edges(Type type) {
  static const std::vector<u64> kBits16 = {0,      1,      2,      15,     16,     17,
                                           0x7fff, 0x8000, 0x8001, 0xffff, 0x00ff, 0xff00};
  static const std::vector<u64> kHalf = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00,
                                         0xbc00, 0x3bff, 0x3800, 0x3e00, 0xc100, 0x7bff, 0xfbff,
                                         0x7c00, 0xfc00, 0x7e00, 0x7d00, 0xfe01, 0x4248};
  static const std::vector<u64> kBits32 = {
      0,        1,        2,          15,         31,         32,         33,         63,
      64,       0x7f,     0x80,       0xff,       0x7fff,     0x8000,     0xffff,     0x7fffff,
      0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xff00ff00, 0xaaaaaaaa};
  static const std::vector<u64> kFloat = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
      0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x3f000000, 0xbf000000, 0x3fc00000,
      0xc0200000, 0x4b000001, 0x4f000000, 0xcf000000, 0x4f800000, 0x7f7fffff, 0xff7fffff,
      0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00001};
  static const std::vector<u64> kBits64 = {0,
                                           1,
                                           31,
                                           32,
                                           63,
                                           64,
                                           0xffffffff,
                                           0x80000000,
                                           0x100000000,
                                           0x7fffffffffffffff,
                                           0x8000000000000000,
                                           0x8000000000000001,
                                           0xffffffffffffffff,
                                           0xffffffff80000000,
                                           0x5555555555555555};
  static const std::vector<u64> kDouble = {
      0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
      0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fefffffffffffff,
      0x3fe0000000000000, 0xbfe0000000000000, 0x3ff8000000000000, 0xc004000000000000,
      0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000, 0x41efffffffe00000,
      0x4330000000000001, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
      0xfff0000000000000, 0x7ff8000000000000, 0x7ff4000000000001};
  switch (type) {
  case Type::B16:
    return kBits16;
  case Type::F16:
    return kHalf;
  case Type::F32:
    return kFloat;
  case Type::B64:
    return kBits64;
  case Type::F64:
    return kDouble;
  default:
    return kBits32;
  }
}

u64 draw(Type type, Random &random) {
  const std::vector<u64> &special = edges(type);
  switch (random() % 4) {
  case 0:
  case 1:
    return special[random() % special.size()];
  case 2: { // numbers between 2^-12 and 2^12
    u64 bits = random() | u64{random()} << 32;
    auto exponent = static_cast<u64>(static_cast<int>(random() % 25) - 12);
    if (type == Type::F32)
      return (bits & 0x807fffff) | ((127 + exponent) << 23 & 0x7f800000);
    if (type == Type::F64)
      return (bits & 0x800fffffffffffff) | ((1023 + exponent) << 52 & 0x7ff0000000000000);
    if (type == Type::F16)
      return (bits & 0x83ff) | ((15 + exponent) << 10 & 0x7c00);
    return type == Type::B64 ? bits : bits & (bitsOf(type) == 16 ? 0xffff : 0xffffffff);
  }
  default: {
    u64 bits = random() | u64{random()} << 32;
    return bitsOf(type) == 64 ? bits : bits & ((u64{1} << bitsOf(type)) - 1);
  }
  }
}

bool isNanBits(Type type, u64 bits) {
  switch (type) {
  case Type::F16:
    return (bits & 0x7fff) > 0x7c00;
  case Type::F32:
    return (bits & 0x7fffffff) > 0x7f800000;
  case Type::F64:
    return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
  default:
    return false;
  }
}

bool agrees(const Operation &op, u64 actual, u64 expected) {
  if (isNanBits(op.result, expected))
    return isNanBits(op.result, actual);
  if (actual == expected)
    return true;
  if (op.ulps == 0 || isNanBits(op.result, actual))
    return false;
  // Floats of one sign are ordered like their bits.
  u64 sign = u64{1} << (bitsOf(op.result) - 1);
  u64 apart = actual > expected ? actual - expected : expected - actual;
  return !((actual ^ expected) & sign) && static_cast<double>(apart) <= op.ulps;
}

} // namespace wavesmith::emulator::rows
