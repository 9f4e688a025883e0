#include "emulator/machine/BufferFormat.h"

#include <algorithm>
#include <cmath>

namespace wavesmith::emulator {
namespace {

#include "emulator/lanes/Float.h"

/// Component fields lie from the low bits up in the reverse of the order in which the format's name
/// gives them (10_11_11 has red in the low 11 bits).
constexpr DataFormat kDataFormats[16] = {
    {},
    {1, {8}},
    {1, {16}},
    {2, {8, 8}},
    {1, {32}},
    {2, {16, 16}},
    {3, {11, 11, 10}},
    {3, {10, 11, 11}},
    {4, {2, 10, 10, 10}},
    {4, {10, 10, 10, 2}},
    {4, {8, 8, 8, 8}},
    {2, {32, 32}},
    {4, {16, 16, 16, 16}},
    {3, {32, 32, 32}},
    {4, {32, 32, 32, 32}},
    {},
};

bool isSigned(NumberFormat format) {
  return format == NumberFormat::Snorm || format == NumberFormat::Sscaled ||
         format == NumberFormat::Sint;
}
bool isInteger(NumberFormat format) {
  return format == NumberFormat::Uint || format == NumberFormat::Sint;
}

i32 signExtend(u32 field, unsigned bits) {
  return static_cast<i32>(field << (32 - bits)) >> (32 - bits);
}

/// Unsigned floats of 10 and 11 bits: five exponent bits like a half's, the rest mantissa.
u32 smallFloatBits(u32 field, unsigned bits) {
  return bitsOf(halfToFloat({static_cast<u16>(field << (15 - bits))}));
}
u32 toSmallFloat(float x, unsigned bits) {
  unsigned dropped = 15 - bits;
  if (isNan(x))
    return (1u << bits) - 1;
  // Negative numbers have no place; finite ones stay finite.
  if (x <= 0)
    return 0;
  u32 body = floatToHalfTowardZero(x).bits >> dropped;
  u32 infinity = 31u << (bits - 5);
  return std::isinf(x) ? infinity : std::min(body, infinity - 1);
}

} // namespace

const DataFormat &dataFormat(unsigned dfmt) { return kDataFormats[dfmt & 15]; }

u32 decodeComponent(u32 field, unsigned bits, NumberFormat format) {
  if (bits == 32)
    return field; // never converted
  auto largest = static_cast<float>((u64{1} << (isSigned(format) ? bits - 1 : bits)) - 1);
  switch (format) {
  case NumberFormat::Unorm:
    return bitsOf(static_cast<float>(field) / largest);
  case NumberFormat::Snorm:
    return bitsOf(std::max(static_cast<float>(signExtend(field, bits)) / largest, -1.0f));
  case NumberFormat::Uscaled:
    return bitsOf(static_cast<float>(field));
  case NumberFormat::Sscaled:
    return bitsOf(static_cast<float>(signExtend(field, bits)));
  case NumberFormat::Sint:
    return static_cast<u32>(signExtend(field, bits));
  case NumberFormat::Float:
    if (bits == 16)
      return bitsOf(halfToFloat({static_cast<u16>(field)}));
    return bits == 10 || bits == 11 ? smallFloatBits(field, bits) : field;
  default:
    return field;
  }
}

u32 encodeComponent(u32 value, unsigned bits, NumberFormat format) {
  if (bits == 32)
    return value;
  float x = floatOf(value);
  double largest = static_cast<double>((u64{1} << (isSigned(format) ? bits - 1 : bits)) - 1);
  // In double the products are exact, so there is one rounding.
  auto nearest = [&](double low, double high, double scale) {
    double clamped = isNan(x) ? 0 : std::min(std::max(double{x}, low), high);
    return static_cast<u32>(static_cast<i32>(std::nearbyint(clamped * scale)));
  };
  u32 field;
  switch (format) {
  case NumberFormat::Unorm:
    field = nearest(0, 1, largest);
    break;
  case NumberFormat::Snorm:
    field = nearest(-1, 1, largest);
    break;
  case NumberFormat::Uscaled:
    field = nearest(0, largest, 1);
    break;
  case NumberFormat::Sscaled:
    field = nearest(-largest - 1, largest, 1);
    break;
  case NumberFormat::Sint: {
    i32 limit = static_cast<i32>((1u << (bits - 1)) - 1);
    field = static_cast<u32>(std::clamp(static_cast<i32>(value), -limit - 1, limit));
    break;
  }
  case NumberFormat::Float:
    field = bits == 16                 ? floatToHalf(x).bits
            : bits == 10 || bits == 11 ? toSmallFloat(x, bits)
                                       : value;
    break;
  default:
    field = std::min(value, (1u << bits) - 1);
  }
  return field & ((1u << bits) - 1);
}

u32 narrowComponent(u32 value, NumberFormat format) {
  return isInteger(format) ? value & 0xffff : u32{floatToHalf(floatOf(value)).bits};
}
u32 widenComponent(u32 value, NumberFormat format) {
  if (format == NumberFormat::Sint)
    return static_cast<u32>(signExtend(value & 0xffff, 16));
  return format == NumberFormat::Uint ? value & 0xffff
                                      : bitsOf(halfToFloat({static_cast<u16>(value)}));
}

} // namespace wavesmith::emulator
