// Atomics of LDS, buffers, global and flat memory (CDNA3 ISA 12.13 to 12.15). Every lane has a slot
// of its own; one more case lets all lanes add to the same.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/emulator/conversion/ScalarModel.h"
#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {
namespace {

/// New value from old, data, and what to compare with (or LDS's second operand).
struct Atomic {
  std::string name; ///< of global memory, without _x2
  std::string lds;  ///< of LDS, with %s where _rtn goes; empty: none
  Type type;        ///< of one operand
  std::function<u64(u64 old, u64 data, u64 second)> apply;
  bool two = false; ///< takes a second operand
  bool onlyReturns = false;
  bool buffer950 = false;
};

template <typename T, typename F> std::function<u64(u64, u64, u64)> whole(F function) {
  return [function](u64 old, u64 data, u64 second) {
    return toBits(
        static_cast<T>(function(fromBits<T>(old), fromBits<T>(data), fromBits<T>(second))));
  };
}

template <typename U, typename S> void addIntegers(std::vector<Atomic> &all) {
  constexpr Type kType = sizeof(U) == 8 ? Type::B64 : Type::B32;
  std::string wide = sizeof(U) == 8 ? "_x2" : "", u = sizeof(U) == 8 ? "_u64" : "_u32",
              i = sizeof(U) == 8 ? "_i64" : "_i32", b = sizeof(U) == 8 ? "_b64" : "_b32";
  auto add = [&](const std::string &name, const std::string &lds, auto function) -> Atomic & {
    all.push_back({name.empty() ? "" : name + wide, lds, kType, whole<U>(function)});
    return all.back();
  };
  add("swap", "ds_wrxchg%s" + b, [](U, U data, U) { return data; }).onlyReturns = true;
  Atomic &swap = add("cmpswap", "ds_cmpst%s" + b,
                     [](U old, U data, U second) { return old == second ? data : old; });
  swap.two = true;
  add("add", "ds_add%s" + u, [](U old, U data, U) { return old + data; });
  add("sub", "ds_sub%s" + u, [](U old, U data, U) { return old - data; });
  add("", "ds_rsub%s" + u, [](U old, U data, U) { return data - old; });
  add("smin", "ds_min%s" + i, [](U old, U data, U) { return std::min<S>(S(old), S(data)); });
  add("smax", "ds_max%s" + i, [](U old, U data, U) { return std::max<S>(S(old), S(data)); });
  add("umin", "ds_min%s" + u, [](U old, U data, U) { return std::min(old, data); });
  add("umax", "ds_max%s" + u, [](U old, U data, U) { return std::max(old, data); });
  add("and", "ds_and%s" + b, [](U old, U data, U) { return old & data; });
  add("or", "ds_or%s" + b, [](U old, U data, U) { return old | data; });
  add("xor", "ds_xor%s" + b, [](U old, U data, U) { return old ^ data; });
  add("inc", "ds_inc%s" + u, [](U old, U data, U) { return old >= data ? U{0} : old + 1; });
  add("dec", "ds_dec%s" + u,
      [](U old, U data, U) { return old == 0 || old > data ? data : old - 1; });
  // Clears the bits of the first operand, sets those of the second.
  Atomic &mask =
      add("", "ds_mskor%s" + b, [](U old, U data, U second) { return (old & ~second) | data; });
  mask.two = true;
}

double item(bool bf16, u64 bits) {
  auto x = static_cast<u16>(bits);
  return bf16 ? double{fromBits<float>(u64{x} << 16)} : number({x});
}
std::function<u64(u64, u64, u64)> packedAdd(bool bf16) {
  return [bf16](u64 old, u64 data, u64) {
    u64 result = 0;
    for (int shift : {0, 16}) {
      double sum = item(bf16, old >> shift) + item(bf16, data >> shift);
      // float32 first: a sum of two bfloat16 far apart is not exact, and rounds the same.
      u64 bits = bf16 ? model::encode(model::Format::Bf16, static_cast<float>(sum),
                                      model::Rounding::Nearest, false)
                      : half(sum).bits;
      result |= bits << shift;
    }
    return result;
  };
}

std::vector<Atomic> atomics() {
  std::vector<Atomic> all;
  addIntegers<u32, i32>(all);
  addIntegers<u64, i64>(all);
  auto add = [&](Atomic atomic) { all.push_back(std::move(atomic)); };
  auto sum = [](auto old, auto data, auto) { return old + data; };
  // A quiet NaN loses, a signalling one makes the result NaN.
  auto choose = [](auto old, auto data, bool least) {
    using F = decltype(old);
    for (F x : {old, data})
      if (std::isnan(x) && !((toBits(x) >> (sizeof(F) == 4 ? 22 : 51)) & 1))
        return std::numeric_limits<F>::quiet_NaN();
    if (std::isnan(old) || std::isnan(data))
      return std::isnan(old) ? data : old;
    return (data < old) == least ? data : old;
  };
  auto least = [=](auto old, auto data, auto) { return choose(old, data, true); };
  auto most = [=](auto old, auto data, auto) { return choose(old, data, false); };
  add({"add_f32", "ds_add%s_f32", Type::F32, whole<float>(sum)});
  add({"add_f64", "ds_add%s_f64", Type::F64, whole<double>(sum)});
  add({"", "ds_min%s_f32", Type::F32, whole<float>(least)});
  add({"", "ds_max%s_f32", Type::F32, whole<float>(most)});
  add({"min_f64", "ds_min%s_f64", Type::F64, whole<double>(least)});
  add({"max_f64", "ds_max%s_f64", Type::F64, whole<double>(most)});
  add({"pk_add_f16", "ds_pk_add%s_f16", Type::F16, packedAdd(false)});
  Atomic packed{"pk_add_bf16", "ds_pk_add%s_bf16", Type::B16, packedAdd(true)};
  packed.buffer950 = true;
  add(packed);
  auto same = [](auto old, auto data, auto second) { return old == second ? data : old; };
  Atomic compare{"", "ds_cmpst%s_f32", Type::F32, whole<float>(same), true};
  add(compare);
  compare.lds = "ds_cmpst%s_f64";
  compare.type = Type::F64;
  compare.apply = whole<double>(same);
  add(compare);
  // Subtracts the first operand where it can, else adds the second.
  Atomic wrap{"",
              "ds_wrap%s_b32",
              Type::B32,
              whole<u32>([](u32 old, u32 data, u32 second) {
                return old >= second ? old - second : old + data;
              }),
              true,
              true};
  add(wrap);
  // Words of which the top bit is set replace, without that bit.
  Atomic exchange{"",
                  "ds_condxchg32%s_b64",
                  Type::B64,
                  [](u64 old, u64 data, u64) {
                    u64 r = old;
                    for (int shift : {0, 32})
                      if ((data >> (shift + 31)) & 1)
                        r = (r & ~(u64{0xffffffff} << shift)) | ((data >> shift) & 0x7fffffff)
                                                                    << shift;
                    return r;
                  },
                  false,
                  true};
  add(exchange);
  return all;
}

bool wide(const Atomic &atomic) { return wordsOf(atomic.type) == 2; }
u64 masked(const Atomic &atomic, u64 bits) { return wide(atomic) ? bits : bits & 0xffffffff; }

/// Equal values, or floats that need not be: NaN, and results among denormals, which the cache may
/// flush (ISA 9.2.2).
bool agrees(const Atomic &atomic, u64 actual, u64 expected) {
  if (actual == expected)
    return true;
  switch (atomic.type) {
  case Type::F32:
    if ((expected & 0x7f800000) == 0)
      return (actual & 0x7f800000) == 0;
    return isNanBits(Type::F32, expected) && isNanBits(Type::F32, actual);
  case Type::F64: // of two zeros either may be the smaller
    if ((expected << 1) == 0)
      return (actual << 1) == 0;
    return isNanBits(Type::F64, expected) && isNanBits(Type::F64, actual);
  case Type::F16:
  case Type::B16:
    for (int shift : {0, 16}) {
      u64 a = (actual >> shift) & 0xffff, b = (expected >> shift) & 0xffff;
      bool bf16 = atomic.type == Type::B16;
      u64 infinity = bf16 ? 0x7f80 : 0x7c00;
      bool tiny = (b & infinity) == 0 && (a & infinity) == 0;
      if (a != b && !tiny && !((a & 0x7fff) > infinity && (b & 0x7fff) > infinity))
        return false;
    }
    return true;
  default:
    return false;
  }
}

u64 drawOperand(const Atomic &atomic, Random &random) {
  if (atomic.type == Type::F16)
    return draw(Type::F16, random) | draw(Type::F16, random) << 16;
  if (atomic.type == Type::B16) // bfloat16
    return (draw(Type::F32, random) >> 16) | (draw(Type::F32, random) & 0xffff0000);
  return draw(atomic.type, random);
}

std::string pairText(int first, bool isWide) {
  return isWide ? "v[" + std::to_string(first) + ":" + std::to_string(first + 1) + "]"
                : "v" + std::to_string(first);
}

/// Old values are in D (v[8:9]) and stored first; data in C, the second operand in A (x2: both in
/// v[4:7]); the return value goes to v[10:11].
void fillOperands(const Atomic &atomic, Random &random, BlockIn &in, bool pairedWords) {
  for (auto &lane : in.lane) {
    u64 old = drawOperand(atomic, random), data = drawOperand(atomic, random),
        second = random() % 2 ? old : drawOperand(atomic, random);
    setPair(&lane[kD], old);
    setPair(&lane[kC], data);
    setPair(&lane[kA], second);
    if (pairedWords && !wide(atomic)) // data and comparison in one pair
      lane[kC + 1] = static_cast<u32>(second);
  }
}

std::string verifySlots(const Atomic &atomic, const BlockIn &in, const BlockOut &out, bool returns,
                        std::function<u64(int lane)> slotAfter) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto &words = in.lane[lane];
    u64 old = masked(atomic, pairOf(&words[kD])), data = masked(atomic, pairOf(&words[kC])),
        second = masked(atomic, pairOf(&words[kA]));
    bool active = (pairOf(&in.scalar[kExec]) >> lane) & 1;
    u64 right = active ? masked(atomic, atomic.apply(old, data, second)) : old;
    if (u64 actual = masked(atomic, slotAfter(lane)); !agrees(atomic, actual, right))
      return differs("memory of lane", lane, actual, right) + differs(", operands", 0, old, data);
    if (!returns)
      continue;
    u64 before = kUpperD[0] | u64{kUpperD[1]} << 32;
    u64 expected = masked(atomic, active ? old : before);
    if (u64 actual = masked(atomic, pairOf(&out.lane[lane][kOutD + 2])); actual != expected)
      return differs("returned to lane", lane, actual, expected);
  }
  return "";
}

