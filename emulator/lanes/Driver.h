// The loops over lanes: reads typed operands, calls the row's function, stores the typed result.
// Included like Float.h.

template <typename T> inline T loadLane(const u32 *words, int lane) {
  if constexpr (sizeof(T) == 8)
    return cast<T>(u64{words[lane]} | u64{words[lane + kLanes]} << 32);
  else if constexpr (sizeof(T) == 4)
    return cast<T>(words[lane]);
  else
    return cast<T>(static_cast<u16>(words[lane]));
}
template <typename T> inline void storeLane(u32 *words, int lane, T value) {
  if constexpr (sizeof(T) == 8) {
    u64 bits = cast<u64>(value);
    words[lane] = static_cast<u32>(bits);
    words[lane + kLanes] = static_cast<u32>(bits >> 32);
  } else if constexpr (sizeof(T) == 4) {
    words[lane] = cast<u32>(value);
  } else {
    words[lane] = cast<u16>(value);
  }
}

template <typename T> struct IsOld {
  static constexpr bool value = false;
};
template <typename T> struct IsOld<Old<T>> {
  static constexpr bool value = true;
  using Type = T;
};

/// Parameters that are not encoded sources.
template <typename T>
inline constexpr bool kImplicit =
    IsOld<T>::value || __is_same(T, CarryIn) || __is_same(T, Mode) || __is_same(T, LaneId);

template <typename T>
inline T parameter(const LaneIo &io, const u32 *carries, int source, int lane) {
  if constexpr (IsOld<T>::value)
    return {loadLane<typename IsOld<T>::Type>(io.old, lane)};
  else if constexpr (__is_same(T, CarryIn))
    return {carries[lane] != 0};
  else if constexpr (__is_same(T, Mode))
    return io.mode;
  else if constexpr (__is_same(T, LaneId))
    return {static_cast<u32>(lane)};
  else
    return loadLane<T>(io.source[source], lane);
}

inline void unpackMask(u32 *to, u64 mask) {
  u32 low = static_cast<u32>(mask), high = static_cast<u32>(mask >> 32);
  for (u32 i = 0; i < 32; ++i) {
    to[i] = (low >> i) & 1;
    to[i + 32] = (high >> i) & 1;
  }
}
inline u64 packMask(const u32 *flags) { // 0 or ~0 each
#if defined(__AVX512F__)
  u64 mask = 0;
  for (int i = 0; i < 4; ++i) {
    __m512i v = _mm512_loadu_si512(flags + 16 * i);
    mask |= u64{_mm512_test_epi32_mask(v, v)} << (16 * i);
  }
  return mask;
#elif defined(__AVX2__)
  u64 mask = 0;
  for (int i = 0; i < 8; ++i) {
    __m256 v = _mm256_loadu_ps(reinterpret_cast<const float *>(flags + 8 * i));
    mask |= u64{static_cast<u32>(_mm256_movemask_ps(v))} << (8 * i);
  }
  return mask;
#else
  u64 mask = 0;
  for (int i = 0; i < kLanes; ++i)
    mask |= u64{flags[i] & 1} << i;
  return mask;
#endif
}

#if defined(__clang__)
#define WAVESMITH_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WAVESMITH_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <int... k> struct Sequence {};
template <int n, int... k> struct MakeSequence : MakeSequence<n - 1, n - 1, k...> {};
template <int... k> struct MakeSequence<0, k...> {
  using Type = Sequence<k...>;
};

/// Which encoded source the parameter at `position` is.
template <typename... A> constexpr int sourceIndex(int position) {
  constexpr bool implicit[] = {kImplicit<A>..., true};
  int index = 0;
  for (int i = 0; i < position; ++i)
    index += !implicit[i];
  return index;
}

template <typename F, typename R, typename... A, int... kIndex>
void loopOverLanes(LaneIo &io, R (F::*)(A...) const, Sequence<kIndex...>) {
  F function;
  alignas(64) u32 carries[kLanes], flags[kLanes];
  if constexpr ((__is_same(A, CarryIn) || ...))
    unpackMask(carries, io.maskIn);
  const LaneIo local = io;
  WAVESMITH_INDEPENDENT
  for (int lane = 0; lane < kLanes; ++lane) {
    R r = function(parameter<A>(local, carries, sourceIndex<A...>(kIndex), lane)...);
    if constexpr (__is_same(R, bool)) {
      flags[lane] = r ? ~0u : 0u;
    } else if constexpr (isCarry<R>) {
      storeLane(local.result, lane, r.value);
      flags[lane] = r.carry ? ~0u : 0u;
    } else {
      storeLane(local.result, lane, r);
    }
  }
  if constexpr (__is_same(R, bool) || isCarry<R>)
    io.maskOut = packMask(flags);
}

template <typename R, typename F, typename... A> constexpr int arity(R (F::*)(A...) const) {
  return sizeof...(A);
}
template <typename F> void laneFunction(LaneIo &io) {
  loopOverLanes(io, &F::operator(), typename MakeSequence<arity(&F::operator())>::Type());
}
template <typename F> constexpr LaneFunction laneFunctionOf(F) { return &laneFunction<F>; }
