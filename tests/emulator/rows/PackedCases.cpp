// Packed math, mixed fma and dot products (CDNA3 ISA 6.2, 12.13): every case draws its op_sel,
// op_sel_hi, neg and clamp.

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/HalfMath.h"
#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr int kWord[3] = {kA, kB, kC};

struct Modifiers {
  u32 sel = 0, selHi = 7, neg = 0, negHi = 0;
  bool clamp = false;
};

std::string list(const char *name, u32 bits, int count) {
  std::string text = std::string(" ") + name + ":[";
  for (int i = 0; i < count; ++i)
    text += (i ? "," : "") + std::to_string((bits >> i) & 1);
  return text + "]";
}
std::string modifierText(const Modifiers &m, int sources, bool signs) {
  std::string text = list("op_sel", m.sel, sources) + list("op_sel_hi", m.selHi, sources);
  if (signs)
    text += list("neg_lo", m.neg, sources) + list("neg_hi", m.negHi, sources);
  return text + (m.clamp ? " clamp" : "") + "\n";
}

void drawTuples(const Operation &op, int words, int block, Random &random, BlockIn &in) {
  for (auto &lane : in.lane) {
    auto value = [&](Type type) {
      u64 bits = draw(type, random);
      for (int at = bitsOf(type); at < 32 * words; at += bitsOf(type))
        bits |= draw(type, random) << at;
      return bits;
    };
    for (int i = 0; i < op.count; ++i)
      setPair(&lane[kWord[i]], value(op.sources[i]));
    if (op.reads)
      setPair(&lane[kD], value(op.result));
  }
  if (block % 2)
    setPair(&in.scalar[kExec], random() | u64{random()} << 32);
}

u64 clamped(Type type, u64 bits) {
  if (isNanBits(type, bits))
    return 0;
  if (type == Type::F16)
    return half(std::clamp(number({static_cast<u16>(bits)}), 0.0, 1.0) + 0.0).bits;
  return toBits(std::clamp(fromBits<float>(bits), 0.0f, 1.0f) + 0.0f);
}

/// The operation on both parts: halves of 32 bits, or words of 64.
Case packedCase(const std::string &row, const Operation &op, const Modifiers &m) {
  bool halves = bitsOf(op.result) == 16, isFloating = isFloat(op.result);
  int width = halves ? 16 : 32;
  Case test;
  test.row = row;
  test.body = row + (halves ? " v8, v6, v2" : " v[8:9], v[6:7], v[2:3]") +
              (op.count == 3 ? (halves ? ", v4" : ", v[4:5]") : "") +
              modifierText(m, op.count, isFloating);
  test.fill = [=](int block, Random &random, BlockIn &in) {
    drawTuples(op, halves ? 1 : 2, block, random, in);
  };
  test.verify = [=](const Run &run) -> std::string {
    u64 part = halves ? 0xffff : 0xffffffff;
    for (std::size_t block = 0; block < run.in.size(); ++block)
      for (int lane = 0; lane < kLanes; ++lane) {
        const BlockIn &in = run.in[block];
        bool active = (pairOf(&in.scalar[kExec]) >> lane) & 1;
        u64 before = pairOf(&in.lane[lane][kD]), actual = pairOf(&run.out[block].lane[lane][kOutD]);
        for (int i = 0; i < 2; ++i) {
          Context c{};
          c.ieee = true;
          for (int s = 0; s < op.count; ++s) {
            u64 select = (i ? m.selHi : m.sel) >> s & 1;
            u64 bits = (pairOf(&in.lane[lane][kWord[s]]) >> (select ? width : 0)) & part;
            if (isFloating && (((i ? m.negHi : m.neg) >> s) & 1))
              bits ^= u64{1} << (width - 1);
            c.source[s] = bits;
          }
          u64 expected = active ? op.call(c).bits : (before >> (i * width)) & part;
          if (active && m.clamp)
            expected = clamped(op.result, expected);
          u64 got = (actual >> (i * width)) & part;
          if (active ? !agrees(op, got, expected) : got != expected)
            return differs(i ? "high part of lane" : "low part of lane", lane, got, expected) +
                   differs(", sources", 0, c.source[0], c.source[1]);
        }
        if (halves && (actual ^ before) >> 32)
          return differs("beyond the destination, lane", lane, actual, before);
      }
    return "";
  };
  return test;
}

