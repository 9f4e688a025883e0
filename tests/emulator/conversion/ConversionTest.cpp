// Conversions over all codes of the narrow side, all bfloat16 patterns as float32 and the values
// around every rounding boundary, against scalar models. One kernel per conversion.

#include <bit>
#include <cmath>
#include <sstream>

#include "tests/emulator/conversion/Harness.h"

namespace wavesmith::emulator::conversion {
namespace {

using model::Format;
using model::Rounding;

Conversion widen(const std::string &mnemonic, Format format, int count) {
  int bits = model::bitsOf(format);
  return {
      mnemonic + (count == 2 ? " v[2:3], v1" : " v2, v1"), count,
      codes(bits * count == 8 ? 256 : 0x10000), [=](Word in, const Word *out) {
        for (int i = 0; i < count; ++i)
          if (!sameFloat(out[i], model::decode(format, (in >> (bits * i)) & ((1u << bits) - 1))))
            return false;
        return true;
      }};
}
/// The other source of a packing conversion is 1.0 or -2.0.
Conversion narrow(const std::string &text, Format format, Rounding rounding, bool saturate,
                  bool packs) {
  int bits = model::bitsOf(format);
  Word mask = (1u << bits) - 1;
  return {(saturate ? "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n" : "") +
              ("v_mov_b32 v2, 0\nv_mov_b32 v4, -2.0\n" + text),
          1, floats(format), [=](Word in, const Word *out) {
            auto x = std::bit_cast<float>(in);
            if (saturate && !std::isfinite(x))
              return true; // not the same in all sources
            Word expected = model::encode(format, x, rounding, saturate);
            if (!sameCode(format, out[0] & mask, expected))
              return false;
            return !packs ||
                   ((out[0] >> bits) & mask) == model::encode(format, -2, rounding, false);
          }};
}

std::vector<Conversion> conversions(bool gfx950) {
  Format fp8 = gfx950 ? Format::Fp8Ocp : Format::Fp8Fnuz;
  Format bf8 = gfx950 ? Format::Bf8Ocp : Format::Bf8Fnuz;
  std::vector<Conversion> all = {
      widen("v_cvt_f32_f16", Format::F16, 1),
      widen("v_cvt_f32_fp8", fp8, 1),
      widen("v_cvt_f32_bf8", bf8, 1),
      widen("v_cvt_pk_f32_fp8", fp8, 2),
      widen("v_cvt_pk_f32_bf8", bf8, 2),
      narrow("v_cvt_f16_f32 v2, v1", Format::F16, Rounding::Nearest, false, false),
      narrow("v_cvt_f16_f32 v2, v1", Format::F16, Rounding::Nearest, true, false),
      narrow("v_cvt_pkrtz_f16_f32 v2, v1, v4", Format::F16, Rounding::TowardZero, false, true),
      narrow("v_cvt_pk_fp8_f32 v2, v1, v4", fp8, Rounding::Nearest, false, true),
      narrow("v_cvt_pk_bf8_f32 v2, v1, v4", bf8, Rounding::Nearest, false, true),
      narrow("v_cvt_pk_fp8_f32 v2, v1, v4", fp8, Rounding::Nearest, true, true),
      narrow("v_cvt_pk_bf8_f32 v2, v1, v4", bf8, Rounding::Nearest, true, true),
  };
  if (gfx950) {
    all.push_back(widen("v_cvt_f32_bf16", Format::Bf16, 1));
    all.push_back(
        narrow("v_cvt_pk_f16_f32 v2, v1, v4", Format::F16, Rounding::Nearest, false, true));
    all.push_back(
        narrow("v_cvt_pk_bf16_f32 v2, v1, v4", Format::Bf16, Rounding::Nearest, false, true));
  }
  auto clamped = [](double x, double low, double high) {
    return std::isnan(x) ? 0 : std::trunc(std::min(std::max(x, low), high));
  };
  all.push_back({"v_cvt_u32_f32 v2, v1", 1, floats(Format::F16), [=](Word in, const Word *out) {
                   return out[0] == clamped(std::bit_cast<float>(in), 0, 4294967295.0);
                 }});
  all.push_back({"v_cvt_i32_f32 v2, v1", 1, floats(Format::F16), [=](Word in, const Word *out) {
                   return static_cast<std::int32_t>(out[0]) ==
                          clamped(std::bit_cast<float>(in), -2147483648.0, 2147483647.0);
                 }});
  all.push_back({"v_cvt_u16_f16 v2, v1", 1, codes(0x10000), [=](Word in, const Word *out) {
                   return (out[0] & 0xffff) == clamped(model::decode(Format::F16, in), 0, 65535);
                 }});
  all.push_back({"v_cvt_i16_f16 v2, v1", 1, codes(0x10000), [=](Word in, const Word *out) {
                   return static_cast<std::int16_t>(out[0]) ==
                          clamped(model::decode(Format::F16, in), -32768, 32767);
                 }});
  all.push_back({"v_cvt_f16_u16 v2, v1", 1, codes(0x10000), [](Word in, const Word *out) {
                   return (out[0] & 0xffff) ==
                          model::encode(Format::F16, in, Rounding::Nearest, false);
                 }});
  all.push_back({"v_cvt_f16_i16 v2, v1", 1, codes(0x10000), [](Word in, const Word *out) {
                   return (out[0] & 0xffff) == model::encode(Format::F16,
                                                             static_cast<std::int16_t>(in),
                                                             Rounding::Nearest, false);
                 }});
  return all;
}

/// float32 sums and products under MODE's four roundings; the model brackets the exact double.
std::vector<Conversion> roundings() {
  std::vector<Conversion> all;
  struct Operation {
    const char *text;
    double (*exact)(double x);
  };
  // Each is exact in double for the bfloat16 patterns that are neither tiny nor huge.
  static constexpr Operation kOperations[] = {
      {"v_add_f32 v2, v1, v4", [](double x) { return x + 0x1.234568p-9; }},
      {"v_mul_f32 v2, v1, v4", [](double x) { return x * 0x1.234568p-9; }},
      {"v_fma_f32 v2, v1, v4, 1.0", [](double x) { return x * 0x1.234568p-9 + 1.0; }}};
  for (int mode = 0; mode < 4; ++mode)
    for (const Operation &operation : kOperations) {
      Words inputs;
      for (Word code = 0; code < 0x10000; ++code)
        if (int exponent = (code >> 7) & 0xff; exponent > 117 && exponent < 137)
          inputs.push_back(code << 16);
      std::ostringstream body;
      body << "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), " << mode
           << "\nv_mov_b32 v4, 0x3b11a2b4\n"
           << operation.text;
      auto exact = operation.exact;
      all.push_back({body.str(), 1, inputs, [=](Word in, const Word *out) {
                       double x = exact(std::bit_cast<float>(in)), y = std::bit_cast<float>(out[0]);
                       auto rounded = static_cast<float>(x);
                       float up = rounded < x ? std::nextafter(rounded, INFINITY) : rounded;
                       float down = rounded > x ? std::nextafter(rounded, -INFINITY) : rounded;
                       float zero = x > 0 ? down : up;
                       return y == (mode == 0 ? rounded : mode == 1 ? up : mode == 2 ? down : zero);
                     }});
    }
  return all;
}

/// float16 results under MODE's four roundings. Each operation is exact in double for the halves
/// that are not tiny; all its results but NaN are compared.
std::vector<Conversion> halfRoundings(bool gfx950) {
  struct Operation {
    const char *text;
    double (*exact)(double x);
  };
  // v4 is 1365 * 2^-12 and v6 the smallest half.
  static constexpr double kFactor = 0x1.554p-2, kTiny = 0x1p-24;
  static constexpr Operation kOperations[] = {
      {"v_add_f16 v2, v1, v4", [](double x) { return x + kFactor; }},
      {"v_sub_f16 v2, v4, v1", [](double x) { return kFactor - x; }},
      {"v_subrev_f16 v2, v4, v1", [](double x) { return x - kFactor; }},
      {"v_add_f16 v2, v1, v1", [](double x) { return x + x; }},
      {"v_mul_f16 v2, v1, v4", [](double x) { return x * kFactor; }},
      {"v_mul_f16 v2, v1, v1", [](double x) { return x * x; }},
      {"v_fma_f16 v2, v1, v4, v6", [](double x) { return x * kFactor + kTiny; }},
      {"v_fma_f16 v2, v1, v4, -v6", [](double x) { return x * kFactor - kTiny; }},
      {"v_fma_legacy_f16 v2, v1, v4, v6", [](double x) { return x * kFactor + kTiny; }},
      {"v_pk_fma_f16 v2, v1, v4, v6", [](double x) { return x * kFactor + kTiny; }},
      {"v_pk_add_f16 v2, v1, v4", [](double x) { return x + kFactor; }},
      {"v_pk_mul_f16 v2, v1, v4", [](double x) { return x * kFactor; }},
      {"v_mov_b32 v2, v6\nv_pk_fmac_f16 v2, v1, v4", [](double x) { return x * kFactor + kTiny; }},
      {"v_ldexp_f16 v2, v1, -8", [](double x) { return x * 0x1p-8; }},
      {"v_ldexp_f16 v2, v1, 8", [](double x) { return x * 0x1p8; }},
      {"v_fma_mixlo_f16 v2, v1, v4, v6 op_sel_hi:[1,1,1]",
       [](double x) { return x * kFactor + kTiny; }},
      {"v_fma_mixhi_f16 v2, v1, v4, v6 op_sel_hi:[1,1,1]\nv_lshrrev_b32 v2, 16, v2",
       [](double x) { return x * kFactor + kTiny; }},
      {"v_mul_f16_sdwa v2, v1, v4 dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:WORD_0 "
       "src1_sel:WORD_0",
       [](double x) { return x * kFactor; }}};
  std::vector<Conversion> all;
  auto setMode = [](int mode) {
    return "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), " + std::to_string(mode) + "\n";
  };
  auto overflow = [](bool saturate) -> std::string {
    return saturate ? "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n" : "";
  };
  for (int mode = 0; mode < 4; ++mode) {
    auto rounding = static_cast<Rounding>(mode);
    auto agrees = [=](Word out, double exact, bool saturate) {
      if (std::isnan(exact))
        return model::isNanCode(Format::F16, out & 0xffff);
      // The sign of an exact zero is IEEE's business, not the rounding's.
      Word expected = model::encode(Format::F16, exact, rounding, saturate);
      return exact == 0 ? (out & 0x7fff) == 0 : (out & 0xffff) == expected;
    };
    for (const Operation &operation : kOperations)
      for (bool saturate : {false, true}) {
        auto exact = operation.exact;
        all.push_back({setMode(mode) + overflow(saturate) +
                           "v_mov_b32 v2, 0\nv_mov_b32 v4, 0x3555\nv_mov_b32 v6, 1\n" +
                           operation.text,
                       1, codes(0x10000), [=](Word in, const Word *out) {
                         double x = model::decode(Format::F16, in);
                         return agrees(out[0], exact(x), saturate && std::isfinite(x));
                       }});
      }
    for (bool saturate : {false, true})
      all.push_back({setMode(mode) + overflow(saturate) + "v_cvt_f16_f32 v2, v1", 1,
                     floats(Format::F16), [=](Word in, const Word *out) {
                       auto x = std::bit_cast<float>(in);
                       return agrees(out[0], x, saturate && std::isfinite(x));
                     }});
    for (bool saturate : {false, true})
      all.push_back({setMode(mode) + overflow(saturate) + "v_cvt_f16_u16 v2, v1", 1, codes(0x10000),
                     [=](Word in, const Word *out) { return agrees(out[0], in, saturate); }});
    all.push_back(
        {setMode(mode) + "v_cvt_f16_i16 v2, v1", 1, codes(0x10000), [=](Word in, const Word *out) {
           return agrees(out[0], static_cast<std::int16_t>(in), false);
         }});
    // Two roundings in a row.
    all.push_back({setMode(mode) + "v_mov_b32 v4, 0x3555\nv_mad_f16 v2, v1, v4, v4", 1,
                   codes(0x10000), [=](Word in, const Word *out) {
                     double product = model::decode(Format::F16, in) * kFactor;
                     Word rounded = model::encode(Format::F16, product, rounding, false);
                     return agrees(out[0], model::decode(Format::F16, rounded) + kFactor, false);
                   }});
    // These round to nearest whatever MODE says.
    if (gfx950)
      all.push_back({setMode(mode) + "v_cvt_pk_f16_f32 v2, v1, v1", 1, floats(Format::F16),
                     [=](Word in, const Word *out) {
                       auto x = std::bit_cast<float>(in);
                       return std::isnan(x) ||
                              (out[0] & 0xffff) ==
                                  model::encode(Format::F16, x, Rounding::Nearest, false);
                     }});
    all.push_back({setMode(mode) + "v_cvt_pkrtz_f16_f32 v2, v1, v1", 1, floats(Format::F16),
                   [=](Word in, const Word *out) {
                     auto x = std::bit_cast<float>(in);
                     return std::isnan(x) ||
                            (out[0] & 0xffff) ==
                                model::encode(Format::F16, x, Rounding::TowardZero, false);
                   }});
  }
  return all;
}

TEST_P(Conversions, EveryCode) {
  check(GetParam(), conversions(std::string(GetParam()) == "gfx950"));
}
TEST_P(Conversions, ModeRoundsFloat32) { check(GetParam(), roundings()); }
TEST_P(Conversions, ModeRoundsFloat16) {
  check(GetParam(), halfRoundings(std::string(GetParam()) == "gfx950"));
}

INSTANTIATE_TEST_SUITE_P(Targets, Conversions, testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace wavesmith::emulator::conversion
