#pragma once
// Types, memory access and literals of generated programs. Compiled freestanding, for amdgcn and
// for the host; everything here must mean the same on both.

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned;
using i64 = long;
using u64 = unsigned long;
using f16 = _Float16;
using bf16 = __bf16;
using f32 = float;
using f64 = double;

template <class E, int N> using Vec = E __attribute__((ext_vector_type(N)));

#define FOR_EACH_ELEMENT(X)                                                                        \
  X(i8) X(u8) X(i16) X(u16) X(i32) X(u32) X(i64) X(u64) X(f16) X(bf16) X(f32) X(f64)
#define NAME_VECTORS(E)                                                                            \
  using E##x2 = Vec<E, 2>;                                                                         \
  using E##x3 = Vec<E, 3>;                                                                         \
  using E##x4 = Vec<E, 4>;                                                                         \
  using E##x8 = Vec<E, 8>;                                                                         \
  using E##x16 = Vec<E, 16>;
FOR_EACH_ELEMENT(NAME_VECTORS)

#ifdef __AMDGCN__
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define CONSTANT __attribute__((address_space(4)))
#define LDS_ARRAY(name, bytes)                                                                     \
  [[clang::loader_uninitialized]] __attribute__((aligned(16))) static LDS u8 name[bytes]
#else
#define GLOBAL
#define LDS
#define CONSTANT
#define LDS_ARRAY(name, bytes) __attribute__((aligned(16))) static u8 name[bytes]
#endif
#define INLINE __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

template <class V> struct Shape {
  using Element = V;
  static constexpr int width = 1;
};
template <class E, int N> struct Shape<E __attribute__((ext_vector_type(N)))> {
  using Element = E;
  static constexpr int width = N;
};
template <class V> using ElementOf = typename Shape<V>::Element;
template <class V> inline constexpr int kWidth = Shape<V>::width;

template <class V, class E, int N> struct Rebind {
  using Type = Vec<E, N>;
};
template <class V, class E> struct Rebind<V, E, 1> {
  using Type = E;
};
template <class V, class E> using WithElement = typename Rebind<V, E, kWidth<V>>::Type;

template <class E> inline constexpr bool kIsFloat = E(0.5f) != E(0);
template <class E> inline constexpr bool kIsSigned = E(-1) < E(0);
template <class E> inline constexpr u32 kBits = sizeof(E) * 8;

/// A value from its bits; the way to write infinities, the least subnormal and the like.
template <class E> INLINE inline E literal(u64 bits) {
  if constexpr (sizeof(E) == 1)
    return __builtin_bit_cast(E, u8(bits));
  else if constexpr (sizeof(E) == 2)
    return __builtin_bit_cast(E, u16(bits));
  else if constexpr (sizeof(E) == 4)
    return __builtin_bit_cast(E, u32(bits));
  else
    return __builtin_bit_cast(E, bits);
}

template <u32 Bytes> struct UnsignedOf;
template <> struct UnsignedOf<2> {
  using Type = u16;
};
template <> struct UnsignedOf<4> {
  using Type = u32;
};
template <> struct UnsignedOf<8> {
  using Type = u64;
};

/// The payload and the sign of a NaN are free: whatever shows bits passes through here. By
/// integers: the compiler may leave out a choice between NaNs.
template <class V> INLINE inline V tame(V x) {
  using E = ElementOf<V>;
  if constexpr (!kIsFloat<E>) {
    return x;
  } else {
    using U = typename UnsignedOf<sizeof(E)>::Type;
    using Bits = WithElement<V, U>;
    constexpr U kInfinity = sizeof(E) == 8      ? U(0x7ff0000000000000)
                            : sizeof(E) == 4    ? U(0x7f800000)
                            : __is_same(E, f16) ? U(0x7c00)
                                                : U(0x7f80);
    constexpr U kNan = kInfinity | kInfinity >> 1;
    const Bits bits = __builtin_bit_cast(Bits, x), magnitude = bits & Bits(U(~U(0)) >> 1);
    return __builtin_bit_cast(V, magnitude > Bits(kInfinity) ? Bits(kNan) : bits);
  }
}

/// No constant to the compiler: 4, 8, 16 or 32 bytes.
template <class V> INLINE inline V opaque(V x) {
#ifdef __AMDGCN__
  if constexpr (sizeof(V) == 4) {
    u32 words = __builtin_bit_cast(u32, x);
    asm("" : "+v"(words));
    return __builtin_bit_cast(V, words);
  } else {
    Vec<u32, int(sizeof(V) / 4)> words = __builtin_bit_cast(Vec<u32, int(sizeof(V) / 4)>, x);
    asm("" : "+v"(words));
    return __builtin_bit_cast(V, words);
  }
#else
  return x;
#endif
}

template <class V> INLINE inline ElementOf<V> element(V x, u32 index) {
  if constexpr (kWidth<V> == 1)
    return x;
  else
    return x[index % kWidth<V>];
}
template <class V> INLINE inline V withElement(V x, u32 index, ElementOf<V> value) {
  if constexpr (kWidth<V> == 1)
    x = value;
  else
    x[index % kWidth<V>] = value;
  return x;
}

/// Memory of any address space at an address that is a multiple of A. Three elements are moved one
/// by one: the compiler would write a fourth, undefined one.
#define DEFINE_ACCESS(SPACE)                                                                       \
  template <class V, int A> INLINE inline V load(const SPACE u8 *p) {                              \
    using E = ElementOf<V>;                                                                        \
    if constexpr (kWidth<V> == 3) {                                                                \
      constexpr int kA = A < int(sizeof(E)) ? A : int(sizeof(E));                                  \
      return V{load<E, A>(p), load<E, kA>(p + sizeof(E)), load<E, kA>(p + 2 * sizeof(E))};         \
    } else {                                                                                       \
      typedef V Unaligned __attribute__((aligned(A)));                                             \
      return tame(*(const SPACE Unaligned *)p);                                                    \
    }                                                                                              \
  }                                                                                                \
  template <class V, int A> INLINE inline void store(SPACE u8 *p, V value) {                       \
    using E = ElementOf<V>;                                                                        \
    if constexpr (kWidth<V> == 3) {                                                                \
      constexpr int kA = A < int(sizeof(E)) ? A : int(sizeof(E));                                  \
      store<E, A>(p, value[0]);                                                                    \
      store<E, kA>(p + sizeof(E), value[1]);                                                       \
      store<E, kA>(p + 2 * sizeof(E), value[2]);                                                   \
    } else {                                                                                       \
      typedef V Unaligned __attribute__((aligned(A)));                                             \
      *(SPACE Unaligned *)p = tame(value);                                                         \
    }                                                                                              \
  }
DEFINE_ACCESS()
#ifdef __AMDGCN__
DEFINE_ACCESS(GLOBAL)
DEFINE_ACCESS(CONSTANT)
DEFINE_ACCESS(LDS)
#endif

struct alignas(16) Table {
  u8 bytes[512];
};
consteval Table makeTable() {
  Table table = {};
  u32 x = 1;
  for (u8 &byte : table.bytes) {
    x = x * 1664525 + 1013904223;
    byte = u8(x >> 24);
  }
  return table;
}
static constexpr CONSTANT Table kTable = makeTable();
