// float16 arithmetic: exact in double (fma: in 128 bits), then rounded once to nearest even
// (CDNA3 ISA 12.7 to 12.12).

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Forms.h"
#include "tests/emulator/rows/HalfMath.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr u32 kAll = Entry::kSigns | Entry::kOmod | Entry::kClamp | Entry::kSdwa | Entry::kDpp;
constexpr u32 kLong = Entry::kSigns | Entry::kClamp | Entry::kOpSel;
constexpr u32 kLegacy = Entry::kSigns | Entry::kClamp;

double turns(double (*function)(double), double x) {
  return function(2 * 3.14159265358979323846 * (x - std::floor(x)));
}
double roundEven(double x) { return std::isfinite(x) ? x - std::remainder(x, 1) : x; }

void addVop1(std::vector<Entry> &all) {
  auto add = [&](const char *row, double (*function)(double), double ulps = 0) {
    all.push_back({row, Encoding::Vop1,
                   operation([=](Half a) { return half(function(number(a))); }, ulps), kAll});
  };
  add("v_rcp_f16", [](double x) { return 1 / x; }, 1);
  add("v_sqrt_f16", [](double x) { return std::sqrt(x); }, 1);
  add("v_rsq_f16", [](double x) { return 1 / std::sqrt(x); }, 1);
  add("v_log_f16", [](double x) { return std::log2(x); }, 1);
  add("v_exp_f16", [](double x) { return std::exp2(x); }, 1);
  add("v_floor_f16", [](double x) { return std::floor(x); });
  add("v_ceil_f16", [](double x) { return std::ceil(x); });
  add("v_trunc_f16", [](double x) { return std::trunc(x); });
  add("v_rndne_f16", [](double x) { return std::copysign(roundEven(x), x); });
  // Never 1, the largest below it instead.
  add("v_fract_f16", [](double x) { return std::min(x - std::floor(x), 1 - 0x1p-11); });
  add("v_frexp_mant_f16", [](double x) {
    int e = 0;
    return std::isfinite(x) ? std::frexp(x, &e) : x;
  });
  all.push_back({"v_frexp_exp_i16_f16", Encoding::Vop1, operation([](Half a) {
                   int e = 0;
                   if (double x = number(a); std::isfinite(x) && x != 0)
                     std::frexp(x, &e);
                   return static_cast<i16>(e);
                 }),
                 Entry::kSigns | Entry::kSdwa | Entry::kDpp});
  auto norm = [](double x, double low, double scale) {
    return std::isnan(x) ? 0 : static_cast<i32>(roundEven(std::clamp(x, low, 1.0) * scale));
  };
  constexpr u32 kToInt = Entry::kSigns | Entry::kSdwa | Entry::kDpp;
  all.push_back({"v_cvt_norm_i16_f16", Encoding::Vop1,
                 operation([=](Half a) { return static_cast<i16>(norm(number(a), -1, 32767)); }),
                 kToInt});
  all.push_back({"v_cvt_norm_u16_f16", Encoding::Vop1,
                 operation([=](Half a) { return static_cast<u16>(norm(number(a), 0, 65535)); }),
                 kToInt});
  all.push_back({"v_cvt_pknorm_i16_f16", Encoding::Vop3, operation([=](Half a, Half b) {
                   return (static_cast<u32>(norm(number(a), -1, 32767)) & 0xffff) |
                          static_cast<u32>(norm(number(b), -1, 32767)) << 16;
                 }),
                 Entry::kSigns | Entry::kOpSel});
  all.push_back({"v_cvt_pknorm_u16_f16", Encoding::Vop3, operation([=](Half a, Half b) {
                   return static_cast<u32>(norm(number(a), 0, 65535)) |
                          static_cast<u32>(norm(number(b), 0, 65535)) << 16;
                 }),
                 Entry::kSigns | Entry::kOpSel});
}

