// Vector integer and bit instructions (CDNA3 ISA 12.7 to 12.12; those of gfx950 alone: CDNA4 ISA).
// Where one can, the model counts or loops instead of shifting.

#include <algorithm>
#include <cstdlib>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Forms.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr u32 kShort = Entry::kSdwa | Entry::kDpp | Entry::kExtend;

bool bit(u64 x, u32 i) { return (x >> i) & 1; }
u64 bits(u64 x, u32 from, u32 count) { // from low to high
  u64 r = 0;
  for (u32 i = 0; i < count; ++i)
    r |= u64{bit(x, from + i)} << i;
  return r;
}
i64 signedBits(u64 x, u32 from, u32 count) {
  auto r = static_cast<i64>(bits(x, from, count));
  return bit(x, from + count - 1) ? r - (i64{1} << count) : r;
}
i64 floorDivide(i64 a, i64 unit) { return a / unit - (a % unit < 0); }
template <typename T> T shiftDown(T a, u32 by) { // rounds to -infinity
  for (u32 i = 0; i < by; ++i)
    a = static_cast<T>(floorDivide(a, 2));
  return a;
}
template <typename T> T middle(T a, T b, T c) {
  T sorted[] = {a, b, c};
  std::sort(sorted, sorted + 3);
  return sorted[1];
}
template <typename T> T low3(T a, T b, T c) { return std::min({a, b, c}); }
template <typename T> T high3(T a, T b, T c) { return std::max({a, b, c}); }
u32 absolute(i64 a) { return static_cast<u32>(a < 0 ? -a : a); }
i64 limited(i64 x, i64 low, i64 high) { return x < low ? low : (x > high ? high : x); }
u32 low(i64 x) { return static_cast<u32>(x); }
Flagged<u32> difference(u32 a, u32 b, bool borrow) {
  i64 r = i64{a} - i64{b} - borrow;
  return {low(r), r < 0};
}

void addVop1(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms = kShort, bool only950 = false) {
    all.push_back({row, Encoding::Vop1, operation(model), forms, only950});
  };
  add("v_mov_b32", [](u32 a) { return a; });
  add("v_mov_b64", [](u64 a) { return a; }, Entry::kDpp);
  add("v_not_b32", [](u32 a) { return 0xffffffffu - a; });
  add("v_bfrev_b32", [](u32 a) {
    u32 r = 0;
    for (u32 i = 0; i < 32; ++i)
      r = 2 * r + bit(a, i);
    return r;
  });
  add("v_ffbh_u32", [](u32 a) {
    for (u32 i = 0; i < 32; ++i)
      if (bit(a, 31 - i))
        return i;
    return ~0u;
  });
  add("v_ffbl_b32", [](u32 a) {
    for (u32 i = 0; i < 32; ++i)
      if (bit(a, i))
        return i;
    return ~0u;
  });
  add("v_ffbh_i32", [](u32 a) {
    for (u32 i = 1; i < 32; ++i)
      if (bit(a, 31 - i) != bit(a, 31))
        return i;
    return ~0u;
  });
  add("v_sat_pk_u8_i16", [](u32 a) {
    return static_cast<u32>(limited(signedBits(a, 0, 16), 0, 255) |
                            limited(signedBits(a, 16, 16), 0, 255) << 8);
  });
  // A step of a shift register with taps 0xc5 (CDNA4 ISA, V_PRNG_B32).
  add("v_prng_b32", [](u32 a) { return bit(a, 31) ? (2 * a) ^ 0xc5 : 2 * a; }, Entry::kDpp, true);
}

