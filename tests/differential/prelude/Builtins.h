#pragma once
// Instructions of one lane that clang offers as builtins: the builtin on the device, the ISA's
// pseudocode in C++ on the host. Inputs that the pseudocode leaves open are kept out by `finite`
// and the like, on both sides.

#include "tests/differential/prelude/Ops.h"

namespace amd {

#ifdef __AMDGCN__
#define DEVICE_OR_HOST(DEVICE, HOST) DEVICE
#else
#define DEVICE_OR_HOST(DEVICE, HOST) HOST
#endif

INLINE inline f32 finite(f32 x) { return x - x == 0.0f ? x : 1.5f; }
INLINE inline f64 finite(f64 x) { return x - x == 0.0 ? x : 1.5; }
INLINE inline u32 byteOf(u64 x, u32 i) { return u32(x >> 8 * i) & 0xff; }
INLINE inline u32 distance(u32 x, u32 y) { return x > y ? x - y : y - x; }
template <u32 Width> INLINE inline i32 signedField(u32 x, u32 i) {
  return i32(x << (32 - Width - Width * i)) >> (32 - Width);
}
template <u32 Width> INLINE inline u32 field(u32 x, u32 i) {
  return (x >> Width * i) & ((1u << Width) - 1);
}

inline u32 hostPermute(u32 high, u32 low, u32 select) {
  const u64 pool = low | u64(high) << 32;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 s = byteOf(select, i);
    const u32 byte = s < 8     ? byteOf(pool, s)
                     : s < 12  ? (byteOf(pool, 2 * (s - 8) + 1) & 0x80 ? 0xffu : 0)
                     : s == 12 ? 0
                               : 0xff;
    result |= byte << 8 * i;
  }
  return result;
}
INLINE inline u32 permute(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_perm(x, y, z), hostPermute(x, y, z));
}
INLINE inline u32 alignByte(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_alignbyte(x, y, z),
                        u32((y | u64(x) << 32) >> 8 * (z & 3)));
}
INLINE inline u32 alignBit(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_alignbit(x, y, z), u32((y | u64(x) << 32) >> (z & 31)));
}

inline u32 hostSad(u64 x, u32 y, bool masked) {
  u32 sum = 0;
  for (u32 i = 0; i < 4; ++i)
    if (!masked || byteOf(y, i))
      sum += distance(byteOf(x, i), byteOf(y, i));
  return sum;
}
INLINE inline u32 sadBytes(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_sad_u8(x, y, z), hostSad(x, y, false) + z);
}
INLINE inline u32 sadHigh(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_sad_hi_u8(x, y, z), (hostSad(x, y, false) << 16) + z);
}
INLINE inline u32 sadWords(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_sad_u16(x, y, z),
                        distance(x & 0xffff, y & 0xffff) + distance(x >> 16, y >> 16) + z);
}
INLINE inline u32 sadMasked(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_msad_u8(x, y, z), hostSad(x, y, true) + z);
}
inline u64 hostQuadSad(u64 x, u32 y, u64 z, bool masked) {
  u64 result = 0;
  for (u32 i = 0; i < 4; ++i)
    result |= u64(u16(hostSad(x >> 8 * i, y, masked) + u16(z >> 16 * i))) << 16 * i;
  return result;
}
// Sums that leave 16 bits are kept out.
INLINE inline u64 quadSad(u64 x, u32 y, u64 z) {
  z &= 0x7fff7fff7fff7fff;
  return DEVICE_OR_HOST(__builtin_amdgcn_qsad_pk_u16_u8(x, y, z), hostQuadSad(x, y, z, false));
}
INLINE inline u64 quadSadMasked(u64 x, u32 y, u64 z) {
  z &= 0x7fff7fff7fff7fff;
  return DEVICE_OR_HOST(__builtin_amdgcn_mqsad_pk_u16_u8(x, y, z), hostQuadSad(x, y, z, true));
}
inline u32x4 hostWideSad(u64 x, u32 y, u32x4 z) {
  for (u32 i = 0; i < 4; ++i)
    z[i] += hostSad(x >> 8 * i, y, true);
  return z;
}
INLINE inline u32x4 wideSad(u64 x, u32 y, u32x4 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_mqsad_u32_u8(x, y, z), hostWideSad(x, y, z));
}
inline u32 hostLerp(u32 x, u32 y, u32 z) {
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i)
    result |= ((byteOf(x, i) + byteOf(y, i) + (byteOf(z, i) & 1)) >> 1) << 8 * i;
  return result;
}
INLINE inline u32 lerp(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_lerp(x, y, z), hostLerp(x, y, z));
}
INLINE inline u32 extractBits(u32 x, u32 offset, u32 width) {
  return DEVICE_OR_HOST(__builtin_amdgcn_ubfe(x, offset & 31, width & 31),
                        (x >> (offset & 31)) & ((1u << (width & 31)) - 1));
}
inline i32 hostSignedBits(u32 x, u32 offset, u32 width) {
  return width ? i32(((x >> offset) & ((1u << width) - 1)) << (32 - width)) >> (32 - width) : 0;
}
INLINE inline i32 extractSigned(i32 x, u32 offset, u32 width) {
  // Past the top the sign is that of the field's own top bit, which is off.
  offset &= 15, width &= 15;
  return DEVICE_OR_HOST(__builtin_amdgcn_sbfe(x, offset, width),
                        hostSignedBits(u32(x), offset, width));
}

