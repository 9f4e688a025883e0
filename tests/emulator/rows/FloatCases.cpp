// float32 and float64 arithmetic (CDNA3 ISA 12.7 to 12.12). Sums, products and fma are the host's,
// to nearest even; what the manuals give in words only is compared within a unit in the last place.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Forms.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr u32 kAll = Entry::kSigns | Entry::kOmod | Entry::kClamp | Entry::kSdwa | Entry::kDpp;
constexpr u32 kLongOnly = Entry::kSigns | Entry::kOmod | Entry::kClamp;
constexpr u32 kDouble = Entry::kSigns | Entry::kOmod | Entry::kClamp;

template <typename T> bool signalling(T x) {
  constexpr int kQuiet = sizeof(T) == 4 ? 22 : 51;
  return std::isnan(x) && !((toBits(x) >> kQuiet) & 1);
}
/// A signalling NaN wins in IEEE mode, one quiet NaN loses, -0 is below +0.
template <typename T> T lesser(T a, T b, bool ieee) {
  if (ieee && (signalling(a) || signalling(b)))
    return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T> T greater(T a, T b, bool ieee) {
  if (ieee && (signalling(a) || signalling(b)))
    return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
/// NaN gives the least of the three by the rules above. Of zeros the first that equals the largest
/// is put aside, whatever its sign.
float middle(float a, float b, float c, bool ieee) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c))
    return lesser(lesser(a, b, ieee), c, ieee);
  float top = std::max({a, b, c});
  return top == a ? greater(b, c, ieee) : (top == b ? greater(a, c, ieee) : greater(a, b, ieee));
}
template <typename T> T roundEven(T x) { // the nearest whole number
  if (std::isnan(x) || std::isinf(x))
    return x;
  T down = std::floor(x), part = x - down, up = std::ceil(x);
  T r = part < T(0.5) ? down : (part > T(0.5) ? up : (std::fmod(down, T(2)) == 0 ? down : up));
  return std::copysign(r, x);
}
template <typename T> T fraction(T x) {
  T below1 = std::nextafter(T(1), T(0)), r = x - std::floor(x);
  return r >= 1 ? below1 : r;
}
template <typename T> i32 exponentOf(T x) {
  int e = 0;
  if (std::isfinite(x) && x != 0)
    std::frexp(x, &e);
  return e;
}
template <typename T> T mantissaOf(T x) {
  int e = 0;
  return std::isfinite(x) ? std::frexp(x, &e) : x;
}
u32 toUnsigned(double x) {
  return std::isnan(x) || x <= 0 ? 0 : static_cast<u32>(std::min(std::trunc(x), 4294967295.0));
}
i32 toSigned(double x) {
  return std::isnan(x) ? 0
                       : static_cast<i32>(std::clamp(std::trunc(x), -2147483648.0, 2147483647.0));
}
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
/// What these functions do with denormals does not depend on MODE (CDNA4 ISA 6.4).
template <typename F> auto flushing(F function) {
  return [function](float a) { return flushed(static_cast<float>(function(double{flushed(a)}))); };
}
double sineOfTurns(double x) { return std::sin(2 * 3.14159265358979323846 * (x - std::floor(x))); }
double cosineOfTurns(double x) {
  return std::cos(2 * 3.14159265358979323846 * (x - std::floor(x)));
}
u32 unsignedNorm(float x) {
  return std::isnan(x) ? 0 : static_cast<u32>(roundEven(std::clamp(x, 0.0f, 1.0f) * 65535.0f));
}
u32 signedNorm(float x) {
  return std::isnan(x) ? 0
                       : static_cast<u32>(
                             static_cast<i32>(roundEven(std::clamp(x, -1.0f, 1.0f) * 32767.0f))) &
                             0xffff;
}
u32 byteOf(float x) {
  return std::isnan(x) ? 0 : static_cast<u32>(std::clamp(roundEven(x), 0.0f, 255.0f));
}