void addVop2(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms = kShort) {
    all.push_back({row, Encoding::Vop2, operation(model), forms});
  };
  add(
      "v_cndmask_b32", [](u32 a, u32 b, CarryIn c) { return c.bit ? b : a; },
      Entry::kSdwa | Entry::kDpp);
  add("v_mul_i32_i24",
      [](u32 a, u32 b) { return low(signedBits(a, 0, 24) * signedBits(b, 0, 24)); });
  add("v_mul_hi_i32_i24", [](u32 a, u32 b) {
    return low(floorDivide(signedBits(a, 0, 24) * signedBits(b, 0, 24), i64{1} << 32));
  });
  add("v_mul_u32_u24",
      [](u32 a, u32 b) { return static_cast<u32>(u64{a % (1 << 24)} * (b % (1 << 24))); });
  add("v_mul_hi_u32_u24", [](u32 a, u32 b) {
    return static_cast<u32>(u64{a % (1 << 24)} * (b % (1 << 24)) / (u64{1} << 32));
  });
  add("v_min_i32", [](i32 a, i32 b) { return std::min(a, b); });
  add("v_max_i32", [](i32 a, i32 b) { return std::max(a, b); });
  add("v_min_u32", [](u32 a, u32 b) { return std::min(a, b); });
  add("v_max_u32", [](u32 a, u32 b) { return std::max(a, b); });
  add("v_lshrrev_b32", [](u32 a, u32 b) { return b / (1u << a % 32); });
  add("v_ashrrev_i32", [](u32 a, i32 b) { return shiftDown(b, a % 32); });
  add("v_lshlrev_b32", [](u32 a, u32 b) { return b * (1u << a % 32); });
  add("v_and_b32", [](u32 a, u32 b) { return a + b - (a | b); });
  add("v_or_b32", [](u32 a, u32 b) { return ~(~a & ~b); });
  add("v_xor_b32", [](u32 a, u32 b) { return (a | b) - (a & b); });
  add("v_xnor_b32", [](u32 a, u32 b) { return ~((a | b) - (a & b)); }, Entry::kDpp);
  add("v_add_co_u32", [](u32 a, u32 b) {
    u64 r = u64{a} + b;
    return Flagged<u32>{static_cast<u32>(r), bit(r, 32)};
  });
  add("v_sub_co_u32", [](u32 a, u32 b) { return difference(a, b, false); });
  add("v_subrev_co_u32", [](u32 a, u32 b) { return difference(b, a, false); });
  add("v_addc_co_u32", [](u32 a, u32 b, CarryIn c) {
    u64 r = u64{a} + b + u64{c.bit};
    return Flagged<u32>{static_cast<u32>(r), bit(r, 32)};
  });
  add("v_subb_co_u32", [](u32 a, u32 b, CarryIn c) { return difference(a, b, c.bit); });
  add("v_subbrev_co_u32", [](u32 a, u32 b, CarryIn c) { return difference(b, a, c.bit); });
  add("v_add_u16", [](u16 a, u16 b) { return static_cast<u16>(a + b); });
  add("v_sub_u16", [](u16 a, u16 b) { return static_cast<u16>(a + 65536 - b); });
  add("v_subrev_u16", [](u16 a, u16 b) { return static_cast<u16>(b + 65536 - a); });
  add("v_mul_lo_u16", [](u16 a, u16 b) { return static_cast<u16>(u64{a} * b % 65536); });
  add("v_lshlrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b * (1u << a % 16)); });
  add("v_lshrrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b / (1u << a % 16)); });
  add("v_ashrrev_i16", [](u16 a, i16 b) { return shiftDown(b, a % 16u); });
  add("v_max_u16", [](u16 a, u16 b) { return std::max(a, b); });
  add("v_max_i16", [](i16 a, i16 b) { return std::max(a, b); });
  add("v_min_u16", [](u16 a, u16 b) { return std::min(a, b); });
  add("v_min_i16", [](i16 a, i16 b) { return std::min(a, b); });
  add("v_add_u32", [](u32 a, u32 b) { return static_cast<u32>(u64{a} + b); });
  add("v_sub_u32", [](u32 a, u32 b) { return difference(a, b, false).value; });
  add("v_subrev_u32", [](u32 a, u32 b) { return difference(b, a, false).value; });
  auto dot = [](u32 a, u32 b, u32 d, u32 width) {
    i64 sum = d;
    for (u32 i = 0; i < 32; i += width)
      sum += signedBits(a, i, width) * signedBits(b, i, width);
    return low(sum);
  };
  add(
      "v_dot2c_i32_i16", [=](u32 a, u32 b, Before<u32> d) { return dot(a, b, d.value, 16); },
      Entry::kDpp);
  add(
      "v_dot4c_i32_i8", [=](u32 a, u32 b, Before<u32> d) { return dot(a, b, d.value, 8); },
      Entry::kDpp);
  add(
      "v_dot8c_i32_i4", [=](u32 a, u32 b, Before<u32> d) { return dot(a, b, d.value, 4); },
      Entry::kDpp);
}

u32 permuted(u32 a, u32 b, u32 selector) {
  u32 r = 0;
  for (u32 i = 0; i < 4; ++i) {
    auto s = static_cast<u32>(bits(selector, 8 * i, 8));
    auto byte = [&](u32 j) { return static_cast<u32>(bits(j < 4 ? b : a, j % 4 * 8, 8)); };
    u32 value = s < 8 ? byte(s) : (s < 12 ? 255 * (byte(2 * (s - 8) + 1) / 128) : 255 * (s > 12));
    r += value << 8 * i;
  }
  return r;
}
template <typename T> T truth(T a, T b, T c, u32 table) {
  T r = 0;
  for (u32 i = 0; i < 8 * sizeof(T); ++i)
    r = static_cast<T>(r | T(bit(table, 4u * bit(a, i) + 2u * bit(b, i) + bit(c, i))) << i);
  return r;
}
u32 sumOfDifferences(u32 a, u32 b, u32 width) {
  u32 sum = 0;
  for (u32 i = 0; i < 32; i += width)
    sum += absolute(static_cast<i64>(bits(a, i, width)) - static_cast<i64>(bits(b, i, width)));
  return sum;
}
u32 maskedSum(u32 a, u32 b) { // zero bytes of the reference do not count
  u32 sum = 0;
  for (u32 i = 0; i < 32; i += 8)
    if (bits(b, i, 8))
      sum += absolute(static_cast<i64>(bits(a, i, 8)) - static_cast<i64>(bits(b, i, 8)));
  return sum;
}
template <typename F> u64 windows(u64 a, u64 c, F sum) {
  u64 r = 0;
  for (u32 i = 0; i < 4; ++i)
    r |= (sum(static_cast<u32>(bits(a, 8 * i, 32))) + bits(c, 16 * i, 16)) % 65536 << 16 * i;
  return r;
}
/// A field of S0; what lies beyond the top is zero, or the sign.
u32 fieldOf(u32 a, u32 b, u32 c, bool isSigned) {
  i64 wide = isSigned ? i64{static_cast<i32>(a)} : i64{a};
  u32 width = c % 32;
  if (width == 0)
    return 0;
  u64 at = static_cast<u64>(shiftDown(wide, b % 32));
  return isSigned ? low(signedBits(at, 0, width)) : static_cast<u32>(bits(at, 0, width));
}

void addVop3(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms = 0, bool only950 = false) {
    all.push_back({row, Encoding::Vop3, operation(model), forms, only950});
  };
  add("v_mad_i32_i24",
      [](u32 a, u32 b, u32 c) { return low(signedBits(a, 0, 24) * signedBits(b, 0, 24) + c); });
  add("v_mad_u32_u24",
      [](u32 a, u32 b, u32 c) { return static_cast<u32>(bits(a, 0, 24) * bits(b, 0, 24) + c); });
  add("v_bfe_u32", [](u32 a, u32 b, u32 c) { return fieldOf(a, b, c, false); });
  add("v_bfe_i32", [](u32 a, u32 b, u32 c) { return fieldOf(a, b, c, true); });
  add("v_bfi_b32", [](u32 a, u32 b, u32 c) { return truth(a, b, c, 0xca); });
  add("v_lerp_u8", [](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (u32 i = 0; i < 32; i += 8)
      r |= static_cast<u32>((bits(a, i, 8) + bits(b, i, 8) + bit(c, i)) / 2) << i;
    return r;
  });
  add("v_alignbit_b32",
      [](u32 a, u32 b, u32 c) { return static_cast<u32>(bits(u64{a} << 32 | b, c % 32, 32)); });
  add("v_alignbyte_b32", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>(bits(u64{a} << 32 | b, 8 * (c % 4), 32));
  });
  add("v_min3_i32", [](i32 a, i32 b, i32 c) { return low3(a, b, c); });
  add("v_min3_u32", [](u32 a, u32 b, u32 c) { return low3(a, b, c); });
  add("v_max3_i32", [](i32 a, i32 b, i32 c) { return high3(a, b, c); });
  add("v_max3_u32", [](u32 a, u32 b, u32 c) { return high3(a, b, c); });
  add("v_med3_i32", [](i32 a, i32 b, i32 c) { return middle(a, b, c); });
  add("v_med3_u32", [](u32 a, u32 b, u32 c) { return middle(a, b, c); });
  add("v_min3_i16", [](i16 a, i16 b, i16 c) { return low3(a, b, c); }, Entry::kOpSel);
  add("v_min3_u16", [](u16 a, u16 b, u16 c) { return low3(a, b, c); }, Entry::kOpSel);
  add("v_max3_i16", [](i16 a, i16 b, i16 c) { return high3(a, b, c); }, Entry::kOpSel);
  add("v_max3_u16", [](u16 a, u16 b, u16 c) { return high3(a, b, c); }, Entry::kOpSel);
  add("v_med3_i16", [](i16 a, i16 b, i16 c) { return middle(a, b, c); }, Entry::kOpSel);
  add("v_med3_u16", [](u16 a, u16 b, u16 c) { return middle(a, b, c); }, Entry::kOpSel);
  add("v_sad_u8", [](u32 a, u32 b, u32 c) { return sumOfDifferences(a, b, 8) + c; });
  add("v_sad_hi_u8", [](u32 a, u32 b, u32 c) { return 65536 * sumOfDifferences(a, b, 8) + c; });
  add("v_sad_u16", [](u32 a, u32 b, u32 c) { return sumOfDifferences(a, b, 16) + c; });
  add("v_sad_u32", [](u32 a, u32 b, u32 c) { return absolute(i64{a} - i64{b}) + c; });
  add("v_msad_u8", [](u32 a, u32 b, u32 c) { return maskedSum(a, b) + c; });
  add("v_qsad_pk_u16_u8", [](u64 a, u32 b, u64 c) {
    return windows(a, c, [=](u32 x) { return sumOfDifferences(x, b, 8); });
  });
  add("v_mqsad_pk_u16_u8",
      [](u64 a, u32 b, u64 c) { return windows(a, c, [=](u32 x) { return maskedSum(x, b); }); });
  add("v_mad_u64_u32", [](u32 a, u32 b, u64 c) {
    u64 p = u64{a} * b, r = p + c;
    return Flagged<u64>{r, r < p};
  });
  add("v_mad_legacy_u16", [](u16 a, u16 b, u16 c) { return static_cast<u16>(u64{a} * b + c); });
  add("v_mad_legacy_i16", [](i16 a, i16 b, i16 c) { return static_cast<i16>(i64{a} * b + c); });
  add("v_perm_b32", [](u32 a, u32 b, u32 c) { return permuted(a, b, c); });
  add(
      "v_mad_u32_u16", [](u16 a, u16 b, u32 c) { return static_cast<u32>(u64{a} * b + c); },
      Entry::kOpSel);
  add("v_mad_i32_i16", [](i16 a, i16 b, u32 c) { return low(i64{a} * b + c); }, Entry::kOpSel);
  add("v_xad_u32", [](u32 a, u32 b, u32 c) { return (a | b) - (a & b) + c; });
  add("v_lshl_add_u32", [](u32 a, u32 b, u32 c) { return a * (1u << b % 32) + c; });
  add("v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return (a + b) * (1u << c % 32); });
  add("v_add3_u32", [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{a} + b + c); });
  add("v_lshl_or_b32", [](u32 a, u32 b, u32 c) { return ~(~(a * (1u << b % 32)) & ~c); });
  add("v_and_or_b32", [](u32 a, u32 b, u32 c) { return truth(a, b, c, 0xea); });
  add("v_or3_b32", [](u32 a, u32 b, u32 c) { return truth(a, b, c, 0xfe); });
  add(
      "v_mad_u16", [](u16 a, u16 b, u16 c) { return static_cast<u16>(u64{a} * b + c); },
      Entry::kOpSel);
  add(
      "v_mad_i16", [](i16 a, i16 b, i16 c) { return static_cast<i16>(i64{a} * b + c); },
      Entry::kOpSel);
  // A shift count of three bits (CDNA3 ISA, V_LSHL_ADD_U64).
  add("v_lshl_add_u64", [](u64 a, u32 b, u64 c) { return a * (u64{1} << b % 8) + c; });
  add("v_mul_lo_u32", [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b); });
  add("v_mul_hi_u32", [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b / (u64{1} << 32)); });
  add("v_mul_hi_i32", [](i32 a, i32 b) { return low(floorDivide(i64{a} * b, i64{1} << 32)); });
  add("v_bcnt_u32_b32", [](u32 a, u32 b) {
    for (u32 i = 0; i < 32; ++i)
      b += bit(a, i);
    return b;
  });
  add("v_mbcnt_lo_u32_b32", [](u32 a, u32 b, LaneIndex lane) {
    for (u32 i = 0; i < 32; ++i)
      b += bit(a, i) && i < lane.value;
    return b;
  });
  add("v_mbcnt_hi_u32_b32", [](u32 a, u32 b, LaneIndex lane) {
    for (u32 i = 0; i < 32; ++i)
      b += bit(a, i) && i + 32 < lane.value;
    return b;
  });
  add("v_lshlrev_b64", [](u32 a, u64 b) { return b * (u64{1} << a % 64); });
  add("v_lshrrev_b64", [](u32 a, u64 b) { return b / (u64{1} << a % 64); });
  add("v_ashrrev_i64", [](u32 a, i64 b) { return shiftDown(b, a % 64); });
  add("v_bfm_b32", [](u32 a, u32 b) {
    u32 r = 0;
    for (u32 i = 0; i < a % 32 && i + b % 32 < 32; ++i)
      r |= 1u << (i + b % 32);
    return r;
  });
  add("v_cvt_pk_u16_u32", [](u32 a, u32 b) {
    return static_cast<u32>(limited(a, 0, 65535) | limited(b, 0, 65535) << 16);
  });
  add("v_cvt_pk_i16_i32", [](i32 a, i32 b) {
    return (low(limited(a, -32768, 32767)) & 0xffff) | low(limited(b, -32768, 32767)) << 16;
  });
  add("v_add_i32", [](i32 a, i32 b) { return low(i64{a} + b); });
  add("v_sub_i32", [](i32 a, i32 b) { return low(i64{a} - b); });
  add("v_add_i16", [](i16 a, i16 b) { return static_cast<u16>(a + b); }, Entry::kOpSel);
  add("v_sub_i16", [](i16 a, i16 b) { return static_cast<u16>(a - b); }, Entry::kOpSel);
  add(
      "v_ashr_pk_i8_i32",
      [](i32 a, i32 b, u32 c) {
        auto part = [&](i32 x) { return low(limited(shiftDown(i64{x}, c % 32), -128, 127)) & 255; };
        return part(a) | part(b) << 8;
      },
      0, true);
  add(
      "v_ashr_pk_u8_i32",
      [](i32 a, i32 b, u32 c) {
        auto part = [&](i32 x) { return low(limited(shiftDown(i64{x}, c % 32), 0, 255)); };
        return part(a) | part(b) << 8;
      },
      0, true);
}