Case ldsCase(const Atomic &atomic, bool returns, bool partial) {
  Case test;
  test.row = atomic.lds;
  test.row.replace(test.row.find("%s"), 2, returns ? "_rtn" : "");
  bool isWide = wide(atomic);
  // LDS compares with its first data operand.
  std::string first = pairText(atomic.two ? 6 : 4, isWide),
              second = atomic.two ? ", " + pairText(4, isWide) : "";
  test.body = "s_mov_b64 s[44:45], exec\ns_mov_b64 exec, -1\nv_lshlrev_b32 v14, 3, v0\n"
              "ds_write_b64 v14, v[8:9] offset:24\ns_mov_b64 exec, s[44:45]\n" +
              test.row + " " + (returns ? pairText(10, isWide) + ", " : "") + "v14, " + first +
              second + " offset:24\n" +
              "s_waitcnt lgkmcnt(0)\ns_mov_b64 exec, -1\nds_read_b64 v[12:13], v14 offset:24\n"
              "s_waitcnt lgkmcnt(0)\n";
  test.blocks = 4;
  test.lds = 1024;
  test.fill = [=](int, Random &random, BlockIn &in) {
    fillOperands(atomic, random, in, false);
    if (partial)
      setPair(&in.scalar[kExec], random() | u64{random()} << 32);
  };
  test.verify = [=](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block)
      if (std::string wrong =
              verifySlots(atomic, run.in[block], run.out[block], returns,
                          [&](int lane) { return pairOf(&run.out[block].lane[lane][kOutD + 4]); });
          !wrong.empty())
        return wrong;
    return "";
  };
  return test;
}