INLINE inline i64 clampTo(i64 x, i64 low, i64 high) { return x < low ? low : x > high ? high : x; }
template <u32 Width> inline i32 hostSignedDot(u32 x, u32 y, i32 z, bool clamp) {
  i64 sum = z;
  for (u32 i = 0; i < 32 / Width; ++i)
    sum += i64(signedField<Width>(x, i)) * signedField<Width>(y, i);
  return i32(clamp ? clampTo(sum, -0x80000000ll, 0x7fffffff) : sum);
}
template <u32 Width> inline u32 hostDot(u32 x, u32 y, u32 z, bool clamp) {
  u64 sum = z;
  for (u32 i = 0; i < 32 / Width; ++i)
    sum += u64(field<Width>(x, i)) * field<Width>(y, i);
  return u32(clamp && sum > 0xffffffff ? 0xffffffff : sum);
}
template <bool Clamp> INLINE inline i32 dotBytes(u32 x, u32 y, i32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_sdot4(i32(x), i32(y), z, Clamp),
                        hostSignedDot<8>(x, y, z, Clamp));
}
template <bool Clamp> INLINE inline u32 dotUnsignedBytes(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_udot4(x, y, z, Clamp), hostDot<8>(x, y, z, Clamp));
}
template <bool Clamp> INLINE inline i32 dotNibbles(u32 x, u32 y, i32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_sdot8(i32(x), i32(y), z, Clamp),
                        hostSignedDot<4>(x, y, z, Clamp));
}
template <bool Clamp> INLINE inline u32 dotUnsignedNibbles(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(__builtin_amdgcn_udot8(x, y, z, Clamp), hostDot<4>(x, y, z, Clamp));
}
template <bool Clamp> INLINE inline i32 dotWords(u32 x, u32 y, i32 z) {
  return DEVICE_OR_HOST(
      __builtin_amdgcn_sdot2(__builtin_bit_cast(i16x2, x), __builtin_bit_cast(i16x2, y), z, Clamp),
      hostSignedDot<16>(x, y, z, Clamp));
}
template <bool Clamp> INLINE inline u32 dotUnsignedWords(u32 x, u32 y, u32 z) {
  return DEVICE_OR_HOST(
      __builtin_amdgcn_udot2(__builtin_bit_cast(u16x2, x), __builtin_bit_cast(u16x2, y), z, Clamp),
      hostDot<16>(x, y, z, Clamp));
}

INLINE inline i16x2 packSigned(i32 x, i32 y) {
  return DEVICE_OR_HOST(__builtin_bit_cast(i16x2, __builtin_amdgcn_cvt_pk_i16(x, y)),
                        (i16x2{i16(clampTo(x, -32768, 32767)), i16(clampTo(y, -32768, 32767))}));
}
INLINE inline u16x2 packUnsigned(u32 x, u32 y) {
  return DEVICE_OR_HOST(__builtin_bit_cast(u16x2, __builtin_amdgcn_cvt_pk_u16(x, y)),
                        (u16x2{u16(x > 0xffff ? 0xffff : x), u16(y > 0xffff ? 0xffff : y)}));
}
/// Of a whole number, so that rounding does not matter.
INLINE inline u32 packByte(f32 x, u32 at, u32 old) {
  x = __builtin_elementwise_trunc(finite(x));
  return DEVICE_OR_HOST(__builtin_amdgcn_cvt_pk_u8_f32(x, at, old),
                        (old & ~(0xffu << 8 * (at & 3))) | u32(x < 0     ? 0
                                                               : x > 255 ? 255
                                                                         : x)
                                                               << 8 * (at & 3));
}
inline f16 hostTowardsZero(f32 x) {
  u16 nearest = __builtin_bit_cast(u16, f16(x));
  const f32 back = f32(__builtin_bit_cast(f16, nearest));
  if (x - x == 0.0f && __builtin_fabsf(back) > __builtin_fabsf(x))
    --nearest;
  return __builtin_bit_cast(f16, nearest);
}
INLINE inline f16x2 packTowardsZero(f32 x, f32 y) {
  return DEVICE_OR_HOST(__builtin_bit_cast(f16x2, __builtin_amdgcn_cvt_pkrtz(x, y)),
                        (f16x2{hostTowardsZero(x), hostTowardsZero(y)}));
}

