#pragma once
// The formats of typed buffer access (CDNA3 ISA 9.1.2): how the fields of a memory element become
// registers and back. Pure.

#include "emulator/isa/Types.h"

namespace wavesmith::emulator {

/// A data format (CDNA3 ISA 9.1.2, DFMT): its components' bits from the lowest of the element up.
struct DataFormat {
  u8 components = 0; ///< 0: invalid or reserved
  u8 bits[4] = {};

  unsigned bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8u; }
};
const DataFormat &dataFormat(unsigned dfmt);

enum class NumberFormat : u8 { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Reserved, Float };

/// The number that the field of an element means, as a register holds it: a float32 or an integer.
u32 decodeComponent(u32 field, unsigned bits, NumberFormat format);
/// The other way; numbers out of range take the nearest in range.
u32 encodeComponent(u32 value, unsigned bits, NumberFormat format);
/// Registers of 16 bits hold halves of float formats and the low bits of integers.
u32 narrowComponent(u32 value, NumberFormat format);
u32 widenComponent(u32 value, NumberFormat format);

/// How one access is to be converted: fixed at issue.
struct TypedAccess {
  u8 dfmt = 0;
  NumberFormat number = NumberFormat::Uint;
  u8 select[4] = {4, 5, 6, 7}; ///< per component: 0 zero, 1 one, 4 to 7 a component of the element
};

} // namespace wavesmith::emulator
