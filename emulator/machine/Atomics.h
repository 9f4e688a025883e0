#pragma once
// Read-modify-write functions shared by LDS, vector and scalar memory atomics.

#include <atomic>
#include <cstddef>

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

/// Which denormals count as zero.
struct Flush {
  bool inputs = false, outputs = false;
};
/// What MODE makes of an atomic in LDS; those in the L2 cache keep denormals.
Flush ldsFlush(AtomicKind kind, int width, u32 mode);

/// The new value; `width` is 4 or 8 bytes, `compare` is for CompareSwap.
u64 applyAtomic(AtomicKind kind, u64 old, u64 data, u64 compare, int width, Flush flush = {});

/// The same on memory that other threads of the host use too; gives the old value.
template <typename T>
T exchange(std::byte *bytes, AtomicKind kind, T data, T compare, Flush flush = {}) {
  std::atomic_ref<T> cell(*reinterpret_cast<T *>(bytes));
  T old = cell.load();
  while (!cell.compare_exchange_weak(
      old, static_cast<T>(applyAtomic(kind, old, data, compare, sizeof(T), flush))))
    ;
  return old;
}

} // namespace wavesmith::emulator