template <typename T> void addCommon(std::vector<Entry> &all, const std::string &type, u32 forms) {
  auto vop1 = [&](const std::string &row, auto model) {
    all.push_back({row + type, Encoding::Vop1, operation(model), forms});
  };
  vop1("v_trunc", [](T a) { return std::trunc(a); });
  vop1("v_ceil", [](T a) { return std::ceil(a); });
  vop1("v_floor", [](T a) { return std::floor(a); });
  vop1("v_rndne", [](T a) { return roundEven(a); });
  vop1("v_fract", [](T a) { return fraction(a); });
  vop1("v_frexp_mant", [](T a) { return mantissaOf(a); });
}

void addConversions(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms) {
    all.push_back({row, Encoding::Vop1, operation(model), forms});
  };
  constexpr u32 kFromInt =
      Entry::kSdwa | Entry::kDpp | Entry::kExtend | Entry::kOmod | Entry::kClamp;
  constexpr u32 kToInt = Entry::kSigns | Entry::kSdwa | Entry::kDpp;
  add("v_cvt_i32_f64", [](double a) { return toSigned(a); }, Entry::kSigns);
  add("v_cvt_u32_f64", [](double a) { return toUnsigned(a); }, Entry::kSigns);
  add("v_cvt_f64_i32", [](i32 a) { return double(a); }, 0);
  add("v_cvt_f64_u32", [](u32 a) { return double(a); }, 0);
  add("v_cvt_f32_i32", [](i32 a) { return static_cast<float>(a); }, kFromInt);
  add("v_cvt_f32_u32", [](u32 a) { return static_cast<float>(a); }, kFromInt);
  add("v_cvt_u32_f32", [](float a) { return toUnsigned(a); }, kToInt);
  add("v_cvt_i32_f32", [](float a) { return toSigned(a); }, kToInt);
  add("v_cvt_rpi_i32_f32", [](float a) { return toSigned(std::floor(double{a} + 0.5)); }, kToInt);
  add("v_cvt_flr_i32_f32", [](float a) { return toSigned(std::floor(double{a})); }, kToInt);
  // Sixteenths from -8 to 7.
  add(
      "v_cvt_off_f32_i4",
      [](u32 a) { return (static_cast<float>(a % 16) - (a % 16 >= 8 ? 16.0f : 0.0f)) / 16; },
      Entry::kSdwa | Entry::kDpp);
  add("v_cvt_f32_f64", [](double a) { return static_cast<float>(a); }, kDouble);
  add("v_cvt_f64_f32", [](float a) { return double{a}; }, kDouble);
  for (u32 byte = 0; byte < 4; ++byte)
    add(("v_cvt_f32_ubyte" + std::to_string(byte)).c_str(),
        [byte](u32 a) { return static_cast<float>(a / (1u << 8 * byte) % 256); },
        Entry::kDpp | Entry::kSdwa);
  add("v_frexp_exp_i32_f32", [](float a) { return exponentOf(a); }, kToInt);
  add("v_frexp_exp_i32_f64", [](double a) { return exponentOf(a); }, Entry::kSigns);
}

/// Within a unit in the last place of the true value; denormals are zero.
void addApproximations(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model) {
    all.push_back({row, Encoding::Vop1, operation(flushing(model), 1), Entry::kSigns});
  };
  add("v_exp_f32", [](double a) { return std::exp2(a); });
  add("v_exp_legacy_f32", [](double a) { return std::exp2(a); });
  add("v_log_f32", [](double a) { return std::log2(a); });
  add("v_log_legacy_f32", [](double a) { return std::log2(a); });
  add("v_rcp_f32", [](double a) { return 1 / a; });
  add("v_rcp_iflag_f32", [](double a) { return 1 / a; });
  add("v_rsq_f32", [](double a) { return 1 / std::sqrt(a); });
  add("v_sqrt_f32", [](double a) { return std::sqrt(a); });
  all.push_back(
      {"v_rcp_f64", Encoding::Vop1, operation([](double a) { return 1 / a; }, 1), kDouble});
  all.push_back({"v_rsq_f64", Encoding::Vop1,
                 operation([](double a) { return 1 / std::sqrt(a); }, 1), kDouble});
  all.push_back(
      {"v_sqrt_f64", Encoding::Vop1, operation([](double a) { return std::sqrt(a); }, 1), kDouble});
}

