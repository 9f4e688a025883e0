// Scalar arithmetic (CDNA3 ISA 12.1 to 12.4): every row over edge and random values, with SCC.

#include <bit>
#include <limits>
#include <sstream>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Forms.h"

namespace wavesmith::emulator::rows {
namespace {

template <typename T> Flagged<T> nonZero(T value) { return {value, value != 0}; }
bool bit(u64 x, u64 i) { return (x >> i) & 1; }
i64 exact(i32 x) { return x; }

/// The field of an operand word: offset in the low bits, width in [22:16]. Beyond the top come
/// zeros, or copies of the sign.
u64 field(u64 x, u32 where, int size, bool isSigned) {
  int offset = static_cast<int>(where & static_cast<u32>(size - 1)),
      width = static_cast<int>((where >> 16) & 127);
  auto at = [&](int i) {
    return i < size ? bit(x, static_cast<u64>(i)) : isSigned && bit(x, static_cast<u64>(size - 1));
  };
  u64 result = 0;
  for (int i = 0; i < size; ++i) {
    bool value = i < width ? at(offset + i) : isSigned && width > 0 && at(offset + width - 1);
    result |= u64{value} << i;
  }
  return result;
}

template <typename T> u32 firstOne(T x) {
  for (u32 i = 0; i < 8 * sizeof(T); ++i)
    if (bit(x, i))
      return i;
  return ~0u;
}
template <typename T> u32 lastOne(T x) { // counted from the top
  for (u32 i = 8 * sizeof(T); i-- > 0;)
    if (bit(x, i))
      return static_cast<u32>(8 * sizeof(T)) - 1 - i;
  return ~0u;
}
template <typename T> u32 ones(T x) {
  u32 count = 0;
  for (u32 i = 0; i < 8 * sizeof(T); ++i)
    count += bit(x, i);
  return count;
}
template <typename T> T reversed(T x) {
  T result = 0;
  for (u32 i = 0; i < 8 * sizeof(T); ++i)
    if (bit(x, i))
      result |= T{1} << (8 * sizeof(T) - 1 - i);
  return result;
}
/// Sign bits after the first, from the top; all equal gives -1.
template <typename T> u32 signLength(T x) {
  constexpr u32 kBits = 8 * sizeof(T);
  for (u32 i = 1; i < kBits; ++i)
    if (bit(static_cast<u64>(x), kBits - 1 - i) != bit(static_cast<u64>(x), kBits - 1))
      return i;
  return ~0u;
}

void addSop1(std::vector<Case> &all) {
  auto add = [&](const char *row, auto model) {
    all.push_back(scalarCase(row, Encoding::Sop1, operation(model)));
  };
  add("s_mov_b32", [](u32 a) { return a; });
  add("s_mov_b64", [](u64 a) { return a; });
  add("s_cmov_b32", [](u32 a, CarryIn c, Before<u32> d) { return c.bit ? a : d.value; });
  add("s_cmov_b64", [](u64 a, CarryIn c, Before<u64> d) { return c.bit ? a : d.value; });
  add("s_not_b32", [](u32 a) { return nonZero(0xffffffffu - a); });
  add("s_not_b64", [](u64 a) { return nonZero(~u64{0} - a); });
  add("s_wqm_b32", [](u32 a) {
    u32 r = 0;
    for (u32 i = 0; i < 32; ++i)
      r |= u32{((a >> (i & ~3u)) & 15) != 0} << i;
    return nonZero(r);
  });
  add("s_wqm_b64", [](u64 a) {
    u64 r = 0;
    for (u32 i = 0; i < 64; ++i)
      r |= u64{((a >> (i & ~3u)) & 15) != 0} << i;
    return nonZero(r);
  });
  add("s_brev_b32", [](u32 a) { return reversed(a); });
  add("s_brev_b64", [](u64 a) { return reversed(a); });
  add("s_bcnt0_i32_b32", [](u32 a) { return nonZero(32 - ones(a)); });
  add("s_bcnt0_i32_b64", [](u64 a) { return nonZero(64 - ones(a)); });
  add("s_bcnt1_i32_b32", [](u32 a) { return nonZero(ones(a)); });
  add("s_bcnt1_i32_b64", [](u64 a) { return nonZero(ones(a)); });
  add("s_ff0_i32_b32", [](u32 a) { return firstOne(0xffffffff - a); });
  add("s_ff0_i32_b64", [](u64 a) { return firstOne(~u64{0} - a); });
  add("s_ff1_i32_b32", [](u32 a) { return firstOne(a); });
  add("s_ff1_i32_b64", [](u64 a) { return firstOne(a); });
  add("s_flbit_i32_b32", [](u32 a) { return lastOne(a); });
  add("s_flbit_i32_b64", [](u64 a) { return lastOne(a); });
  add("s_flbit_i32", [](i32 a) { return signLength(a); });
  add("s_flbit_i32_i64", [](i64 a) { return signLength(a); });
  add("s_sext_i32_i8", [](u32 a) { return i32((a & 127)) - i32(a & 128); });
  add("s_sext_i32_i16", [](u32 a) { return i32((a & 0x7fff)) - i32(a & 0x8000); });
  add("s_bitset0_b32", [](u32 a, Before<u32> d) {
    return bit(d.value, a % 32) ? d.value - (1u << a % 32) : d.value;
  });
  add("s_bitset0_b64", [](u32 a, Before<u64> d) {
    return bit(d.value, a % 64) ? d.value - (u64{1} << a % 64) : d.value;
  });
  add("s_bitset1_b32", [](u32 a, Before<u32> d) {
    return bit(d.value, a % 32) ? d.value : d.value + (1u << a % 32);
  });
  add("s_bitset1_b64", [](u32 a, Before<u64> d) {
    return bit(d.value, a % 64) ? d.value : d.value + (u64{1} << a % 64);
  });
  add("s_quadmask_b32", [](u32 a) {
    u32 r = 0;
    for (u32 i = 0; i < 8; ++i)
      r |= u32{((a >> 4 * i) & 15) != 0} << i;
    return nonZero(r);
  });
  add("s_quadmask_b64", [](u64 a) {
    u64 r = 0;
    for (u32 i = 0; i < 16; ++i)
      r |= u64{((a >> 4 * i) & 15) != 0} << i;
    return nonZero(r);
  });
  add("s_abs_i32", [](i32 a) { return nonZero(static_cast<u32>(a < 0 ? -exact(a) : exact(a))); });
  add("s_bitreplicate_b64_b32", [](u32 a) {
    u64 r = 0;
    for (u32 i = 0; i < 64; ++i)
      r |= u64{bit(a, i / 2)} << i;
    return r;
  });
}

void addSop2(std::vector<Case> &all) {
  auto add = [&](const char *row, auto model) {
    all.push_back(scalarCase(row, Encoding::Sop2, operation(model)));
  };
  auto overflows = [](i64 x) { return x != static_cast<i32>(x); };
  constexpr u64 kTop = 0xffffffff;
  add("s_add_u32", [](u32 a, u32 b) { return Flagged<u32>{a + b, u64{a} + b > kTop}; });
  add("s_sub_u32", [](u32 a, u32 b) { return Flagged<u32>{a - b, i64{a} - i64{b} < 0}; });
  add("s_add_i32", [=](i32 a, i32 b) {
    i64 r = exact(a) + exact(b);
    return Flagged<u32>{static_cast<u32>(r), overflows(r)};
  });
  add("s_sub_i32", [=](i32 a, i32 b) {
    i64 r = exact(a) - exact(b);
    return Flagged<u32>{static_cast<u32>(r), overflows(r)};
  });
  add("s_addc_u32", [](u32 a, u32 b, CarryIn c) {
    u64 r = u64{a} + u64{b} + u64{c.bit};
    return Flagged<u32>{static_cast<u32>(r), r > kTop};
  });
  add("s_subb_u32", [](u32 a, u32 b, CarryIn c) {
    i64 r = i64{a} - i64{b} - i64{c.bit};
    return Flagged<u32>{static_cast<u32>(r), r < 0};
  });
  add("s_min_i32", [](i32 a, i32 b) { return Flagged<i32>{std::min(a, b), a < b}; });
  add("s_min_u32", [](u32 a, u32 b) { return Flagged<u32>{std::min(a, b), a < b}; });
  add("s_max_i32", [](i32 a, i32 b) { return Flagged<i32>{std::max(a, b), a >= b}; });
  add("s_max_u32", [](u32 a, u32 b) { return Flagged<u32>{std::max(a, b), a >= b}; });
  add("s_cselect_b32", [](u32 a, u32 b, CarryIn c) { return c.bit ? a : b; });
  add("s_cselect_b64", [](u64 a, u64 b, CarryIn c) { return c.bit ? a : b; });
  // Each logical operation by its truth table, bit 2a + b.
  struct Logical {
    const char *name;
    u32 table;
  };
  for (Logical logical : {Logical{"and", 8},
                          {"or", 14},
                          {"xor", 6},
                          {"andn2", 4},
                          {"orn2", 13},
                          {"nand", 7},
                          {"nor", 1},
                          {"xnor", 9}}) {
    u32 table = logical.table;
    auto apply = [table](u64 a, u64 b, u32 bits) {
      u64 r = 0;
      for (u32 i = 0; i < bits; ++i)
        r |= u64{bit(table, 2u * bit(a, i) + bit(b, i))} << i;
      return r;
    };
    std::string name = std::string("s_") + logical.name;
    add((name + "_b32").c_str(),
        [=](u32 a, u32 b) { return nonZero(static_cast<u32>(apply(a, b, 32))); });
    add((name + "_b64").c_str(), [=](u64 a, u64 b) { return nonZero(apply(a, b, 64)); });
  }
  add("s_lshl_b32", [](u32 a, u32 b) { return nonZero(static_cast<u32>(u64{a} << b % 32)); });
  add("s_lshl_b64", [](u64 a, u32 b) {
    for (u32 i = 0; i < b % 64; ++i)
      a += a;
    return nonZero(a);
  });
  add("s_lshr_b32", [](u32 a, u32 b) { return nonZero(a / (1u << b % 32)); });
  add("s_lshr_b64", [](u64 a, u32 b) { return nonZero(a / (u64{1} << b % 64)); });
  add("s_ashr_i32", [](i32 a, u32 b) {
    // Division that rounds down.
    i64 unit = i64{1} << b % 32, r = a / unit;
    return nonZero(static_cast<i32>(a % unit < 0 ? r - 1 : r));
  });
  add("s_ashr_i64", [](i64 a, u32 b) {
    for (u32 i = 0; i < b % 64; ++i)
      a = a / 2 - (a % 2 < 0);
    return nonZero(a);
  });
  add("s_bfm_b32", [](u32 a, u32 b) {
    u32 r = 0;
    for (u32 i = b % 32; i < b % 32 + a % 32 && i < 32; ++i)
      r |= 1u << i;
    return r;
  });
  add("s_bfm_b64", [](u32 a, u32 b) {
    u64 r = 0;
    for (u32 i = b % 64; i < b % 64 + a % 64 && i < 64; ++i)
      r |= u64{1} << i;
    return r;
  });
  add("s_bfe_u32", [](u32 a, u32 b) { return nonZero(static_cast<u32>(field(a, b, 32, false))); });
  add("s_bfe_i32", [](u32 a, u32 b) { return nonZero(static_cast<u32>(field(a, b, 32, true))); });
  add("s_bfe_u64", [](u64 a, u32 b) { return nonZero(field(a, b, 64, false)); });
  add("s_bfe_i64", [](u64 a, u32 b) { return nonZero(field(a, b, 64, true)); });
  add("s_absdiff_i32", [](i32 a, i32 b) {
    // The difference wraps before its sign is looked at.
    auto d = static_cast<i32>(exact(a) - exact(b));
    return nonZero(static_cast<u32>(d < 0 ? -exact(d) : exact(d)));
  });
  add("s_mul_i32", [](i32 a, i32 b) { return static_cast<u32>(exact(a) * exact(b)); });
  add("s_mul_hi_u32", [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b / (kTop + 1)); });
  add("s_mul_hi_i32", [](i32 a, i32 b) {
    i64 p = exact(a) * exact(b), unit = i64{1} << 32;
    return static_cast<u32>(p / unit - (p % unit < 0));
  });
  for (u32 shift = 1; shift <= 4; ++shift)
    add(("s_lshl" + std::to_string(shift) + "_add_u32").c_str(), [shift](u32 a, u32 b) {
      u64 r = u64{a} * (1u << shift) + b;
      return Flagged<u32>{static_cast<u32>(r), r > kTop};
    });
  add("s_pack_ll_b32_b16", [](u32 a, u32 b) { return a % 65536 + 65536 * (b % 65536); });
  add("s_pack_lh_b32_b16", [](u32 a, u32 b) { return a % 65536 + 65536 * (b / 65536); });
  add("s_pack_hh_b32_b16", [](u32 a, u32 b) { return a / 65536 + 65536 * (b / 65536); });
}

template <typename T> bool compares(const std::string &how, T a, T b) {
  bool less = a < b, equal = a == b;
  if (how == "eq" || how == "lg")
    return equal == (how == "eq");
  if (how == "lt" || how == "ge")
    return less == (how == "lt");
  return (less || equal) == (how == "le"); // le, gt
}

void addCompares(std::vector<Case> &all) {
  auto add = [&](const std::string &row, auto model) {
    all.push_back(scalarCase(row, Encoding::Sopc, operation(model)));
  };
  for (std::string how : {"eq", "lg", "gt", "ge", "lt", "le"}) {
    add("s_cmp_" + how + "_i32", [how](i32 a, i32 b) { return compares(how, a, b); });
    add("s_cmp_" + how + "_u32", [how](u32 a, u32 b) { return compares(how, a, b); });
  }
  for (std::string how : {"eq", "lg"})
    add("s_cmp_" + how + "_u64", [how](u64 a, u64 b) { return compares(how, a, b); });
  add("s_bitcmp0_b32", [](u32 a, u32 b) { return !bit(a, b % 32); });
  add("s_bitcmp1_b32", [](u32 a, u32 b) { return bit(a, b % 32); });
  add("s_bitcmp0_b64", [](u64 a, u32 b) { return !bit(a, b % 64); });
  add("s_bitcmp1_b64", [](u64 a, u32 b) { return bit(a, b % 64); });
}

/// One case per constant; the register is near it or drawn.
template <typename F> void addConstant(std::vector<Case> &all, const std::string &row, F model) {
  for (u32 bits : {0u, 1u, 42u, 0x7fffu, 0x8000u, 0xffffu}) {
    auto k = static_cast<i32>(static_cast<i16>(bits));
    Case test =
        scalarCase(row, Encoding::Sopk,
                   operation([=](CarryIn c, Before<u32> d) { return model(k, c, d.value); }));
    std::ostringstream s;
    s << row << " s40, 0x" << std::hex << bits << "\n";
    test.body = s.str();
    auto fill = test.fill;
    test.blocks = 24;
    test.fill = [=](int block, Random &random, BlockIn &in) {
      fill(block, random, in);
      u32 base = block % 2 ? static_cast<u32>(k) : bits;
      in.scalar[kOld] = block < 6 ? base + static_cast<u32>(block / 2) - 1
                                  : static_cast<u32>(draw(Type::B32, random));
    };
    all.push_back(test);
  }
}

void addSopk(std::vector<Case> &all) {
  auto wide = [](i64 r) { return Flagged<u32>{static_cast<u32>(r), r != static_cast<i32>(r)}; };
  addConstant(all, "s_movk_i32", [](i32 k, CarryIn, u32) { return k; });
  addConstant(all, "s_cmovk_i32",
              [](i32 k, CarryIn c, u32 d) { return c.bit ? k : static_cast<i32>(d); });
  addConstant(all, "s_addk_i32",
              [=](i32 k, CarryIn, u32 d) { return wide(exact(static_cast<i32>(d)) + k); });
  addConstant(all, "s_mulk_i32", [](i32 k, CarryIn, u32 d) {
    return static_cast<u32>(exact(static_cast<i32>(d)) * k);
  });
  for (std::string how : {"eq", "lg", "gt", "ge", "lt", "le"}) {
    auto keep = [](bool scc, u32 d) { return Flagged<u32>{d, scc}; };
    addConstant(all, "s_cmpk_" + how + "_i32", [=](i32 k, CarryIn, u32 d) {
      return keep(compares(how, static_cast<i32>(d), k), d);
    });
    addConstant(all, "s_cmpk_" + how + "_u32", [=](i32 k, CarryIn, u32 d) {
      return keep(compares(how, d, static_cast<u32>(k) & 0xffff), d);
    });
  }
}

/// EXEC from a mask and EXEC; the destination takes the old EXEC, for wrexec the new one.
void addExec(std::vector<Case> &all) {
  struct Operation {
    const char *name;
    u32 table; ///< bit 2 * source + EXEC
  };
  auto add = [&](const std::string &row, u32 table, bool returnsNew) {
    Case test;
    test.row = row;
    test.body = row + " s[40:41], s[16:17]\n";
    test.blocks = 16;
    test.fill = [](int block, Random &random, BlockIn &in) {
      u64 mask = random() | u64{random()} << 32, exec = random() | u64{random()} << 32;
      u64 masks[] = {mask, 0, ~u64{0}, exec, ~exec};
      setPair(&in.scalar[kS0], masks[block % 5]);
      setPair(&in.scalar[kExec], block == 7 ? 0 : exec);
    };
    test.verify = [=](const Run &run) -> std::string {
      for (std::size_t block = 0; block < run.in.size(); ++block) {
        u64 mask = pairOf(&run.in[block].scalar[kS0]), exec = pairOf(&run.in[block].scalar[kExec]);
        u64 next = 0;
        for (u32 i = 0; i < 64; ++i)
          next |= u64{bit(table, 2u * bit(mask, i) + bit(exec, i))} << i;
        const BlockOut &out = run.out[block];
        auto index = static_cast<int>(block);
        if (pairOf(&out.scalar[kOutExec]) != next)
          return differs("EXEC, block", index, pairOf(&out.scalar[kOutExec]), next);
        u64 old = returnsNew ? next : exec;
        if (pairOf(&out.scalar[kOutS]) != old)
          return differs("destination, block", index, pairOf(&out.scalar[kOutS]), old);
        if (out.scalar[kOutScc] != (next != 0))
          return differs("SCC, block", index, out.scalar[kOutScc], next != 0);
      }
      return "";
    };
    all.push_back(test);
  };
  for (Operation op : {Operation{"and", 8},
                       {"or", 14},
                       {"xor", 6},
                       {"andn2", 4},
                       {"orn2", 13},
                       {"nand", 7},
                       {"nor", 1},
                       {"xnor", 9},
                       {"andn1", 2},
                       {"orn1", 11}})
    add(std::string("s_") + op.name + "_saveexec_b64", op.table, false);
  add("s_andn1_wrexec_b64", 2, true);
  add("s_andn2_wrexec_b64", 4, true);
}

} // namespace

std::vector<Case> scalarCases() {
  std::vector<Case> all;
  addSop1(all);
  addSop2(all);
  addCompares(all);
  addSopk(all);
  addExec(all);
  return all;
}

} // namespace wavesmith::emulator::rows