INLINE inline f32 fraction(f32 x) {
  x = finite(x);
  const f32 below = 0x1.fffffep-1f, part = x - __builtin_elementwise_floor(x);
  return DEVICE_OR_HOST(__builtin_amdgcn_fractf(x), part > below ? below : part);
}
INLINE inline f64 fraction(f64 x) {
  x = finite(x);
  const f64 below = 0x1.fffffffffffffp-1, part = x - __builtin_elementwise_floor(x);
  return DEVICE_OR_HOST(__builtin_amdgcn_fract(x), part > below ? below : part);
}
inline i32 hostExponent(f64 x) {
  if (x == 0)
    return 0;
  i32 shift = 0;
  for (; __builtin_fabs(x) < 0x1p-1022; x *= 2)
    --shift;
  return i32(__builtin_bit_cast(u64, x) >> 52 & 0x7ff) - 1022 + shift;
}
INLINE inline i32 exponent(f32 x) {
  return DEVICE_OR_HOST(__builtin_amdgcn_frexp_expf(finite(x)), hostExponent(finite(x)));
}
INLINE inline i32 exponent(f64 x) {
  return DEVICE_OR_HOST(__builtin_amdgcn_frexp_exp(finite(x)), hostExponent(finite(x)));
}
INLINE inline f32 mantissa(f32 x) {
  x = finite(x);
  return DEVICE_OR_HOST(__builtin_amdgcn_frexp_mantf(x),
                        f32(__builtin_ldexp(f64(x), -hostExponent(x))));
}
INLINE inline f64 mantissa(f64 x) {
  x = finite(x);
  return DEVICE_OR_HOST(__builtin_amdgcn_frexp_mant(x), __builtin_ldexp(x, -hostExponent(x)));
}
inline bool hostClass(f32 x, u32 mask) {
  const u32 pattern = __builtin_bit_cast(u32, x), magnitude = pattern & 0x7fffffff;
  const bool negative = pattern >> 31;
  const u32 kind = magnitude > 0x7f800000    ? (magnitude & 0x400000 ? 1 : 0)
                   : magnitude == 0x7f800000 ? (negative ? 2 : 9)
                   : magnitude >= 0x800000   ? (negative ? 3 : 8)
                   : magnitude               ? (negative ? 4 : 7)
                                             : (negative ? 5 : 6);
  return mask >> kind & 1;
}
INLINE inline u32 classify(f32 x, u32 mask) {
  return DEVICE_OR_HOST(__builtin_amdgcn_classf(x, mask & 0x3ff), hostClass(x, mask));
}
INLINE inline f32 median(f32 x, f32 y, f32 z) {
  x = finite(x), y = finite(y), z = finite(z);
  const f32 result = DEVICE_OR_HOST(
      __builtin_amdgcn_fmed3f(x, y, z),
      __builtin_fmaxf(__builtin_fminf(x, y), __builtin_fminf(__builtin_fmaxf(x, y), z)));
  return plainZero(result);
}
/// Face, then the two coordinates and twice the axis of a cube map.
inline f32x4 hostCube(f32 x, f32 y, f32 z) {
  const f32 ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay)
    return z < 0 ? f32x4{5, -x, -y, 2 * z} : f32x4{4, x, -y, 2 * z};
  if (ay >= ax)
    return y < 0 ? f32x4{3, x, -z, 2 * y} : f32x4{2, x, z, 2 * y};
  return x < 0 ? f32x4{1, z, -y, 2 * x} : f32x4{0, -z, -y, 2 * x};
}
INLINE inline f32x4 cube(f32 x, f32 y, f32 z) {
  x = finite(x), y = finite(y), z = finite(z);
  return DEVICE_OR_HOST((f32x4{__builtin_amdgcn_cubeid(x, y, z), __builtin_amdgcn_cubesc(x, y, z),
                               __builtin_amdgcn_cubetc(x, y, z), __builtin_amdgcn_cubema(x, y, z)}),
                        hostCube(x, y, z));
}

// gfx950 has these; gfx942 computes the host's expression.

#ifdef __gfx950__
#define GFX950_OR_HOST(DEVICE, HOST) DEVICE
#else
#define GFX950_OR_HOST(DEVICE, HOST) HOST
#endif

template <u32 Truth> INLINE inline u32 hostAnyOfThree(u32 x, u32 y, u32 z) {
  u32 result = 0;
  for (u32 row = 0; row < 8; ++row)
    if (Truth >> row & 1)
      result |= (row & 4 ? x : ~x) & (row & 2 ? y : ~y) & (row & 1 ? z : ~z);
  return result;
}
template <u32 Truth> INLINE inline u32 anyOfThree(u32 x, u32 y, u32 z) {
  return GFX950_OR_HOST(__builtin_amdgcn_bitop3_b32(x, y, z, Truth),
                        hostAnyOfThree<Truth>(x, y, z));
}
INLINE inline u32 nextRandom(u32 x) {
  return GFX950_OR_HOST(__builtin_amdgcn_prng_b32(x), x << 1 ^ (x >> 31 ? 197u : 0));
}
INLINE inline u32 packShifted(i32 x, i32 y, u32 by) {
  return GFX950_OR_HOST(u16(__builtin_amdgcn_ashr_pk_i8_i32(x, y, by)),
                        u32(clampTo(x >> (by & 31), -128, 127) & 0xff) |
                            u32(clampTo(y >> (by & 31), -128, 127) & 0xff) << 8);
}

} // namespace amd
