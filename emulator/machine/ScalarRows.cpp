// Rows of the scalar ALU: here the row functions are both the table and the execution.

#include <bit>
#include <vector>

#include "emulator/isa/Table.h"
#include "emulator/machine/Handlers.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

// Helpers of the row functions.
template <typename T> WithScc<T> withScc(T value) { return {value, value != 0}; }
u64 wholeQuads(u64 x) {
  u64 any = (x | x >> 1 | x >> 2 | x >> 3) & 0x1111111111111111;
  return any * 15;
}
u64 quadMask(u64 x) {
  u64 result = 0;
  for (int quad = 0; quad < 16; ++quad)
    result |= u64{((x >> (4 * quad)) & 15) != 0} << quad;
  return result;
}
u64 reverse(u64 x, int width) {
  u64 result = 0;
  for (int i = 0; i < width; ++i)
    result |= ((x >> i) & 1) << (width - 1 - i);
  return result;
}
u64 replicateBits(u32 x) {
  u64 result = 0;
  for (int i = 0; i < 32; ++i)
    result |= ((x >> i) & 1 ? u64{3} : 0) << (2 * i);
  return result;
}
u64 extract(u64 x, unsigned offset, unsigned width, unsigned size) {
  u64 shifted = x >> offset;
  return width >= size ? shifted : shifted & ((u64{1} << width) - 1);
}
/// Above the top of x come copies of its sign (CDNA3 ISA, S_BFE_I32).
i64 extractSigned(i64 x, unsigned offset, unsigned width) {
  i64 shifted = x >> offset;
  if (width == 0 || width >= 64)
    return width ? shifted : 0;
  return static_cast<i64>(static_cast<u64>(shifted) << (64 - width)) >> (64 - width);
}
WithScc<u32> shiftAdd(u32 a, int shift, u32 b) {
  u64 sum = (u64{a} << shift) + b;
  return {static_cast<u32>(sum), (sum >> 32) != 0};
}

template <typename T> struct OldOf;
template <typename T> struct OldOf<Old<T>> {
  using Type = T;
};

template <typename T>
T argument(const Machine &machine, const Wave &wave, const Inst &inst, int source) {
  if constexpr (isOld<T>) {
    using Value = typename OldOf<T>::Type;
    if constexpr (sizeof(Value) == 8)
      return {static_cast<Value>(machine.readScalar64(wave, inst.destination))};
    else
      return {static_cast<Value>(machine.readScalar(wave, inst.destination))};
  } else if constexpr (std::is_same_v<T, CarryIn>) {
    return {wave.scc};
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<T>(machine.readScalar64(wave, inst.source[source]));
  } else {
    return static_cast<T>(machine.readScalar(wave, inst.source[source]));
  }
}

template <typename T> void store(Wave &wave, const Operand &to, T value) {
  if constexpr (isScc<T>) {
    store(wave, to, value.value);
    wave.scc = value.scc;
  } else if constexpr (sizeof(T) == 8) {
    wave.setPair(to.index, static_cast<u64>(value));
  } else {
    wave.scalar[to.index] = static_cast<u32>(value);
  }
}

template <typename... A> constexpr int sourceIndex(std::size_t position) {
  constexpr bool implicit[] = {(isOld<A> || std::is_same_v<A, CarryIn>)..., true};
  int index = 0;
  for (std::size_t i = 0; i < position; ++i)
    index += !implicit[i];
  return index;
}

template <typename F, typename R, typename... A, std::size_t... kIndex>
void execute(Machine &machine, Wave &wave, const Inst &inst, R (F::*)(A...) const,
             std::index_sequence<kIndex...>) {
  R result = F()(argument<A>(machine, wave, inst, sourceIndex<A...>(kIndex))...);
  if constexpr (std::is_same_v<R, bool>)
    wave.scc = result;
  else
    store(wave, inst.destination, result);
}
template <typename F, typename R, typename... A> constexpr std::size_t arity(R (F::*)(A...) const) {
  return sizeof...(A);
}
template <typename F> void runScalar(Machine &machine, Wave &wave, const Inst &inst) {
  execute(machine, wave, inst, &F::operator(), std::make_index_sequence<arity(&F::operator())>());
}
template <typename F> constexpr Handler scalarHandler(F) { return &runScalar<F>; }

