#pragma once
// Operations over elements and vectors that C++ does not spell, or that are undefined for some
// inputs: here every input has one result, on every machine.

#include "tests/differential/prelude/Types.h"

template <class V, class F> INLINE inline V mapElements(F f) {
  if constexpr (kWidth<V> == 1) {
    return f(0);
  } else {
    V result = {};
    for (int i = 0; i < kWidth<V>; ++i)
      result[i] = f(i);
    return result;
  }
}

// Conversions. Out of range saturates and NaN is 0 (-fno-strict-float-cast-overflow, which
// __builtin_convertvector does not follow). Integers
// wider than 16 bits go to half and bfloat16 by way of float32, because LLVM does so without being
// asked.
template <class To, class From> INLINE inline To convertDirect(From x) {
  if constexpr (kWidth<From> == 1)
    return To(x);
  else if constexpr (kIsFloat<ElementOf<From>> && !kIsFloat<ElementOf<To>>)
    return mapElements<To>([&](int i) INLINE { return ElementOf<To>(x[i]); });
  else
    return __builtin_convertvector(x, To);
}
template <class To, class From> INLINE inline To convert(From x) {
  using F = ElementOf<From>;
  using T = ElementOf<To>;
  constexpr bool kWide = sizeof(F) > 2 && !kIsFloat<F> && kIsFloat<T> && sizeof(T) == 2;
  // C++ has no conversion between the two 16-bit formats.
  constexpr bool kHalves = kIsFloat<F> && kIsFloat<T> && sizeof(F) == 2 && sizeof(T) == 2;
  if constexpr (kWide || (kHalves && !__is_same(F, T)))
    return convertDirect<To>(convertDirect<WithElement<From, f32>>(x));
  else
    return convertDirect<To>(x);
}

/// The same bits as another type of the same size.
template <class To, class From> INLINE inline To bits(From x) {
  return tame(__builtin_bit_cast(To, tame(x)));
}

template <class To, class From> INLINE inline To resize(From x) {
  return mapElements<To>([&](int i) INLINE { return element(x, u32(i)); });
}

template <class V> INLINE inline V safeDivisor(V y) {
  return ((y == V(0)) | (y == V(-1))) ? V(3) : y;
}
template <class V> INLINE inline V quotient(V x, V y) {
  if constexpr (kIsFloat<ElementOf<V>>)
    return x / y;
  else
    return x / safeDivisor(y);
}
template <class V> INLINE inline V remainder(V x, V y) {
  if constexpr (kIsFloat<ElementOf<V>>)
    return __builtin_elementwise_fmod(x, y);
  else
    return x % safeDivisor(y);
}

template <class V> INLINE inline V shiftLeft(V x, V y) {
  return x << (y & V(kBits<ElementOf<V>> - 1));
}
template <class V> INLINE inline V shiftRight(V x, V y) {
  return x >> (y & V(kBits<ElementOf<V>> - 1));
}
template <class V> INLINE inline V funnelLeft(V x, V y, V z) {
  return __builtin_elementwise_fshl(x, y, z);
}
template <class V> INLINE inline V funnelRight(V x, V y, V z) {
  return __builtin_elementwise_fshr(x, y, z);
}
template <class V> INLINE inline V rotate(V x, V y) { return __builtin_elementwise_fshl(x, x, y); }
template <class V> INLINE inline V countLeadingZeros(V x) {
  return __builtin_elementwise_clzg(x, V(kBits<ElementOf<V>>));
}
template <class V> INLINE inline V countTrailingZeros(V x) {
  return __builtin_elementwise_ctzg(x, V(kBits<ElementOf<V>>));
}
template <class V> INLINE inline V swapBytes(V x) {
  using E = ElementOf<V>;
  return mapElements<V>([&](int i) INLINE {
    const E e = element(x, u32(i));
    if constexpr (sizeof(E) == 1)
      return e;
    else if constexpr (sizeof(E) == 2)
      return E(__builtin_bswap16(u16(e)));
    else if constexpr (sizeof(E) == 4)
      return E(__builtin_bswap32(u32(e)));
    else
      return E(__builtin_bswap64(u64(e)));
  });
}
template <class V> INLINE inline V multiplyHigh(V x, V y) {
  using E = ElementOf<V>;
  return mapElements<V>([&](int i) INLINE {
    const E a = element(x, u32(i)), b = element(y, u32(i));
    if constexpr (sizeof(E) == 8)
      return kIsSigned<E> ? E((__int128(a) * __int128(b)) >> 64)
                          : E((static_cast<unsigned __int128>(a) * b) >> 64);
    else
      return E((i64(a) * i64(b)) >> kBits<E>);
  });
}
template <class V> INLINE inline V middle(V x, V y, V z) {
  return __builtin_elementwise_max(__builtin_elementwise_min(x, y),
                                   __builtin_elementwise_min(__builtin_elementwise_max(x, y), z));
}

// The sign of a zero that minNum and maxNum return is free. (A sum with +0 would do, were it not
// that LLVM 22 turns -x + 0 of bfloat16 into -x.)
template <class V> INLINE inline V plainZero(V x) { return x == V(0) ? V(0) : x; }
template <class V> INLINE inline V minNumber(V x, V y) {
  return plainZero(__builtin_elementwise_minnum(x, y));
}
template <class V> INLINE inline V maxNumber(V x, V y) {
  return plainZero(__builtin_elementwise_maxnum(x, y));
}
template <class V> INLINE inline V copySign(V x, V y) {
  return __builtin_elementwise_copysign(x, y == y ? y : V(ElementOf<V>(1)));
}

/// One rounding. The host's library has no half: the sum in float64, rounded to odd, is narrowed.
INLINE inline f16 fusedHalf(f16 x, f16 y, f16 z) {
#ifdef __AMDGCN__
  return __builtin_elementwise_fma(x, y, z);
#else
  const f64 product = f64(x) * f64(y), addend = z, sum = product + addend;
  const f64 part = sum - product, rest = (product - (sum - part)) + (addend - part);
  u64 pattern = __builtin_bit_cast(u64, sum);
  if (rest != 0 && !(pattern & 1) && sum - sum == 0)
    pattern += (rest > 0) == (sum > 0) ? 1 : -1;
  return f16(__builtin_bit_cast(f64, pattern));
#endif
}
template <class V> INLINE inline V fused(V x, V y, V z) {
  if constexpr (__is_same(ElementOf<V>, f16))
    return mapElements<V>([&](int i) INLINE {
      return fusedHalf(element(x, u32(i)), element(y, u32(i)), element(z, u32(i)));
    });
  else
    return __builtin_elementwise_fma(x, y, z);
}
template <class V> INLINE inline V scaleByPower(V x, i32 exponent) {
  return __builtin_elementwise_ldexp(x, WithElement<V, i32>(exponent % 300));
}

template <class V> INLINE inline ElementOf<V> sumElements(V x) {
  ElementOf<V> sum = element(x, 0);
  for (u32 i = 1; i < kWidth<V>; ++i)
    sum = sum + element(x, i);
  return sum;
}
template <class V> INLINE inline ElementOf<V> dot(V x, V y) { return sumElements(V(x * y)); }

/// An offset into the input buffer or the table that is a multiple of A and leaves room for a
/// value.
template <int A> INLINE inline u32 inputAt(u32 x) { return x % (8192 - 128) / A * A; }
template <int A> INLINE inline u32 tableAt(u32 x) { return x % (512 - 128) / A * A; }
template <int A> INLINE inline u32 ownAt(u32 x) { return x % 128 / A * A; }
