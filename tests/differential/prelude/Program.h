#pragma once
// How a program runs: on the device each work-item goes through the steps of `Program::run`; on the
// host every step is done for all work-items of a workgroup before the next one begins.

#include "tests/differential/prelude/Ops.h"

struct Params { ///< uniform; widths and alignments of every kind
  u64 a;
  u8 b;
  i16 c;
  f32 d;
  u32 e;
  f64 f;
  f16 g;
  i64 h;
};

struct Item {
  u32 local, group, id;
  const GLOBAL u8 *in;
  GLOBAL u8 *own;    ///< of this work-item alone
  GLOBAL u8 *shared; ///< for atomics
  LDS u8 *lds;
  Params p;
};

inline constexpr u32 kOwnBytes = 256; ///< before the results

#ifdef __AMDGCN__

template <class P> struct Runner {
  typename P::State state;
  Item item;

  template <class F> INLINE void each(F f) { f(state, item); }
  INLINE void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  }
  INLINE void clearLds() {
    for (u32 i = item.local; i < P::kLdsBytes; i += P::kBlock)
      item.lds[i] = 0;
    barrier();
  }
  template <class Op, class When, class Get, class Set>
  INLINE void exchange(When when, Get get, Set set) {
    if (when(state, item))
      set(state, Op::device(get(state, item)));
  }
};

#define PROGRAM_ENTRY(name)                                                                        \
  extern "C"                                                                                       \
      __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(name::Program::kBlock,             \
                                                                name::Program::kBlock))) void      \
      program_##name(const GLOBAL u8 *in, GLOBAL u8 *out, GLOBAL u8 *shared, Params params) {      \
    using P = name::Program;                                                                       \
    const u32 local = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x(); \
    const u32 id = group * P::kBlock + local;                                                      \
    Runner<P> runner = {{},                                                                        \
                        {local, group, id, in, out + id * P::kStride, shared, name::lds, params}}; \
    P::run(runner);                                                                                \
  }

#else

template <class P> struct Runner {
  typename P::State *states;
  Item *items;

  template <class F> void each(F f) {
    for (u32 i = 0; i < P::kBlock; ++i)
      f(states[i], items[i]);
  }
  void barrier() {}
  void clearLds() { __builtin_memset(items[0].lds, 0, P::kLdsBytes); }
  template <class Op, class When, class Get, class Set> void exchange(When when, Get get, Set set) {
    for (u32 first = 0; first < P::kBlock; first += 64) {
      const u32 count = P::kBlock - first < 64 ? P::kBlock - first : 64;
      u64 active = 0;
      typename Op::Args args[64] = {};
      typename Op::Result results[64] = {};
      for (u32 i = 0; i < count; ++i) {
        if (when(states[first + i], items[first + i]))
          active |= u64(1) << i;
        args[i] = get(states[first + i], items[first + i]);
      }
      Op::host(args, active, results);
      for (u32 i = 0; i < count; ++i)
        if (active >> i & 1)
          set(states[first + i], results[i]);
    }
  }
};

#define PROGRAM_ENTRY(name)                                                                        \
  extern "C" __attribute__((visibility("default"))) void program_##name(                           \
      const u8 *in, u8 *out, u8 *shared, const Params *params, u32 groups) {                       \
    using P = name::Program;                                                                       \
    static P::State states[P::kBlock];                                                             \
    static Item items[P::kBlock];                                                                  \
    for (u32 group = 0; group < groups; ++group) {                                                 \
      for (u32 local = 0; local < P::kBlock; ++local) {                                            \
        const u32 id = group * P::kBlock + local;                                                  \
        states[local] = {};                                                                        \
        items[local] = {local, group, id, in, out + id * P::kStride, shared, name::lds, *params};  \
      }                                                                                            \
      Runner<P> runner = {states, items};                                                          \
      P::run(runner);                                                                              \
    }                                                                                              \
  }

#endif
