#pragma once
// Atomics in every address space. On the host work-items run one after the other.

#include "tests/differential/prelude/Types.h"

#define DEFINE_ATOMIC(SPACE, NAME, BUILTIN)                                                        \
  template <class E> INLINE inline E NAME(SPACE u8 *p, E value) {                                  \
    return BUILTIN((SPACE E *)p, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);                  \
  }
#define DEFINE_ATOMICS(SPACE)                                                                      \
  DEFINE_ATOMIC(SPACE, atomicAdd, __scoped_atomic_fetch_add)                                       \
  DEFINE_ATOMIC(SPACE, atomicSub, __scoped_atomic_fetch_sub)                                       \
  DEFINE_ATOMIC(SPACE, atomicAnd, __scoped_atomic_fetch_and)                                       \
  DEFINE_ATOMIC(SPACE, atomicOr, __scoped_atomic_fetch_or)                                         \
  DEFINE_ATOMIC(SPACE, atomicXor, __scoped_atomic_fetch_xor)                                       \
  DEFINE_ATOMIC(SPACE, atomicMin, __scoped_atomic_fetch_min)                                       \
  DEFINE_ATOMIC(SPACE, atomicMax, __scoped_atomic_fetch_max)                                       \
  DEFINE_ATOMIC(SPACE, atomicExchange, __scoped_atomic_exchange_n)                                 \
  template <class E> INLINE inline bool atomicCompareExchange(SPACE u8 *p, E expected, E value) {  \
    return __scoped_atomic_compare_exchange_n((SPACE E *)p, &expected, value, false,               \
                                              __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,                  \
                                              __MEMORY_SCOPE_DEVICE);                              \
  }
DEFINE_ATOMICS()
#ifdef __AMDGCN__
DEFINE_ATOMICS(GLOBAL)
DEFINE_ATOMICS(LDS)
#endif