void addPacked(std::vector<Case> &all) {
  Random random(11);
  auto add = [&](const char *row, auto model, bool only950 = false) {
    Operation op = operation(model);
    u32 mask = (1u << op.count) - 1;
    for (int i = 0; i < 4; ++i) {
      Modifiers m;
      if (i) {
        m = {static_cast<u32>(random()) & mask, static_cast<u32>(random()) & mask,
             static_cast<u32>(random()) & mask, static_cast<u32>(random()) & mask,
             i == 3 && isFloat(op.result)};
      }
      all.push_back(packedCase(row, op, m));
      all.back().only950 = only950;
    }
  };
  add("v_pk_mad_i16", [](i16 a, i16 b, i16 c) { return static_cast<i16>(i64{a} * b + c); });
  add("v_pk_mul_lo_u16", [](u16 a, u16 b) { return static_cast<u16>(u64{a} * b); });
  add("v_pk_add_i16", [](i16 a, i16 b) { return static_cast<i16>(a + b); });
  add("v_pk_sub_i16", [](i16 a, i16 b) { return static_cast<i16>(a - b); });
  add("v_pk_lshlrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b * (1u << a % 16)); });
  add("v_pk_lshrrev_b16", [](u16 a, u16 b) { return static_cast<u16>(b / (1u << a % 16)); });
  add("v_pk_ashrrev_i16", [](u16 a, i16 b) {
    int unit = 1 << a % 16;
    return static_cast<i16>(b / unit - (b % unit < 0));
  });
  add("v_pk_max_i16", [](i16 a, i16 b) { return std::max(a, b); });
  add("v_pk_min_i16", [](i16 a, i16 b) { return std::min(a, b); });
  add("v_pk_mad_u16", [](u16 a, u16 b, u16 c) { return static_cast<u16>(u64{a} * b + c); });
  add("v_pk_add_u16", [](u16 a, u16 b) { return static_cast<u16>(a + b); });
  add("v_pk_sub_u16", [](u16 a, u16 b) { return static_cast<u16>(a - b); });
  add("v_pk_max_u16", [](u16 a, u16 b) { return std::max(a, b); });
  add("v_pk_min_u16", [](u16 a, u16 b) { return std::min(a, b); });
  add("v_pk_fma_f16", [](Half a, Half b, Half c) { return fused(a, b, c); });
  add("v_pk_add_f16", [](Half a, Half b) { return half(number(a) + number(b)); });
  add("v_pk_mul_f16", [](Half a, Half b) { return half(number(a) * number(b)); });
  add("v_pk_min_f16", [](Half a, Half b, Ieee m) { return lesser(a, b, m.on); });
  add("v_pk_max_f16", [](Half a, Half b, Ieee m) { return greater(a, b, m.on); });
  // NaN wins here (CDNA4 ISA).
  auto extreme = [](bool least) {
    return [least](Half a, Half b, Half c) {
      for (Half x : {a, b, c})
        if (isNanBits(Type::F16, x.bits))
          return Half{0x7e00};
      return least ? lesser(lesser(a, b, false), c, false)
                   : greater(greater(a, b, false), c, false);
    };
  };
  add("v_pk_minimum3_f16", extreme(true), true);
  add("v_pk_maximum3_f16", extreme(false), true);
  add("v_pk_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); });
  add("v_pk_mul_f32", [](float a, float b) { return a * b; });
  add("v_pk_add_f32", [](float a, float b) { return a + b; });
}

/// Verifies v8 lane by lane.
Case laneCase(const std::string &row, const std::string &body, const Operation &op,
              std::function<std::string(const std::array<u32, 8> &in, u32 actual)> wrong) {
  Case test;
  test.row = row;
  test.body = body;
  test.fill = [=](int block, Random &random, BlockIn &in) { drawTuples(op, 1, block, random, in); };
  test.verify = [=](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block)
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto &in = run.in[block].lane[lane];
        u32 actual = run.out[block].lane[lane][kOutD];
        if (!((pairOf(&run.in[block].scalar[kExec]) >> lane) & 1)) {
          if (actual != in[kD])
            return differs("not to be written, lane", lane, actual, in[kD]);
        } else if (std::string message = wrong(in, actual); !message.empty()) {
          return "lane " + std::to_string(lane) + ": " + message;
        }
      }
    return "";
  };
  return test;
}

