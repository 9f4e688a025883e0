#pragma once
// Operations between the lanes of a wave: the instruction on the device, and what the ISA documents
// say about it over 64 lanes on the host. `active` has a bit for each lane that takes part.

#include "tests/differential/prelude/Program.h"

namespace wave {

#ifdef __AMDGCN__
#define ON_DEVICE(...)                                                                             \
  INLINE static Result device(Args a) { return __VA_ARGS__; }
#define HOST_ONLY(...)
#else
#define ON_DEVICE(...)
#define HOST_ONLY(...) __VA_ARGS__
#endif

struct One {
  u32 x;
};
struct Two {
  u32 x, y;
};
struct Wide {
  u64 x;
};
inline bool isActive(u64 active, int lane) { return lane >= 0 && (active >> lane & 1); }

struct ReadFirst {
  using Args = One;
  using Result = u32;
  ON_DEVICE(__builtin_amdgcn_readfirstlane(a.x))
  HOST_ONLY(static void host(const Args *a, u64 active, Result *r) {
    for (int i = 0; i < 64; ++i)
      r[i] = active ? a[__builtin_ctzg(active)].x : 0;
  })
};

template <u32 Lane> struct ReadLane {
  using Args = One;
  using Result = u32;
  ON_DEVICE(__builtin_amdgcn_readlane(a.x, Lane))
  HOST_ONLY(static void host(const Args *a, u64, Result *r) {
    for (int i = 0; i < 64; ++i)
      r[i] = a[Lane].x;
  })
};

struct Ballot {
  using Args = One;
  using Result = u64;
  ON_DEVICE(__builtin_amdgcn_ballot_w64(a.x & 1))
  HOST_ONLY(static void host(const Args *a, u64 active, Result *r) {
    u64 mask = 0;
    for (int i = 0; i < 64; ++i)
      mask |= isActive(active, i) ? u64(a[i].x & 1) << i : 0;
    for (int i = 0; i < 64; ++i)
      r[i] = mask;
  })
};

/// The compare that shows as a mask: 32 eq, 33 ne, 34 ugt, ... 41 sle.
template <int Predicate> struct CompareMask {
  using Args = Two;
  using Result = u64;
  ON_DEVICE(Predicate >= 38 ? __builtin_amdgcn_sicmp(i32(a.x), i32(a.y), Predicate)
                            : __builtin_amdgcn_uicmp(a.x, a.y, Predicate))
  HOST_ONLY(
      static bool holds(Args a) {
        const i32 x = i32(a.x), y = i32(a.y);
        const bool all[] = {
            a.x == a.y, a.x != a.y, a.x > a.y, a.x >= a.y, a.x<a.y, a.x <= a.y, x> y,
            x >= y,     x < y,      x <= y};
        return all[Predicate - 32];
      } static void host(const Args *a, u64 active, Result *r) {
        u64 mask = 0;
        for (int i = 0; i < 64; ++i)
          mask |= isActive(active, i) ? u64(holds(a[i])) << i : 0;
        for (int i = 0; i < 64; ++i)
          r[i] = mask;
      })
};

struct CountBelow {
  using Args = Two;
  using Result = u32;
  ON_DEVICE(__builtin_amdgcn_mbcnt_hi(a.y, __builtin_amdgcn_mbcnt_lo(a.x, 5)))
  HOST_ONLY(static void host(const Args *a, u64, Result *r) {
    for (int i = 0; i < 64; ++i)
      r[i] = 5 + u32(__builtin_popcountg((a[i].x | u64(a[i].y) << 32) & ((u64(1) << i) - 1)));
  })
};

/// What LLVM makes of a value that comes from a lane that is off is its choice, so it is dropped.
#ifdef __AMDGCN__
INLINE inline u32 ifActive(u32 from, u32 value) {
  return __builtin_amdgcn_ballot_w64(true) >> from & 1 ? value : 0;
}
#endif

/// Pull: lane y / 4.
struct Gather {
  using Args = Two;
  using Result = u32;
  ON_DEVICE(ifActive(a.y / 4 % 64, u32(__builtin_amdgcn_ds_bpermute(i32(a.y), i32(a.x)))))
  HOST_ONLY(static void host(const Args *a, u64 active, Result *r) {
    for (int i = 0; i < 64; ++i) {
      const int from = a[i].y / 4 % 64;
      r[i] = isActive(active, from) ? a[from].x : 0;
    }
  })
};

/// Push to lane y / 4; of several the highest lane stays.
struct Scatter {
  using Args = Two;
  using Result = u32;
#ifdef __AMDGCN__
  INLINE static Result device(Args a) {
    // LLVM 22 takes what arrives for uniform when value and address are (llvm_bugs/).
    asm("" : "+v"(a.y));
    return u32(__builtin_amdgcn_ds_permute(i32(a.y), i32(a.x)));
  }
#endif
  HOST_ONLY(static void host(const Args *a, u64 active, Result *r) {
    for (int i = 0; i < 64; ++i)
      r[i] = 0;
    for (int i = 0; i < 64; ++i)
      if (isActive(active, i))
        r[a[i].y / 4 % 64] = a[i].x;
  })
};

template <u32 Offset> struct Swizzle {
  using Args = One;
  using Result = u32;
  static u32 source(u32 lane) {
    if (Offset & 0x8000)
      return (lane & ~3u) | (Offset >> 2 * (lane % 4) & 3);
    return (lane & ~31u) | (((lane % 32 & Offset % 32) | Offset / 32 % 32) ^ Offset / 1024 % 32);
  }
  ON_DEVICE(ifActive(source(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))),
                     u32(__builtin_amdgcn_ds_swizzle(i32(a.x), Offset))))
  HOST_ONLY(static void host(const Args *a, u64 active, Result *r) {
    for (u32 i = 0; i < 64; ++i)
      r[i] = isActive(active, int(source(i))) ? a[source(i)].x : 0;
  })
};

