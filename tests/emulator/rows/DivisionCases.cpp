// The steps of a division (CDNA3 ISA, V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP), one by one and as the
// sequence that compilers emit, which has to give the correctly rounded quotient.

#include <cmath>
#include <limits>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Forms.h"

namespace wavesmith::emulator::rows {
namespace {

template <typename T> struct Limits;
template <> struct Limits<float> {
  static constexpr int kMantissa = 23, kBias = 127, kScale = 64, kSpread = 96, kTiny = 23;
  static constexpr const char *kSuffix = "_f32";
};
template <> struct Limits<double> {
  static constexpr int kMantissa = 52, kBias = 1023, kScale = 128, kSpread = 768, kTiny = 53;
  static constexpr const char *kSuffix = "_f64";
};

template <typename T> int exponentField(T x) {
  return static_cast<int>(toBits(x) >> Limits<T>::kMantissa) & (2 * Limits<T>::kBias + 1);
}
/// Holds a product and a sum of doubles before they are rounded.
__extension__ using Wide = __float128;

template <typename T> bool denormal(T x) { return std::fpclassify(x) == FP_SUBNORMAL; }

/// Numbers of all magnitudes, near each other half of the time.
template <typename T> void drawQuotients(Random &random, BlockIn &in) {
  constexpr u64 kFields = 2 * Limits<T>::kBias + 1;
  for (auto &lane : in.lane) {
    u64 exponent = 0;
    for (int word : {kB, kC}) { // denominator, numerator
      u64 fraction = (random() | u64{random()} << 32) & ((u64{1} << Limits<T>::kMantissa) - 1);
      bool near = word == kC && random() % 2;
      u64 field = near ? std::min<u64>(kFields - 1, exponent + random() % 8) : random() % kFields;
      // The rims are where scaling happens.
      if (!near && random() % 3 == 0)
        field = random() % 2 ? random() % 30 : kFields - 1 - random() % 30;
      exponent = field;
      u64 sign = u64{random() % 2} << (8 * sizeof(T) - 1);
      u64 bits = sign | field << Limits<T>::kMantissa | fraction;
      setPair(&lane[word], sizeof(T) == 4 ? bits | u64{random()} << 32 : bits);
    }
  }
}
template <typename T> T operand(const BlockIn &in, int lane, int word) {
  return fromBits<T>(pairOf(&in.lane[lane][word]));
}
std::string pairText(int first, bool wide) {
  return wide ? "v[" + std::to_string(first) + ":" + std::to_string(first + 1) + "]"
              : "v" + std::to_string(first);
}

/// What v_div_scale makes of one of denominator and numerator, and VCC.
template <typename T> Flagged<T> scaled(T which, bool isNumerator, T denominator, T numerator) {
  using L = Limits<T>;
  T up = std::ldexp(which, L::kScale), down = std::ldexp(which, -L::kScale);
  if (numerator == 0 || denominator == 0)
    return {std::numeric_limits<T>::quiet_NaN(), false};
  bool tinyReciprocal = std::fabs(denominator) > std::ldexp(T(1), L::kBias - 1);
  bool tinyQuotient = denormal(numerator / denominator);
  if (exponentField(numerator) - exponentField(denominator) >= L::kSpread)
    return {isNumerator ? which : up, true};
  if (denormal(denominator))
    return {up, false};
  // The manual scales up here, which would make the denominator infinite.
  if (tinyReciprocal && tinyQuotient)
    return {isNumerator ? which : down, true};
  if (tinyReciprocal)
    return {down, false};
  if (tinyQuotient)
    return {isNumerator ? up : which, true};
  return {exponentField(numerator) <= L::kTiny ? up : which, false};
}

template <typename T> void add(std::vector<Case> &all) {
  using L = Limits<T>;
  constexpr bool kWide = sizeof(T) == 8;
  std::string suffix = L::kSuffix, b = pairText(2, kWide), c = pairText(4, kWide),
              a = pairText(6, kWide), d = pairText(8, kWide);
  for (bool isNumerator : {false, true}) {
    Case test;
    test.row = "v_div_scale" + suffix;
    test.body = test.row + " " + d + ", vcc, " + (isNumerator ? c : b) + ", " + b + ", " + c + "\n";
    test.blocks = 16;
    test.fill = [](int, Random &random, BlockIn &in) { drawQuotients<T>(random, in); };
    test.verify = [=](const Run &run) -> std::string {
      for (std::size_t block = 0; block < run.in.size(); ++block)
        for (int lane = 0; lane < kLanes; ++lane) {
          T denominator = operand<T>(run.in[block], lane, kB),
            numerator = operand<T>(run.in[block], lane, kC);
          if (std::fabs(denominator) == std::ldexp(T(1), L::kBias - 1))
            continue; // its reciprocal is the smallest normal number
          if (!std::isfinite(denominator) || !std::isfinite(numerator))
            continue;
          auto right =
              scaled(isNumerator ? numerator : denominator, isNumerator, denominator, numerator);
          u64 actual = pairOf(&run.out[block].lane[lane][kOutD]) & (kWide ? ~u64{0} : 0xffffffff);
          bool vcc = (pairOf(&run.out[block].scalar[kOutVcc]) >> lane) & 1;
          if (std::isnan(right.value) ? !std::isnan(fromBits<T>(actual))
                                      : actual != toBits(right.value))
            return differs("lane", lane, actual, toBits(right.value));
          if (vcc != right.flag)
            return differs("VCC of lane", lane, vcc, right.flag);
        }
      return "";
    };
    all.push_back(test);
  }
  // The sum is scaled before it is rounded: only so is a denormal quotient right, as compilers take
  // it to be. The manual's 2^32 does not undo v_div_scale; which way it went shows in the addend's
  // size.
  Case fmas =
      vectorCase("v_div_fmas" + suffix, Encoding::Vop3, operation([](T x, T y, T z, CarryIn vcc) {
                   const T sum = std::fma(x, y, z);
                   // No quotient's sum overflows.
                   if (!vcc.bit || !std::isfinite(sum))
                     return sum;
                   const int scale = exponentField(z) > L::kBias ? L::kScale : -L::kScale;
                   return static_cast<T>((Wide(x) * y + z) * Wide(std::ldexp(1.0, scale)));
                 }));
  fmas.body = "v_div_fmas" + suffix + " " + d + ", " + a + ", " + b + ", " + c + "\n";
  all.push_back(fmas);
  Operation fixup = operation([](T quotient, T denominator, T numerator) {
    bool negative = std::signbit(denominator) != std::signbit(numerator);
    T sign = negative ? T(-1) : T(1);
    if (std::isnan(numerator) || std::isnan(denominator) || (denominator == 0 && numerator == 0) ||
        (std::isinf(denominator) && std::isinf(numerator)))
      return std::numeric_limits<T>::quiet_NaN();
    if (denominator == 0 || std::isinf(numerator))
      return sign * std::numeric_limits<T>::infinity();
    if (numerator == 0 || std::isinf(denominator))
      return std::copysign(T(0), sign);
    // Quotients out of range need not arrive as such.
    if (exponentField(numerator) - exponentField(denominator) < (kWide ? -1075 : -150))
      return std::copysign(T(0), sign);
    if (!std::isfinite(quotient))
      return sign * std::numeric_limits<T>::infinity();
    return std::copysign(quotient, sign);
  });
  all.push_back(vectorCase("v_div_fixup" + suffix, Encoding::Vop3, fixup));

  // The whole division.
  Case quotient;
  quotient.row = "v_div_fixup" + suffix;
  quotient.blocks = 16;
  auto v = [](int first) { return pairText(first, kWide); };
  auto line = [&](const std::string &op, std::initializer_list<std::string> operands) {
    quotient.body += op + suffix;
    const char *comma = " ";
    for (const std::string &operand : operands) {
      quotient.body += comma + operand;
      comma = ", ";
    }
    quotient.body += "\n";
  };
  line("v_div_scale", {v(14), "s[44:45]", b, b, c}); // denominator
  line("v_div_scale", {v(16), "vcc", c, b, c});      // numerator
  line("v_rcp", {v(18), v(14)});
  quotient.body += "s_nop 4\n";
  for (int i = 0; i < 2; ++i) { // Newton
    line("v_fma", {v(20), "-" + v(14), v(18), "1.0"});
    line("v_fma", {v(18), v(20), v(18), v(18)});
  }
  line("v_mul", {v(20), v(16), v(18)});
  line("v_fma", {v(22), "-" + v(14), v(20), v(16)});
  line("v_fma", {v(20), v(22), v(18), v(20)});
  line("v_fma", {v(22), "-" + v(14), v(20), v(16)});
  line("v_div_fmas", {v(24), v(22), v(18), v(20)});
  line("v_div_fixup", {d, v(24), b, c});
  quotient.fill = [](int, Random &random, BlockIn &in) { drawQuotients<T>(random, in); };
  quotient.verify = [](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block)
      for (int lane = 0; lane < kLanes; ++lane) {
        T right = operand<T>(run.in[block], lane, kC) / operand<T>(run.in[block], lane, kB);
        u64 actual = pairOf(&run.out[block].lane[lane][kOutD]) & (kWide ? ~u64{0} : 0xffffffff);
        if (std::isnan(right) ? !std::isnan(fromBits<T>(actual)) : actual != toBits(right))
          return differs("lane", lane, actual, toBits(right)) +
                 differs(", operands", 0, pairOf(&run.in[block].lane[lane][kC]),
                         pairOf(&run.in[block].lane[lane][kB]));
      }
    return "";
  };
  all.push_back(quotient);
}

} // namespace

std::vector<Case> divisionCases() {
  std::vector<Case> all;
  add<float>(all);
  add<double>(all);
  Operation fixup = operation([](Half quotient, Half denominator, Half numerator) {
    double q = number(quotient), d = number(denominator), n = number(numerator);
    double sign = std::signbit(d) != std::signbit(n) ? -1 : 1;
    if (std::isnan(n) || std::isnan(d) || (d == 0 && n == 0) || (std::isinf(d) && std::isinf(n)))
      return half(NAN);
    if (d == 0 || std::isinf(n))
      return half(sign * INFINITY);
    if (n == 0 || std::isinf(d))
      return half(std::copysign(0.0, sign));
    return half(std::copysign(q, sign));
  });
  std::vector<Entry> halves = {
      {"v_div_fixup_f16", Encoding::Vop3, fixup, Entry::kSigns | Entry::kClamp | Entry::kOpSel},
      {"v_div_fixup_legacy_f16", Encoding::Vop3, fixup, Entry::kSigns | Entry::kClamp}};
  for (Case &test : casesOf(halves))
    all.push_back(std::move(test));
  return all;
}

} // namespace wavesmith::emulator::rows
