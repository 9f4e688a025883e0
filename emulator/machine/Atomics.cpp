#include "emulator/machine/Atomics.h"

#include <bit>

namespace wavesmith::emulator {
namespace {

#include "emulator/lanes/Float.h"

template <typename U, typename S, typename F> U apply(AtomicKind kind, U old, U data, U compare) {
  switch (kind) {
  case AtomicKind::Swap:
    return data;
  case AtomicKind::CompareSwap:
    return old == compare ? data : old;
  case AtomicKind::Add:
    return old + data;
  case AtomicKind::Sub:
    return old - data;
  case AtomicKind::ReverseSub:
    return data - old;
  case AtomicKind::MinSigned:
    return static_cast<S>(old) < static_cast<S>(data) ? old : data;
  case AtomicKind::MaxSigned:
    return static_cast<S>(old) > static_cast<S>(data) ? old : data;
  case AtomicKind::MinUnsigned:
    return old < data ? old : data;
  case AtomicKind::MaxUnsigned:
    return old > data ? old : data;
  case AtomicKind::And:
    return old & data;
  case AtomicKind::Or:
    return old | data;
  case AtomicKind::Xor:
    return old ^ data;
  case AtomicKind::Increment:
    return old >= data ? 0 : old + 1;
  case AtomicKind::Decrement:
    return old == 0 || old > data ? data : old - 1;
  case AtomicKind::AddFloat:
    return cast<U>(static_cast<F>(cast<F>(old) + cast<F>(data)));
  case AtomicKind::MinFloat:
    return cast<U>(minNumber(cast<F>(old), cast<F>(data), false));
  case AtomicKind::MaxFloat:
    return cast<U>(maxNumber(cast<F>(old), cast<F>(data), false));
  case AtomicKind::MaskOr:
    return (old & ~compare) | data;
  case AtomicKind::CompareSwapFloat:
    return cast<F>(old) == cast<F>(compare) ? data : old;
  case AtomicKind::Wrap:
    return old >= compare ? old - compare : old + data;
  case AtomicKind::ConditionalExchange: {
    U result = 0;
    for (unsigned shift = 0; shift < 8 * sizeof(U); shift += 32) {
      U word = (data >> shift) & 0xffffffff, keep = (old >> shift) & 0xffffffff;
      result |= (word & 0x80000000 ? word & 0x7fffffff : keep) << shift;
    }
    return result;
  }
  default:
    return old;
  }
}

u32 packedAdd(u32 a, u32 b, bool bf16) {
  u32 result = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    u32 x = (a >> shift) & 0xffff, y = (b >> shift) & 0xffff;
    u32 sum =
        bf16 ? floatToBf16(bf16ToFloat(x) + bf16ToFloat(y)) & 0xffff
             : floatToHalf(halfToFloat({static_cast<u16>(x)}) + halfToFloat({static_cast<u16>(y)}))
                   .bits;
    result |= sum << shift;
  }
  return result;
}

} // namespace

u64 applyAtomic(AtomicKind kind, u64 old, u64 data, u64 compare, int width) {
  if (kind == AtomicKind::PackedAddHalf || kind == AtomicKind::PackedAddBf16)
    return packedAdd(static_cast<u32>(old), static_cast<u32>(data),
                     kind == AtomicKind::PackedAddBf16);
  if (width == 8)
    return apply<u64, i64, double>(kind, old, data, compare);
  return apply<u32, i32, float>(kind, static_cast<u32>(old), static_cast<u32>(data),
                                static_cast<u32>(compare));
}

} // namespace wavesmith::emulator