struct Way {
  const char *family, *address, *rest;
};
constexpr Way kWays[] = {{"global", "v14", ", s[16:17] offset:16"},
                         {"global", "v[2:3]", ", off offset:16"},
                         {"flat", "v[2:3]", " offset:16"},
                         {"buffer", "v14", ", s[28:31], 0 offen offset:16"},
                         {"buffer", "v14", ", s[28:31], 8 offen offset:8"}};

Case memoryCase(const Atomic &atomic, const Way &way, bool returns) {
  Case test;
  std::string family = way.family;
  test.row = family + "_atomic_" + atomic.name;
  test.only950 = atomic.buffer950 && family == "buffer";
  int dataWords = wordsOf(atomic.type) * (atomic.two ? 2 : 1);
  std::string data = dataWords == 1 ? "v4" : "v[4:" + std::to_string(3 + dataWords) + "]";
  std::string result = pairText(10, wide(atomic)), operands;
  if (family == "buffer") { // its data register takes the result: put it where that is expected
    std::string moved = dataWords == 1 ? "v10" : "v[10:" + std::to_string(9 + dataWords) + "]";
    operands = (returns ? moved : data) + ", " + way.address;
  } else {
    operands = (returns ? result + ", " : "") + way.address + ", " + data;
  }
  std::string move;
  for (int i = 0; returns && family == "buffer" && i < dataWords; ++i)
    move += "v_mov_b32 v" + std::to_string(10 + i) + ", v" + std::to_string(4 + i) + "\n";
  test.body = "v_lshlrev_b32 v14, 3, v0\nglobal_store_dwordx2 v14, v[8:9], s[16:17] offset:16\n" +
              move + "s_waitcnt vmcnt(0)\n" + test.row + " " + operands + way.rest +
              (returns ? " sc0" : "") + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
  test.blocks = 1;
  test.memory = 1024;
  test.fill = [=](int, Random &random, BlockIn &in) { fillOperands(atomic, random, in, true); };
  test.place = [](u64 memory, BlockIn &in) {
    for (int lane = 0; lane < kLanes; ++lane)
      setPair(&in.lane[lane][kB], memory + 8 * static_cast<u64>(lane));
    setPair(&in.scalar[kBuffer], memory);
    in.scalar[kBuffer + 2] = 1024;
    in.scalar[kBuffer + 3] = 0x20000;
  };
  test.verify = [=](const Run &run) {
    return verifySlots(atomic, run.in[0], run.out[0], returns, [&](int lane) {
      u64 value = 0;
      std::memcpy(&value, &run.after.at(16 + 8 * static_cast<std::size_t>(lane)), 8);
      return value;
    });
  };
  return test;
}