/// Integer sums of products wrap, or saturate under clamp. `width` bits per item; v_dot2c and the
/// like add to v8.
void addIntegerDots(std::vector<Case> &all) {
  struct Dot {
    const char *row;
    u32 width;
    bool isSigned;
  };
  for (Dot dot : {Dot{"v_dot2_i32_i16", 16, true},
                  {"v_dot2_u32_u16", 16, false},
                  {"v_dot4_i32_i8", 8, true},
                  {"v_dot4_u32_u8", 8, false},
                  {"v_dot8_i32_i4", 4, true},
                  {"v_dot8_u32_u4", 4, false}})
    for (const bool clamp : {false, true}) {
      Operation op = operation([dot, clamp](u32 a, u32 b, u32 c) {
        i64 sum = dot.isSigned ? i64{static_cast<i32>(c)} : i64{c}, unit = i64{1} << dot.width;
        for (u32 i = 0; i < 32; i += dot.width) {
          i64 x = (a >> i) % unit, y = (b >> i) % unit;
          if (dot.isSigned)
            x -= x >= unit / 2 ? unit : 0, y -= y >= unit / 2 ? unit : 0;
          sum += x * y;
        }
        if (clamp && dot.isSigned)
          sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        else if (clamp)
          sum = sum > UINT32_MAX ? UINT32_MAX : sum;
        return static_cast<u32>(sum);
      });
      all.push_back(laneCase(dot.row,
                             std::string(dot.row) + " v8, v6, v2, v4" + (clamp ? " clamp\n" : "\n"),
                             op, [op](const std::array<u32, 8> &in, u32 actual) -> std::string {
                               Context c{{in[kA], in[kB], in[kC]}, 0, false, 0, true};
                               u64 right = op.call(c).bits;
                               return actual == right ? "" : differs("value", 0, actual, right);
                             }));
    }
}

/// Two products and an addend. The manual gives no order, so the error is bounded: three roundings
/// of what is added. Denormal items are flushed or not; their lanes do not count.
void addFloatDots(std::vector<Case> &all) {
  auto add = [&](const std::string &row, const std::string &body, bool bf16, int addend) {
    Operation op = operation([](Half, Half, float, Before<float>) { return 0.0f; });
    Operation wide = operation([](u32, u32, float, Before<float>) { return 0.0f; });
    all.push_back(laneCase(
        row, body, bf16 ? wide : op, [=](const std::array<u32, 8> &in, u32 bits) -> std::string {
          auto item = [&](int word, int i) {
            auto x = static_cast<u16>(in[word] >> (16 * i));
            return bf16 ? double{fromBits<float>(u64{x} << 16)} : number({x});
          };
          double start = fromBits<float>(in[addend]), sum = start, size = std::fabs(start);
          bool tiny = start != 0 && std::fabs(start) < 0x1p-100;
          for (int i = 0; i < 2; ++i) {
            double x = item(kA, i), y = item(kB, i), p = x * y;
            tiny = tiny || (p != 0 && std::fabs(p) < 0x1p-100);
            for (double z : {x, y})
              tiny = tiny || (z != 0 && std::fabs(z) < (bf16 ? 0x1p-126 : 0x1p-14));
            sum += p;
            size += std::fabs(p);
          }
          double actual = fromBits<float>(bits);
          if (std::isnan(sum) || std::isnan(size))
            return std::isnan(actual) ? "" : differs("no NaN", 0, bits, 0x7fc00000);
          if (tiny || size > 0x1p127)
            return "";
          return std::fabs(actual - sum) <= size * 0x1.8p-23
                     ? ""
                     : differs("value", 0, bits, toBits(static_cast<float>(sum)));
        }));
  };
  add("v_dot2_f32_f16", "v_dot2_f32_f16 v8, v6, v2, v4\n", false, kC);
  add("v_dot2c_f32_f16", "v_dot2c_f32_f16 v8, v6, v2\n", false, kD);
  add("v_dot2_f32_bf16", "v_dot2_f32_bf16 v8, v6, v2, v4\n", true, kC);
  all.back().only950 = true;
  add("v_dot2c_f32_bf16", "v_dot2c_f32_bf16 v8, v6, v2\n", true, kD);
  all.back().only950 = true;
}