/// EXEC = f(source, EXEC); the destination takes the old EXEC, or the new one for wrexec.
template <typename F, bool kNew> void runSaveExec(Machine &machine, Wave &wave, const Inst &inst) {
  u64 old = wave.exec(), next = F()(machine.readScalar64(wave, inst.source[0]), old);
  wave.setPair(inst.destination.index, kNew ? next : old);
  wave.setPair(kExec, next);
  wave.scc = next != 0;
}
template <bool kNew, typename F> constexpr Handler saveExecHandler(F) {
  return &runSaveExec<F, kNew>;
}

std::vector<Row> makeRows() {
  std::vector<Row> rows;
  auto add = [&](const char *name, Format format, u16 opcode, Use use, Signature signature,
                 Handler handler) {
    rows.push_back({name, format, opcode, kAllTargets, use, signature, handler});
  };
#define ROW(name, format, opcode, use, ...)                                                        \
  add(#name, Format::format, opcode, Use::use, signatureOf([] __VA_ARGS__),                        \
      scalarHandler([] __VA_ARGS__));
#define SOP1(name, op, ...) ROW(name, Sop1, op, Plain, __VA_ARGS__)
#define SOP1_PC(name, op, use, handler)                                                            \
  add(#name, Format::Sop1, op, Use::use, makeSignature<u64, u64>(), handler);
#define SOP1_SAVE(name, op, ...)                                                                   \
  add(#name, Format::Sop1, op, Use::SaveExec, makeSignature<u64, u64>(),                           \
      saveExecHandler<false>([] __VA_ARGS__));
#define SOP1_WREXEC(name, op, ...)                                                                 \
  add(#name, Format::Sop1, op, Use::SaveExec, makeSignature<u64, u64>(),                           \
      saveExecHandler<true>([] __VA_ARGS__));
#define SOP1_RELATIVE(name, op, type, handler)                                                     \
  add(#name, Format::Sop1, op, Use::Plain, makeSignature<type, type>(), handler);
#define SOP1_INDEX(name, op, handler)                                                              \
  add(#name, Format::Sop1, op, Use::IndexMode, makeSignature<u32, u32>(), handler);
#define SOP1_JOIN(name, op, handler)                                                               \
  add(#name, Format::Sop1, op, Use::Fork, makeSignature<u32, u32>(), handler);
#include "emulator/isa/rows/Sop1.def"
#define SOP2(name, op, ...) ROW(name, Sop2, op, Plain, __VA_ARGS__)
#define SOP2_BRANCH(name, op, second, handler)                                                     \
  add(#name, Format::Sop2, op, Use::Fork, makeSignature<u64, u64, second>(), handler);
#include "emulator/isa/rows/Sop2.def"
#define SOPC(name, op, ...) ROW(name, Sopc, op, Plain, __VA_ARGS__)
#define SOPC_MODE(name, op, use, handler)                                                          \
  add(#name, Format::Sopc, op, Use::use, makeSignature<u32, u32, u32>(), handler);
#include "emulator/isa/rows/Sopc.def"
#define SOPK(name, op, ...) ROW(name, Sopk, op, Plain, __VA_ARGS__)
#define SOPK_REG(name, op, use, handler)                                                           \
  add(#name, Format::Sopk, op, Use::use, makeSignature<u32, u32>(), handler);
#include "emulator/isa/rows/Sopk.def"
#define SOPP(name, op, use, handler) add(#name, Format::Sopp, op, Use::use, Signature(), handler);
#include "emulator/isa/rows/Sopp.def"
  return rows;
}

} // namespace

std::span<const Row> scalarRows() {
  static const std::vector<Row> rows = makeRows();
  return rows;
}

} // namespace wavesmith::emulator