/// x moves, y stays where nothing arrives.
template <u32 Control, u32 Rows, u32 Banks, bool Zero> struct Dpp {
  using Args = Two;
  using Result = u32;
  ON_DEVICE(u32(__builtin_amdgcn_update_dpp(i32(a.y), i32(a.x), Control, Rows, Banks, Zero)))
  HOST_ONLY(
      static int source(int i) {
        const int row = i & ~15, in = i & 15, n = Control & 15;
        if (Control < 0x100)
          return (i & ~3) | (Control >> 2 * (i & 3) & 3);
        if (Control < 0x110)
          return in + n < 16 ? i + n : -1;
        if (Control < 0x120)
          return in - n >= 0 ? i - n : -1;
        if (Control < 0x130)
          return row | ((in - n) & 15);
        switch (Control) {
        case 0x130:
          return i < 63 ? i + 1 : -1;
        case 0x134:
          return (i + 1) & 63;
        case 0x138:
          return i - 1;
        case 0x13c:
          return (i - 1) & 63;
        case 0x140:
          return row | (15 - in);
        case 0x141:
          return (i & ~7) | (7 - (i & 7));
        case 0x142:
          return row - 1;
        case 0x143:
          return i >= 32 ? 31 : -1;
        default:
          return row | n;
        }
      } static void host(const Args *a, u64 active, Result *r) {
        for (int i = 0; i < 64; ++i) {
          const int from = source(i);
          const bool written = (Rows >> i / 16 & 1) && (Banks >> i / 4 % 4 & 1);
          r[i] = !written ? a[i].y : isActive(active, from) ? a[from].x : Zero ? 0 : a[i].y;
        }
      })
};

enum class Fold { Add, Umin, Umax, Min, Max, And, Or, Xor };
#ifdef __AMDGCN__
template <Fold F> INLINE inline u32 fold(u32 x) {
  if constexpr (F == Fold::Add)
    return __builtin_amdgcn_wave_reduce_add_u32(x, 0);
  else if constexpr (F == Fold::Umin)
    return __builtin_amdgcn_wave_reduce_min_u32(x, 0);
  else if constexpr (F == Fold::Umax)
    return __builtin_amdgcn_wave_reduce_max_u32(x, 0);
  else if constexpr (F == Fold::Min)
    return u32(__builtin_amdgcn_wave_reduce_min_i32(i32(x), 0));
  else if constexpr (F == Fold::Max)
    return u32(__builtin_amdgcn_wave_reduce_max_i32(i32(x), 0));
  else if constexpr (F == Fold::And)
    return u32(__builtin_amdgcn_wave_reduce_and_b32(i32(x), 0));
  else if constexpr (F == Fold::Or)
    return u32(__builtin_amdgcn_wave_reduce_or_b32(i32(x), 0));
  else
    return u32(__builtin_amdgcn_wave_reduce_xor_b32(i32(x), 0));
}
#endif
/// Of what differs from lane to lane: LLVM 22 folds the xor of one value to that value.
template <Fold F> struct Reduce {
  using Args = One;
  using Result = u32;
  ON_DEVICE(fold<F>(a.x + __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))))
  HOST_ONLY(
      static u32 combine(u32 x, u32 y) {
        switch (F) {
        case Fold::Add:
          return x + y;
        case Fold::Umin:
          return x < y ? x : y;
        case Fold::Umax:
          return x > y ? x : y;
        case Fold::Min:
          return i32(x) < i32(y) ? x : y;
        case Fold::Max:
          return i32(x) > i32(y) ? x : y;
        case Fold::And:
          return x & y;
        case Fold::Or:
          return x | y;
        case Fold::Xor:
          return x ^ y;
        }
      } static void host(const Args *a, u64 active, Result *r) {
        if (!active)
          return;
        const int first = __builtin_ctzg(active);
        u32 all = a[first].x + u32(first);
        for (int i = first + 1; i < 64; ++i)
          if (isActive(active, i))
            all = combine(all, a[i].x + u32(i));
        for (int i = 0; i < 64; ++i)
          r[i] = all;
      })
};

/// Rows of x and y are exchanged; both come back, y above x. By LDS exchange on gfx942.
template <int Rows> struct PermlaneSwap {
  using Args = Two;
  using Result = u64;
#ifdef __AMDGCN__
  INLINE static Result device(Args a) {
    u32x2 both;
#ifdef __gfx950__
    if constexpr (Rows == 16)
      both = __builtin_amdgcn_permlane16_swap(a.x, a.y, false, false);
    else
      both = __builtin_amdgcn_permlane32_swap(a.x, a.y, false, false);
#else
    const u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    const i32 partner = i32((lane ^ Rows) * 4);
    const u32 x = u32(__builtin_amdgcn_ds_bpermute(partner, i32(a.x)));
    const u32 y = u32(__builtin_amdgcn_ds_bpermute(partner, i32(a.y)));
    both = lane & Rows ? u32x2{y, a.y} : u32x2{a.x, x};
#endif
    return both.x | u64(both.y) << 32;
  }
#endif
  HOST_ONLY(static void host(const Args *a, u64, Result *r) {
    for (int i = 0; i < 64; ++i) {
      const bool upper = i & Rows;
      r[i] = (upper ? a[i - Rows].y : a[i].x) | u64(upper ? a[i].y : a[i + Rows].x) << 32;
    }
  })
};

} // namespace wave