void addVop2(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms = kAll) {
    all.push_back({row, Encoding::Vop2, operation(model), forms});
  };
  add("v_add_f16", [](Half a, Half b) { return half(number(a) + number(b)); });
  add("v_sub_f16", [](Half a, Half b) { return half(number(a) - number(b)); });
  add("v_subrev_f16", [](Half a, Half b) { return half(number(b) - number(a)); });
  add("v_mul_f16", [](Half a, Half b) { return half(number(a) * number(b)); });
  add("v_min_f16", [](Half a, Half b, Ieee m) { return lesser(a, b, m.on); });
  add("v_max_f16", [](Half a, Half b, Ieee m) { return greater(a, b, m.on); });
  add(
      "v_mac_f16", [](Half a, Half b, Before<Half> d) { return multiplyAdd(a, b, d.value); },
      kLegacy);
  add(
      "v_ldexp_f16", [](Half a, i16 b) { return half(std::ldexp(number(a), b)); },
      Entry::kSigns | Entry::kClamp | Entry::kSdwa | Entry::kDpp);
}

void addVop3(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms = kLong) {
    all.push_back({row, Encoding::Vop3, operation(model), forms});
  };
  add("v_mad_f16", [](Half a, Half b, Half c) { return multiplyAdd(a, b, c); });
  add("v_mad_legacy_f16", [](Half a, Half b, Half c) { return multiplyAdd(a, b, c); }, kLegacy);
  add("v_fma_f16", [](Half a, Half b, Half c) { return fused(a, b, c); });
  add("v_fma_legacy_f16", [](Half a, Half b, Half c) { return fused(a, b, c); }, kLegacy);
  add("v_min3_f16",
      [](Half a, Half b, Half c, Ieee m) { return lesser(lesser(a, b, m.on), c, m.on); });
  add("v_max3_f16",
      [](Half a, Half b, Half c, Ieee m) { return greater(greater(a, b, m.on), c, m.on); });
  add("v_med3_f16", [](Half a, Half b, Half c, Ieee m) {
    double x = number(a), y = number(b), z = number(c);
    if (std::isnan(x) || std::isnan(y) || std::isnan(z))
      return lesser(lesser(a, b, m.on), c, m.on);
    // As for float32: the first that equals the largest is put aside.
    double top = std::max({x, y, z});
    return top == x ? greater(b, c, m.on) : (top == y ? greater(a, c, m.on) : greater(a, b, m.on));
  });
  add(
      "v_pack_b32_f16", [](Half a, Half b) { return a.bits | u32{b.bits} << 16; },
      Entry::kSigns | Entry::kOpSel);
}

} // namespace

std::vector<Case> halfCases() {
  std::vector<Entry> all;
  addVop1(all);
  addVop2(all);
  addVop3(all);
  std::vector<Case> cases = casesOf(all);
  // Turns: near zeros of the function the error is absolute.
  auto turning = [&](const char *row, double (*function)(double)) {
    Case test = vectorCase(row, Encoding::Vop1, operation([](Half a) { return a; }));
    test.verify = [function](const Run &run) -> std::string {
      for (std::size_t block = 0; block < run.in.size(); ++block)
        for (int lane = 0; lane < kLanes; ++lane) {
          double x = number({static_cast<u16>(run.in[block].lane[lane][kA])});
          if (!((pairOf(&run.in[block].scalar[kExec]) >> lane) & 1) || !(std::fabs(x) <= 256))
            continue;
          double right = turns(function, x);
          u32 actual = run.out[block].lane[lane][kOutD];
          if (actual >> 16 ||
              !(std::fabs(number({static_cast<u16>(actual)}) - right) <= 0x1p-11 * 1.5))
            return differs("lane", lane, actual, half(right).bits);
        }
      return "";
    };
    cases.push_back(test);
  };
  turning("v_sin_f16", [](double x) { return std::sin(x); });
  turning("v_cos_f16", [](double x) { return std::cos(x); });
  // A literal among the sources: -3.25.
  Case mk = vectorCase("v_madmk_f16", Encoding::Vop2,
                       operation([](Half a, Half b) { return multiplyAdd(a, {0xc280}, b); }));
  mk.body = "v_madmk_f16 v8, v6, 0xc280, v2\n";
  cases.push_back(mk);
  Case ak = vectorCase("v_madak_f16", Encoding::Vop2,
                       operation([](Half a, Half b) { return multiplyAdd(a, b, {0xc280}); }));
  ak.body = "v_madak_f16 v8, v6, v2, 0xc280\n";
  cases.push_back(ak);
  return cases;
}

} // namespace wavesmith::emulator::rows
