// Stochastic and scaled conversions against the scalar models: several seeds, scales from 2^-127 to
// 2^127 and NaN, every small code, values around every boundary, whole blocks of 32.

#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/emulator/conversion/Harness.h"

namespace wavesmith::emulator::conversion {
namespace {

using model::Format;
using model::Rounding;

constexpr Word kSeeds[] = {0, 0xffffffff, 0x80000000, 0x6b43a9b5};
/// Exponent bytes of scales; the rest of the operand means nothing.
constexpr int kScales[] = {127, 0, 1, 120, 135, 254, 255};

double factorOf(int scale) {
  return scale == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, scale - 127);
}
std::string scaleOperand(int scale) {
  std::ostringstream s;
  s << "v_mov_b32 v118, 0x" << std::hex << (0x80000000u | Word(scale) << 23 | 0x2abcdeu) << "\n";
  return s.str();
}
std::string seedOperand(Word seed) {
  return "v_mov_b32 v119, 0x" + (std::ostringstream() << std::hex << seed).str() + "\n";
}
const char *saturation(bool saturate) {
  return saturate ? "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n" : "";
}
Word nextRandom(Word x) { return (x << 1) ^ (x >> 31 ? 197u : 0u); }

/// Equal codes; of a NaN that the format lacks only the magnitude counts.
bool agrees(Format format, Word code, Word expected, double value, bool saturate) {
  bool fnuz = format == Format::Fp8Fnuz || format == Format::Bf8Fnuz;
  if (fnuz && saturate && !std::isfinite(value))
    return true; // not the same in all sources
  if (std::isnan(value) && !model::isNanCode(format, expected)) {
    Word sign = 1u << (model::bitsOf(format) - 1);
    return (code | sign) == (expected | sign);
  }
  return sameCode(format, code, expected);
}

/// Boundaries of the format times a scale, and a part of all bfloat16 patterns.
Words scaledFloats(Format format, int scale) {
  Words all;
  for (Word code = 0; code < 0x10000; code += 37)
    all.push_back(code << 16);
  for (float x : model::boundaries(format))
    all.push_back(
        std::bit_cast<Word>(static_cast<float>(std::ldexp(x, scale == 255 ? 0 : scale - 127))));
  return all;
}
Words someCodes() {
  Words all;
  for (Word code = 0; code < 0x10000; code += 5)
    all.push_back(code);
  return all;
}

/// One small number out of `source`, in the low bits of v1, to the low bits of v2.
struct Narrow {
  std::string text;
  Format source, result;
  bool scaled, stochastic;
};
double valueOf(Format source, Word in) {
  return source == Format::F16 || source == Format::Bf16 ? model::decode(source, in & 0xffff)
                                                         : double{std::bit_cast<float>(in)};
}
constexpr auto kFloat32 = static_cast<Format>(-1);

void addNarrow(std::vector<Conversion> &all, const Narrow &narrow) {
  for (int scale : kScales)
    for (Word seed : kSeeds)
      for (bool saturate : {false, true}) {
        // Not every combination: each scale, seed and saturation with the plain others.
        if ((scale != 127 && (!narrow.scaled || (seed != kSeeds[3] && seed != kSeeds[0]))) ||
            (seed != kSeeds[0] && !narrow.stochastic) || (saturate && seed == kSeeds[2]))
          continue;
        Format format = narrow.result;
        bool wide = narrow.source == kFloat32;
        Narrow n = narrow;
        Word mask = (1u << model::bitsOf(format)) - 1;
        all.push_back({saturation(saturate) + scaleOperand(scale) + seedOperand(seed) +
                           "v_mov_b32 v2, 0\nv_mov_b32 v4, 0\n" + n.text,
                       1, wide ? scaledFloats(format, n.scaled ? scale : 127) : someCodes(),
                       [=](Word in, const Word *out) {
                         double x = valueOf(n.source, in);
                         x = n.scaled ? x / factorOf(scale) : x;
                         // FP16_OVFL keeps the true infinities of halves.
                         bool limit = saturate && !(format == Format::F16 && std::isinf(x));
                         Word expected = n.stochastic
                                             ? model::encodeNoisy(format, x, seed, limit)
                                             : model::encode(format, x, Rounding::Nearest, limit);
                         return agrees(format, out[0] & mask, expected, x, saturate);
                       }});
      }
}

std::vector<Conversion> stochastic(bool gfx950) {
  std::vector<Conversion> all;
  addNarrow(all, {"v_cvt_sr_fp8_f32 v2, v1, v119", kFloat32,
                  gfx950 ? Format::Fp8Ocp : Format::Fp8Fnuz, false, true});
  addNarrow(all, {"v_cvt_sr_bf8_f32 v2, v1, v119", kFloat32,
                  gfx950 ? Format::Bf8Ocp : Format::Bf8Fnuz, false, true});
  return all;
}

std::vector<Conversion> scaledNarrow() {
  std::vector<Conversion> all;
  struct Small {
    const char *name;
    Format format;
  };
  constexpr Small kEights[] = {{"fp8", Format::Fp8Ocp}, {"bf8", Format::Bf8Ocp}};
  struct Source {
    const char *name;
    Format format;
    const char *pair, *packed; ///< operands of the packing forms
  };
  const Source kSources[] = {{"f32", kFloat32, "v1, v4", "v[30:31]"},
                             {"f16", Format::F16, "v1", "v1"},
                             {"bf16", Format::Bf16, "v1", "v1"}};
  for (const Source &source : kSources) {
    std::string from = std::string("_") + source.name + " v2, ";
    for (const Small &small : kEights) {
      addNarrow(all,
                {std::string("v_cvt_scalef32_pk_") + small.name + from + source.pair + ", v118",
                 source.format, small.format, true, false});
      addNarrow(all, {std::string("v_cvt_scalef32_sr_") + small.name + from + "v1, v119, v118",
                      source.format, small.format, true, true});
    }
    addNarrow(all, {"v_cvt_scalef32_pk_fp4" + from + source.pair + ", v118", source.format,
                    Format::Fp4, true, false});
    addNarrow(all, {"v_mov_b32 v30, v1\nv_mov_b32 v31, v1\nv_cvt_scalef32_sr_pk_fp4" + from +
                        source.packed + ", v119, v118",
                    source.format, Format::Fp4, true, true});
  }
  addNarrow(all, {"v_cvt_sr_f16_f32 v2, v1, v119", kFloat32, Format::F16, false, true});
  // Overflow is infinity whatever FP16_OVFL says.
  for (Word seed : kSeeds)
    all.push_back({seedOperand(seed) + "v_mov_b32 v2, 0\nv_cvt_sr_bf16_f32 v2, v1, v119", 1,
                   floats(Format::Bf16), [=](Word in, const Word *out) {
                     double x = std::bit_cast<float>(in);
                     return agrees(Format::Bf16, out[0] & 0xffff,
                                   model::encodeNoisy(Format::Bf16, x, seed, false), x, false);
                   }});
  // The second value of a pair gets the generator's next number.
  for (Word seed : kSeeds)
    all.push_back({scaleOperand(120) + seedOperand(seed) +
                       "v_mov_b32 v2, 0\nv_mov_b32 v30, 0\nv_mov_b32 v31, v1\n"
                       "v_cvt_scalef32_sr_pk_fp4_f32 v2, v[30:31], v119, v118",
                   1, scaledFloats(Format::Fp4, 120), [=](Word in, const Word *out) {
                     double x = std::bit_cast<float>(in) / factorOf(120);
                     return agrees(Format::Fp4, (out[0] >> 4) & 15,
                                   model::encodeNoisy(Format::Fp4, x, nextRandom(seed), false), x,
                                   false);
                   }});
  return all;
}

/// A value as the wide side's format, float32 included.
bool widens(Format to, Word out, double value, bool saturate) {
  if (to == kFloat32)
    return sameFloat(out, value);
  bool limit = saturate && to == Format::F16 && std::isfinite(value);
  return agrees(to, out & 0xffff, model::encode(to, value, Rounding::Nearest, limit), value, false);
}

std::vector<Conversion> scaledWiden() {
  std::vector<Conversion> all;
  struct Form {
    const char *text;
    Format from, to;
    int shift; ///< of the code in v1
  };
  constexpr Format kFp8 = Format::Fp8Ocp, kBf8 = Format::Bf8Ocp, kFp4 = Format::Fp4,
                   kHalf = Format::F16, kBrain = Format::Bf16;
  constexpr Form kForms[] = {
      {"v_cvt_scalef32_pk_f32_fp8 v[2:3], v1, v118", kFp8, kFloat32, 0},
      {"v_cvt_scalef32_pk_f32_bf8 v[2:3], v1, v118", kBf8, kFloat32, 0},
      {"v_cvt_scalef32_pk_f32_fp8 v[2:3], v1, v118 op_sel:[1,0,0]", kFp8, kFloat32, 16},
      {"v_cvt_scalef32_pk_f32_fp4 v[2:3], v1, v118", kFp4, kFloat32, 0},
      {"v_cvt_scalef32_pk_f32_fp4 v[2:3], v1, v118 op_sel:[1,1,0]", kFp4, kFloat32, 24},
      {"v_cvt_scalef32_f32_fp8 v2, v1, v118", kFp8, kFloat32, 0},
      {"v_cvt_scalef32_f32_bf8 v2, v1, v118 op_sel:[0,1,0]", kBf8, kFloat32, 16},
      {"v_cvt_scalef32_pk_f16_fp8 v2, v1, v118", kFp8, kHalf, 0},
      {"v_cvt_scalef32_pk_f16_bf8 v2, v1, v118", kBf8, kHalf, 0},
      {"v_cvt_scalef32_pk_f16_fp4 v2, v1, v118", kFp4, kHalf, 0},
      {"v_cvt_scalef32_f16_fp8 v2, v1, v118 op_sel:[1,0,0]", kFp8, kHalf, 8},
      {"v_cvt_scalef32_f16_bf8 v2, v1, v118", kBf8, kHalf, 0},
      {"v_cvt_scalef32_pk_bf16_fp8 v2, v1, v118", kFp8, kBrain, 0},
      {"v_cvt_scalef32_pk_bf16_bf8 v2, v1, v118", kBf8, kBrain, 0},
      {"v_cvt_scalef32_pk_bf16_fp4 v2, v1, v118", kFp4, kBrain, 0}};
  for (const Form &form : kForms)
    for (int scale : kScales)
      for (bool saturate : {false, true})
        all.push_back({saturation(saturate) + scaleOperand(scale) + "v_lshlrev_b32 v1, " +
                           std::to_string(form.shift) + ", v1\nv_mov_b32 v2, 0\n" + form.text,
                       1, codes(256), [=](Word in, const Word *out) {
                         Word mask = (1u << model::bitsOf(form.from)) - 1;
                         double x = model::decode(form.from, in & mask) * factorOf(scale);
                         return widens(form.to, out[0], x, saturate);
                       }});
  return all;
}

/// Item i of a block is the input plus i of these.
constexpr Word kStep = 0x05a3c7e1;
std::string block(int first, int words) {
  std::ostringstream s;
  for (int i = 0; i < words; ++i)
    s << "v_add_u32 v" << first + i << ", " << static_cast<int>(kStep * Word(i)) << ", v1\n";
  return s.str();
}
Word sixBits(const Word *words, int item) {
  int at = 6 * item;
  std::uint64_t pair = words[at / 32] | std::uint64_t{at / 32 < 5 ? words[at / 32 + 1] : 0} << 32;
  return static_cast<Word>(pair >> (at % 32)) & 63;
}

std::vector<Conversion> blocks() {
  std::vector<Conversion> all;
  Words inputs;
  for (Word i = 0; i < 4096; ++i)
    inputs.push_back(0x3c000000 + i * 0x9e3779b9);
  auto narrowed = [&](const std::string &text, const std::string &prepare, Format source,
                      Format result, bool noisy) {
    for (int scale : kScales)
      for (Word seed : kSeeds) {
        if ((!noisy && seed) || (scale != 127 && seed == kSeeds[2]))
          continue;
        all.push_back({scaleOperand(scale) + seedOperand(seed) + prepare + text, 6, inputs,
                       [=](Word in, const Word *out) {
                         Word noise = seed;
                         for (int i = 0; i < 32; ++i) {
                           bool half = source != kFloat32;
                           Word word = in + kStep * Word(half ? i / 2 : i);
                           double x =
                               valueOf(source, half && i % 2 ? word >> 16 : word) / factorOf(scale);
                           Word expected = noisy
                                               ? model::encodeNoisy(result, x, noise, true)
                                               : model::encode(result, x, Rounding::Nearest, true);
                           if (!agrees(result, sixBits(out, i), expected, x, true))
                             return false;
                           noise = nextRandom(noise);
                         }
                         return true;
                       }});
      }
  };
  std::string interleave;
  for (int i = 0; i < 32; ++i)
    interleave += "v_add_u32 v" + std::to_string((i % 2 ? 56 : 40) + i / 2) + ", " +
                  std::to_string(static_cast<int>(kStep * Word(i))) + ", v1\n";
  // 32 values of a format to six bits each, in the source or elsewhere.
  struct Narrowing {
    const char *mnemonic;
    Format source, result;
    bool noisy;
  };
  constexpr Format kHalf = Format::F16, kBrain = Format::Bf16, kFp6 = Format::Fp6,
                   kBf6 = Format::Bf6;
  constexpr Narrowing kNarrowings[] = {{"v_cvt_scalef32_2xpk16_fp6_f32", kFloat32, kFp6, false},
                                       {"v_cvt_scalef32_2xpk16_bf6_f32", kFloat32, kBf6, false},
                                       {"v_cvt_scalef32_sr_pk32_fp6_f32", kFloat32, kFp6, true},
                                       {"v_cvt_scalef32_sr_pk32_bf6_f32", kFloat32, kBf6, true},
                                       {"v_cvt_scalef32_pk32_fp6_f16", kHalf, kFp6, false},
                                       {"v_cvt_scalef32_pk32_fp6_bf16", kBrain, kFp6, false},
                                       {"v_cvt_scalef32_pk32_bf6_f16", kHalf, kBf6, false},
                                       {"v_cvt_scalef32_pk32_bf6_bf16", kBrain, kBf6, false},
                                       {"v_cvt_scalef32_sr_pk32_fp6_f16", kHalf, kFp6, true},
                                       {"v_cvt_scalef32_sr_pk32_fp6_bf16", kBrain, kFp6, true},
                                       {"v_cvt_scalef32_sr_pk32_bf6_f16", kHalf, kBf6, true},
                                       {"v_cvt_scalef32_sr_pk32_bf6_bf16", kBrain, kBf6, true}};
  for (const Narrowing &n : kNarrowings) {
    bool wide = n.source == kFloat32;
    std::string text = std::string(n.mnemonic) + " v[2:7], ";
    text += !wide ? "v[40:55], " : n.noisy ? "v[2:33], " : "v[40:55], v[56:71], ";
    text += n.noisy ? "v119, v118" : "v118";
    std::string prepare = !wide ? block(40, 16) : n.noisy ? block(2, 32) : interleave;
    narrowed(text, prepare, n.source, n.result, n.noisy);
  }
  struct Widening {
    const char *mnemonic;
    Format source, result;
  };
  constexpr Widening kWidenings[] = {{"v_cvt_scalef32_pk32_f32_fp6", kFp6, kFloat32},
                                     {"v_cvt_scalef32_pk32_f32_bf6", kBf6, kFloat32},
                                     {"v_cvt_scalef32_pk32_f16_fp6", kFp6, kHalf},
                                     {"v_cvt_scalef32_pk32_f16_bf6", kBf6, kHalf},
                                     {"v_cvt_scalef32_pk32_bf16_fp6", kFp6, kBrain},
                                     {"v_cvt_scalef32_pk32_bf16_bf6", kBf6, kBrain}};
  for (const Widening &w : kWidenings)
    for (int scale : kScales) {
      bool wide = w.result == kFloat32;
      Widening widening = w;
      all.push_back({scaleOperand(scale) + block(2, 6) + w.mnemonic +
                         (wide ? " v[2:33], v[2:7], v118" : " v[2:17], v[2:7], v118"),
                     wide ? 32 : 16, inputs, [=](Word in, const Word *out) {
                       Word words[6];
                       for (int i = 0; i < 6; ++i)
                         words[i] = in + kStep * Word(i);
                       for (int i = 0; i < 32; ++i) {
                         double x =
                             model::decode(widening.source, sixBits(words, i)) * factorOf(scale);
                         Word actual = wide ? out[i] : out[i / 2] >> (16 * (i % 2)) & 0xffff;
                         if (!widens(widening.result, actual, x, false))
                           return false;
                       }
                       return true;
                     }});
    }
  return all;
}

class Scaled : public Conversions {};
TEST_P(Scaled, StochasticFloat8) {
  check(GetParam(), stochastic(GetParam() == std::string("gfx950")));
}
INSTANTIATE_TEST_SUITE_P(Targets, Scaled, testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return std::string(info.param); });

class Gfx950 : public Conversions {};
TEST_P(Gfx950, ScaledNarrowing) { check(GetParam(), scaledNarrow()); }
TEST_P(Gfx950, ScaledWidening) { check(GetParam(), scaledWiden()); }
TEST_P(Gfx950, BlocksOf32) { check(GetParam(), blocks()); }
INSTANTIATE_TEST_SUITE_P(Targets, Gfx950, testing::Values("gfx950"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace wavesmith::emulator::conversion