void addVop2(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms = kAll) {
    all.push_back({row, Encoding::Vop2, operation(model), forms});
  };
  add("v_add_f32", [](float a, float b) { return a + b; });
  add("v_sub_f32", [](float a, float b) { return a - b; });
  add("v_subrev_f32", [](float a, float b) { return b - a; });
  add("v_mul_f32", [](float a, float b) { return a * b; });
  add("v_min_f32", [](float a, float b, Ieee m) { return lesser(a, b, m.on); });
  add("v_max_f32", [](float a, float b, Ieee m) { return greater(a, b, m.on); });
  add(
      "v_fmac_f32", [](float a, float b, Before<float> d) { return std::fma(a, b, d.value); },
      kLongOnly);
  add(
      "v_fmac_f64", [](double a, double b, Before<double> d) { return std::fma(a, b, d.value); },
      kDouble);
}

void addVop3(std::vector<Entry> &all) {
  auto add = [&](const char *row, auto model, u32 forms = kLongOnly, bool only950 = false) {
    all.push_back({row, Encoding::Vop3, operation(model), forms, only950});
  };
  add("v_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); });
  add("v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); }, kDouble);
  add("v_add_f64", [](double a, double b) { return a + b; }, kDouble);
  add("v_mul_f64", [](double a, double b) { return a * b; }, kDouble);
  add("v_min_f64", [](double a, double b, Ieee m) { return lesser(a, b, m.on); }, kDouble);
  add("v_max_f64", [](double a, double b, Ieee m) { return greater(a, b, m.on); }, kDouble);
  add("v_min3_f32",
      [](float a, float b, float c, Ieee m) { return lesser(lesser(a, b, m.on), c, m.on); });
  add("v_max3_f32",
      [](float a, float b, float c, Ieee m) { return greater(greater(a, b, m.on), c, m.on); });
  add("v_med3_f32", [](float a, float b, float c, Ieee m) { return middle(a, b, c, m.on); });
  // NaN always wins here (CDNA4 ISA).
  add(
      "v_minimum3_f32",
      [](float a, float b, float c) {
        if (std::isnan(a) || std::isnan(b) || std::isnan(c))
          return std::numeric_limits<float>::quiet_NaN();
        return lesser(lesser(a, b, false), c, false);
      },
      kLongOnly, true);
  add(
      "v_maximum3_f32",
      [](float a, float b, float c) {
        if (std::isnan(a) || std::isnan(b) || std::isnan(c))
          return std::numeric_limits<float>::quiet_NaN();
        return greater(greater(a, b, false), c, false);
      },
      kLongOnly, true);
  add("v_mul_legacy_f32", [](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; });
  add("v_ldexp_f32",
      [](float a, i32 b) { return static_cast<float>(std::ldexp(a, std::clamp(b, -1000, 1000))); });
  add(
      "v_ldexp_f64", [](double a, i32 b) { return std::ldexp(a, std::clamp(b, -5000, 5000)); },
      kDouble);
  add(
      "v_cvt_pknorm_i16_f32", [](float a, float b) { return signedNorm(a) | signedNorm(b) << 16; },
      Entry::kSigns);
  add(
      "v_cvt_pknorm_u16_f32",
      [](float a, float b) { return unsignedNorm(a) | unsignedNorm(b) << 16; }, Entry::kSigns);
  add(
      "v_cvt_pk_u8_f32",
      [](float a, u32 b, u32 c) {
        u32 unit = 1u << b % 4 * 8, old = c / unit % 256;
        return c - old * unit + byteOf(a) * unit;
      },
      0);
  add(
      "v_cvt_pkaccum_u8_f32",
      [](float a, u32 b, Before<u32> d) {
        u32 unit = 1u << b % 4 * 8, old = d.value / unit % 256;
        return d.value - old * unit + byteOf(a) * unit;
      },
      0);
  // Cube maps: the axis of the largest coordinate, ties to z, then y.
  auto axis = [](float x, float y, float z) {
    x = std::fabs(x), y = std::fabs(y), z = std::fabs(z);
    return z >= x && z >= y ? 2 : (y >= x ? 1 : 0);
  };
  add(
      "v_cubeid_f32",
      [=](float x, float y, float z) {
        float along[] = {x, y, z};
        int i = axis(x, y, z);
        return static_cast<float>(2 * i + (along[i] < 0));
      },
      0);
  add(
      "v_cubesc_f32",
      [=](float x, float y, float z) {
        int i = axis(x, y, z);
        return i == 1 ? x : (i == 2 ? (z < 0 ? -x : x) : (x < 0 ? z : -z));
      },
      0);
  add(
      "v_cubetc_f32",
      [=](float x, float y, float z) { return axis(x, y, z) == 1 ? (y < 0 ? -z : z) : -y; }, 0);
  add(
      "v_cubema_f32",
      [=](float x, float y, float z) {
        float along[] = {x, y, z};
        return 2 * along[axis(x, y, z)];
      },
      0);
}

} // namespace

std::vector<Case> floatCases() {
  std::vector<Entry> all;
  addCommon<float>(all, "_f32", kAll);
  addCommon<double>(all, "_f64", kDouble);
  addConversions(all);
  addApproximations(all);
  addVop2(all);
  addVop3(all);
  std::vector<Case> cases = casesOf(all);
  // Turns, where the manual gives a range: [-256, 256]. The error is that of float32 near zero.
  auto turns = [&](const char *row, double (*function)(double)) {
    Case test = vectorCase(row, Encoding::Vop1, operation([](float a) { return a; }));
    auto fill = test.fill;
    test.fill = [fill](int block, Random &random, BlockIn &in) {
      fill(block, random, in);
      for (auto &lane : in.lane)
        lane[kA] =
            static_cast<u32>(toBits((static_cast<float>(random() % 131072) - 65536.0f) / 256 +
                                    static_cast<float>(random() % 256) / 65536));
    };
    test.verify = [function](const Run &run) -> std::string {
      for (std::size_t block = 0; block < run.in.size(); ++block)
        for (int lane = 0; lane < kLanes; ++lane) {
          if (!((pairOf(&run.in[block].scalar[kExec]) >> lane) & 1))
            continue;
          double right = function(fromBits<float>(run.in[block].lane[lane][kA]));
          double actual = fromBits<float>(run.out[block].lane[lane][kOutD]);
          if (!(std::fabs(actual - right) <= 0x1p-22))
            return differs("lane", lane, run.out[block].lane[lane][kOutD],
                           toBits(static_cast<float>(right)));
        }
      return "";
    };
    cases.push_back(test);
  };
  turns("v_sin_f32", sineOfTurns);
  turns("v_cos_f32", cosineOfTurns);
  // A literal among the sources.
  Case mk = vectorCase("v_fmamk_f32", Encoding::Vop2,
                       operation([](float a, float b) { return std::fma(a, -3.25f, b); }));
  mk.body = "v_fmamk_f32 v8, v6, 0xc0500000, v2\n";
  cases.push_back(mk);
  Case ak = vectorCase("v_fmaak_f32", Encoding::Vop2,
                       operation([](float a, float b) { return std::fma(a, b, -3.25f); }));
  ak.body = "v_fmaak_f32 v8, v6, v2, 0xc0500000\n";
  cases.push_back(ak);
  return cases;
}

} // namespace wavesmith::emulator::rows