/// a * b + c to nearest even in float16, with one rounding: the double sum is made odd when bits of
/// it are lost, so that it is no tie.
Half roundedOnce(float a, float b, float c) {
  double product = double{a} * b, sum = product + c, shadow = sum - product;
  double lost = (product - (sum - shadow)) + (c - shadow);
  u64 bits = toBits(sum);
  if (std::isfinite(sum) && lost != 0 && bits % 2 == 0)
    bits = (lost > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return half(fromBits<double>(bits));
}

/// op_sel_hi makes a source a float16, op_sel picks its half. The sum is rounded once, to float32
/// or for the lo and hi forms to float16.
void addMix(std::vector<Case> &all) {
  Random random(5);
  for (const char *row : {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"})
    for (int round = 0; round < 6; ++round) {
      std::string name = row;
      bool low = name.find("lo") != std::string::npos, high = name.find("hi") != std::string::npos;
      // The last rounds are all float32: there a second rounding shows.
      Modifiers m{static_cast<u32>(random() & 7), round > 3 ? 0 : static_cast<u32>(random() & 7),
                  static_cast<u32>(random() & 7), static_cast<u32>(random() & 7), round == 3};
      m.sel &= m.selHi;
      std::string signs;
      auto source = [&](int i) {
        std::string text = "v" + std::to_string(i == 0 ? 6 : 2 * i);
        if ((m.negHi >> i) & 1)
          text = "|" + text + "|";
        return (m.neg >> i) & 1 ? "-" + text : text;
      };
      std::string body = name + " v8, " + source(0) + ", " + source(1) + ", " + source(2) +
                         list("op_sel", m.sel, 3) + list("op_sel_hi", m.selHi, 3) +
                         (m.clamp ? " clamp" : "") + "\n";
      Operation op = operation([](float, float, float, Before<u32>) { return 0u; });
      Case test =
          laneCase(row, body, op, [=](const std::array<u32, 8> &in, u32 actual) -> std::string {
            float x[3];
            for (int i = 0; i < 3; ++i) {
              u32 word = in[kWord[i]];
              bool isHalf = (m.selHi >> i) & 1, top = (m.sel >> i) & 1;
              x[i] = isHalf
                         ? static_cast<float>(number({static_cast<u16>(top ? word >> 16 : word)}))
                         : fromBits<float>(word);
              if ((m.negHi >> i) & 1)
                x[i] = std::fabs(x[i]);
              if ((m.neg >> i) & 1)
                x[i] = -x[i];
            }
            float sum = std::fma(x[0], x[1], x[2]);
            u32 part =
                low || high ? roundedOnce(x[0], x[1], x[2]).bits : static_cast<u32>(toBits(sum));
            Type type = low || high ? Type::F16 : Type::F32;
            if (m.clamp)
              part = static_cast<u32>(clamped(type, part));
            u32 got = high ? actual >> 16 : (low ? actual & 0xffff : actual);
            u32 kept = high ? (actual ^ in[kD]) & 0xffff : (low ? (actual ^ in[kD]) >> 16 : 0);
            if (kept)
              return differs("the other half", 0, actual, in[kD]);
            if (isNanBits(type, part) ? isNanBits(type, got) : got == part)
              return "";
            return differs("value", 0, got, part);
          });
      auto fill = test.fill;
      test.fill = [=](int block, Random &drawn, BlockIn &in) {
        fill(block, drawn, in);
        if (round < 4)
          return;
        for (auto &lane : in.lane) {
          lane[kA] = 0x3f800000;                            // 1
          lane[kB] = 0x3f801000 + (drawn() % 4 << 13);      // halfway between float16
          lane[kC] = drawn() % 2 ? 0x2b800000 : 0xab800000; // 2^-40
        }
      };
      all.push_back(test);
    }
}

/// fma on both halves with the destination as addend; a move of two words from two pairs.
void addOthers(std::vector<Case> &all) {
  Operation halves = operation([](Half, Half, Before<Half>) { return Half{}; });
  all.push_back(laneCase("v_pk_fmac_f16", "v_pk_fmac_f16 v8, v6, v2\n", halves,
                         [](const std::array<u32, 8> &in, u32 actual) -> std::string {
                           for (int shift : {0, 16}) {
                             auto part = [&](u32 word) {
                               return Half{static_cast<u16>(word >> shift)};
                             };
                             Half right = fused(part(in[kA]), part(in[kB]), part(in[kD]));
                             Half got = part(actual);
                             if (isNanBits(Type::F16, right.bits) ? !isNanBits(Type::F16, got.bits)
                                                                  : got.bits != right.bits)
                               return differs("half", shift, got.bits, right.bits);
                           }
                           return "";
                         }));
  for (u32 sel = 0; sel < 4; ++sel) {
    Case test;
    test.row = "v_pk_mov_b32";
    test.body = "v_pk_mov_b32 v[8:9], v[6:7], v[2:3]" + list("op_sel", sel, 2) + "\n";
    test.blocks = 1;
    test.verify = [sel](const Run &run) -> std::string {
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto &in = run.in[0].lane[lane];
        u64 right = in[kA + (sel & 1)] | u64{in[kB + (sel >> 1)]} << 32;
        if (u64 actual = pairOf(&run.out[0].lane[lane][kOutD]); actual != right)
          return differs("lane", lane, actual, right);
      }
      return "";
    };
    all.push_back(test);
  }
}

} // namespace

std::vector<Case> packedCases() {
  std::vector<Case> all;
  addPacked(all);
  addIntegerDots(all);
  addFloatDots(all);
  addMix(all);
  addOthers(all);
  return all;
}

} // namespace wavesmith::emulator::rows