/// The flag of v_mad_i64_i32 is bit 64 of the sum in 65 bits: the sign of the exact sum.
void addWide(std::vector<Entry> &all) {
  all.push_back({"v_mad_i64_i32", Encoding::Vop3, operation([](i32 a, i32 b, i64 c) {
                   i64 r = 0, p = i64{a} * b;
                   bool overflow = __builtin_add_overflow(p, c, &r);
                   return Flagged<i64>{r, overflow ? p < 0 : r < 0};
                 })});
}

/// Text that the forms do not write: constants behind the operands.
void addTables(std::vector<Case> &all) {
  for (u32 table : {0x00u, 0x96u, 0xe8u, 0xcau, 0x01u, 0x80u, 0xffu}) {
    std::string text = ", v6, v2, v4 bitop3:" + std::to_string(table) + "\n";
    Case wide =
        vectorCase("v_bitop3_b32", Encoding::Vop3,
                   operation([=](u32 a, u32 b, u32 c) { return truth(a, b, c, table); }), {}, 2);
    wide.body = "v_bitop3_b32 v8" + text;
    Case narrow =
        vectorCase("v_bitop3_b16", Encoding::Vop3,
                   operation([=](u16 a, u16 b, u16 c) { return truth(a, b, c, table); }), {}, 2);
    narrow.body = "v_bitop3_b16 v8" + text;
    wide.only950 = narrow.only950 = true;
    all.push_back(wide);
    all.push_back(narrow);
  }
  // Selectors of v_perm_b32 in its small range, from the low bits of C.
  Case selectors = vectorCase(
      "v_perm_b32", Encoding::Vop3,
      operation([](u32 a, u32 b, u32 c) { return permuted(a, b, c & 0x0f0f0f0f); }), {}, 4);
  selectors.body = "v_and_b32 v14, 0x0f0f0f0f, v4\nv_perm_b32 v8, v6, v2, v14\n";
  all.push_back(selectors);
  // Clamp makes 32-bit sums saturate.
  auto saturating = [&](const char *row, Encoding encoding, auto model) {
    Form form;
    form.variant = Form::Long;
    form.clamp = true;
    all.push_back(vectorCase(row, encoding, operation(model), form));
  };
  auto top = [](i64 x) { return low(limited(x, 0, 0xffffffff)); };
  auto signedTop = [](i64 x) { return low(limited(x, INT32_MIN, INT32_MAX)); };
  saturating("v_add_u32", Encoding::Vop2, [=](u32 a, u32 b) { return top(i64{a} + b); });
  saturating("v_sub_u32", Encoding::Vop2, [=](u32 a, u32 b) { return top(i64{a} - b); });
  saturating("v_subrev_u32", Encoding::Vop2, [=](u32 a, u32 b) { return top(i64{b} - a); });
  saturating("v_add_i32", Encoding::Vop3, [=](i32 a, i32 b) { return signedTop(i64{a} + b); });
  saturating("v_sub_i32", Encoding::Vop3, [=](i32 a, i32 b) { return signedTop(i64{a} - b); });
}

} // namespace

std::vector<Case> integerCases() {
  std::vector<Entry> all;
  addVop1(all);
  addVop2(all);
  addVop3(all);
  addWide(all);
  std::vector<Case> cases = casesOf(all);
  addTables(cases);
  return cases;
}

} // namespace wavesmith::emulator::rows
