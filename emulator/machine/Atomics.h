#pragma once
// Read-modify-write functions shared by LDS and memory atomics. Pure.

#include "emulator/isa/Types.h"

namespace wavesmith::emulator {

enum class AtomicKind : u8 {
  Swap,
  CompareSwap,
  Add,
  Sub,
  ReverseSub,
  MinSigned,
  MinUnsigned,
  MaxSigned,
  MaxUnsigned,
  And,
  Or,
  Xor,
  Increment,
  Decrement,
  AddFloat,
  MinFloat,
  MaxFloat,
  PackedAddHalf,
  PackedAddBf16,
  // LDS only; `compare` is the first data operand, `data` the second.
  MaskOr,              ///< (old & ~compare) | data
  CompareSwapFloat,    ///< equal as floats
  Wrap,                ///< old >= compare ? old - compare : old + data
  ConditionalExchange, ///< two dwords, each swapped when its top bit says so
};

/// The new value; `width` is 4 or 8 bytes, `compare` is for CompareSwap.
u64 applyAtomic(AtomicKind kind, u64 old, u64 data, u64 compare, int width);

} // namespace wavesmith::emulator
