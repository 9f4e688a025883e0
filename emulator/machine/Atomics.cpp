#include "emulator/machine/Atomics.h"

#include <bit>

namespace wavesmith::emulator {
namespace {

#include "emulator/lanes/Float.h"

/// Keeps the sign of a denormal only.
template <typename F> F flushed(F x) {
  auto bits = bitsOf(x);
  constexpr int kMantissa = sizeof(F) == 4 ? 23 : 52;
  constexpr auto kSign = decltype(bits){1} << (8 * sizeof(F) - 1);
  return (bits & ~kSign) >> kMantissa ? x : cast<F>(static_cast<decltype(bits)>(bits & kSign));
}

/// The one of the two that wins, as it was: only the comparison sees flushed denormals.
template <typename F> F select(bool least, F a, F b, bool flush) {
  F x = flush ? flushed(a) : a, y = flush ? flushed(b) : b;
  F chosen = least ? minNumber(x, y, true) : maxNumber(x, y, true);
  if (isNan(chosen))
    return chosen;
  return bitsOf(chosen) == bitsOf(x) ? a : b;
}

template <typename U, typename S, typename F>
U apply(AtomicKind kind, U old, U data, U compare, Flush flush) {
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
  case AtomicKind::AddFloat: {
    F a = cast<F>(old), b = cast<F>(data);
    F sum = flush.inputs ? flushed(a) + flushed(b) : a + b;
    return cast<U>(flush.outputs ? flushed(sum) : sum);
  }
  case AtomicKind::MinFloat:
  case AtomicKind::MaxFloat:
    return cast<U>(select(kind == AtomicKind::MinFloat, cast<F>(old), cast<F>(data), flush.inputs));
  case AtomicKind::MaskOr:
    return (old & ~compare) | data;
  case AtomicKind::CompareSwapFloat:
    if (flush.inputs)
      return flushed(cast<F>(old)) == flushed(cast<F>(compare)) ? cast<U>(flushed(cast<F>(data)))
                                                                : old;
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

u32 packedAdd(u32 a, u32 b, bool bf16, Flush flush) {
  u32 exponent = bf16 ? 0x7f80 : 0x7c00, result = 0;
  auto maybeFlushed = [=](u32 x, bool flushes) {
    return flushes && !(x & exponent) ? x & 0x8000 : x;
  };
  for (int shift = 0; shift < 32; shift += 16) {
    u32 x = maybeFlushed((a >> shift) & 0xffff, flush.inputs);
    u32 y = maybeFlushed((b >> shift) & 0xffff, flush.inputs);
    u32 sum =
        bf16 ? floatToBf16(bf16ToFloat(x) + bf16ToFloat(y)) & 0xffff
             : floatToHalf(halfToFloat({static_cast<u16>(x)}) + halfToFloat({static_cast<u16>(y)}))
                   .bits;
    result |= maybeFlushed(sum, flush.outputs) << shift;
  }
  return result;
}

} // namespace

Flush ldsFlush(AtomicKind kind, int width, u32 mode) {
  bool packed = kind == AtomicKind::PackedAddHalf || kind == AtomicKind::PackedAddBf16;
  u32 keeps = mode >> (width == 8 || packed ? 6 : 4);
  if (kind == AtomicKind::AddFloat && width == 8)
    return {};
  return {!(keeps & 1), !(keeps & 2)};
}

u64 applyAtomic(AtomicKind kind, u64 old, u64 data, u64 compare, int width, Flush flush) {
  if (kind == AtomicKind::PackedAddHalf || kind == AtomicKind::PackedAddBf16)
    return packedAdd(static_cast<u32>(old), static_cast<u32>(data),
                     kind == AtomicKind::PackedAddBf16, flush);
  if (width == 8)
    return apply<u64, i64, double>(kind, old, data, compare, flush);
  return apply<u32, i32, float>(kind, static_cast<u32>(old), static_cast<u32>(data),
                                static_cast<u32>(compare), flush);
}

} // namespace wavesmith::emulator