/// All lanes add their number to one dword.
Case crowd(const std::string &row, const std::string &text, bool lds) {
  Case test;
  test.row = row;
  test.body = "v_mov_b32 v14, 0\nv_mov_b32 v15, 100\n";
  test.body += lds ? "ds_write_b32 v14, v15\n" : "global_store_dword v14, v15, s[16:17]\n";
  test.body += "s_waitcnt vmcnt(0) lgkmcnt(0)\n" + text + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
  test.body += lds ? "ds_read_b32 v8, v14\n" : "global_load_dword v8, v14, s[16:17]\n";
  test.body += "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  test.blocks = 1;
  test.lds = 64;
  test.memory = 64;
  test.verify = [](const Run &run) -> std::string {
    u32 right = 100 + 63 * 64 / 2;
    u32 actual = run.out[0].lane[5][kOutD];
    return actual == right ? "" : differs("sum", 0, actual, right);
  };
  return test;
}

} // namespace

std::vector<Case> atomicCases() {
  std::vector<Case> all;
  for (const Atomic &atomic : atomics()) {
    if (!atomic.lds.empty())
      for (bool returns : {false, true})
        if (returns || !atomic.onlyReturns)
          for (bool partial : {false, true})
            all.push_back(ldsCase(atomic, returns, partial));
    if (!atomic.name.empty())
      for (const Way &way : kWays)
        for (bool returns : {false, true})
          all.push_back(memoryCase(atomic, way, returns));
  }
  all.push_back(crowd("ds_add_u32", "ds_add_u32 v14, v0", true));
  all.push_back(crowd("global_atomic_add", "global_atomic_add v14, v0, s[16:17]", false));
  return all;
}

} // namespace wavesmith::emulator::rows
