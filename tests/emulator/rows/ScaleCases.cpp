// Conversions with a scale (CDNA4 ISA 7.3, 12.12) and with noise. To a small format: the value over
// 2^e, to nearest even; from it: times 2^e, where e is the scale operand's exponent and nothing
// else of it counts.

#include <cmath>

#include "tests/emulator/conversion/ScalarModel.h"
#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {
namespace {

using model::Format;

/// A format by its name in a mnemonic.
struct Small {
  const char *name;
  int bits;
};
constexpr Small kSmall[] = {{"fp8", 8}, {"bf8", 8}, {"fp4", 4}};

double valueOf(const Small &small, bool ocp, u32 code) {
  static constexpr double kFp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  if (small.bits == 4)
    return code & 8 ? -kFp4[code & 7] : kFp4[code & 7];
  bool bf8 = small.name[0] == 'b';
  return model::decode(ocp ? (bf8 ? Format::Bf8Ocp : Format::Fp8Ocp)
                           : (bf8 ? Format::Bf8Fnuz : Format::Fp8Fnuz),
                       code);
}
/// To nearest even. FP4 has neither NaN nor infinity: what is too large is 6.
u32 codeOf(const Small &small, double x) {
  if (small.bits == 8)
    return model::encode(small.name[0] == 'b' ? Format::Bf8Ocp : Format::Fp8Ocp, x,
                         model::Rounding::Nearest, false);
  u32 best = 0;
  double size = std::fmin(std::fabs(x), 6);
  for (u32 code = 1; code < 8; ++code) {
    double apart = std::fabs(valueOf(small, true, code) - size),
           least = std::fabs(valueOf(small, true, best) - size);
    if (apart < least || (apart == least && code % 2 == 0))
      best = code;
  }
  return best | (std::signbit(x) ? 8u : 0);
}
bool isNanCode(const Small &small, u32 code) {
  return small.bits == 8 &&
         model::isNanCode(small.name[0] == 'b' ? Format::Bf8Ocp : Format::Fp8Ocp, code);
}

float bf16(u32 bits) { return fromBits<float>(bits << 16); }
u32 toBf16(double x) { return model::encode(Format::Bf16, x, model::Rounding::Nearest, false); }

/// What one item of the large side is.
struct Large {
  const char *name;
  int bits;
  double (*read)(u32);
  u32 (*write)(double);
  bool (*isNan)(u32);
};
const Large kLarge[] = {
    {"f32", 32, [](u32 x) { return double{fromBits<float>(x)}; },
     [](double x) { return static_cast<u32>(toBits(static_cast<float>(x))); },
     [](u32 x) { return isNanBits(Type::F32, x); }},
    {"f16", 16, [](u32 x) { return number({static_cast<u16>(x)}); },
     [](double x) { return u32{half(x).bits}; }, [](u32 x) { return isNanBits(Type::F16, x); }},
    {"bf16", 16, [](u32 x) { return double{bf16(x)}; }, [](double x) { return toBf16(x); },
     [](u32 x) { return isNanBits(Type::F32, u64{x} << 16); }},
};

int exponentOf(u32 scale) { return static_cast<int>((scale >> 23) & 0xff) - 127; }

/// Values around the formats' ranges; the scale's exponent is between -20 and 20, its sign and
/// mantissa anything.
void fill(Random &random, BlockIn &in, const Large *large, int scaleWord) {
  for (auto &lane : in.lane) {
    u32 scale = static_cast<u32>(random());
    lane[scaleWord] = (scale & 0x807fffff) | (127 + scale % 41 - 20) << 23;
    int e = exponentOf(lane[scaleWord]);
    for (int word : {int{kA}, kA + 1, int{kB}, int{kC}}) {
      if (!large || word == scaleWord)
        continue;
      auto item = [&]() -> u32 {
        if (random() % 16 == 0)
          return static_cast<u32>(draw(large->bits == 32 ? Type::F32 : Type::F16, random));
        double x = std::ldexp(static_cast<double>(random() % 4096) / 256 - 8,
                              e + static_cast<int>(random() % 20) - 12);
        return large->write(x);
      };
      lane[word] = large->bits == 32 ? item() : item() | item() << 16;
    }
  }
}

/// `check` gets a lane's words before, v[8:9] after, and 2^e.
Case lanewise(const std::string &row, const std::string &operands, const Large *large,
              int scaleWord,
              std::function<std::string(const std::array<u32, 8> &, const u32 *, double)> check) {
  Case test;
  test.row = row;
  test.body = row + " " + operands + "\n";
  test.only950 = row.find("scalef32") != std::string::npos;
  test.fill = [=](int, Random &random, BlockIn &in) { fill(random, in, large, scaleWord); };
  test.verify = [=](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block)
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto &in = run.in[block].lane[lane];
        std::string wrong = check(in, &run.out[block].lane[lane][kOutD],
                                  std::ldexp(1.0, exponentOf(in[scaleWord])));
        if (!wrong.empty())
          return "lane " + std::to_string(lane) + ": " + wrong;
      }
    return "";
  };
  return test;
}

std::string opSel(std::initializer_list<int> bits) {
  std::string text = " op_sel:[";
  const char *comma = "";
  for (int bit : bits) {
    text += comma + std::to_string(bit);
    comma = ",";
  }
  return text + "]";
}

/// Two items into a half of the destination (FP4: into a byte).
void addToSmall(std::vector<Case> &all) {
  for (const Small &small : kSmall)
    for (const Large &large : kLarge) {
      bool single = large.bits == 32, byte = small.bits == 4;
      std::string row = std::string("v_cvt_scalef32_pk_") + small.name + "_" + large.name;
      for (int place = 0; place < (byte ? 4 : 2); ++place) {
        int high = byte ? place >> 1 : place, low = byte ? place & 1 : 0;
        std::string operands =
            single ? "v8, v6, v2, v4" + opSel({0, 0, low, high})
                   : "v8, v6, v2" + (byte ? opSel({0, 0, low, high}) : opSel({0, 0, high}));
        int shift = (byte ? 8 : 16) * place;
        u32 field = (byte ? 0xffu : 0xffffu) << shift;
        all.push_back(
            lanewise(row, operands, &large, single ? kC : kB,
                     [=, &large](const std::array<u32, 8> &in, const u32 *out,
                                 double factor) -> std::string {
                       if ((out[0] ^ in[kD]) & ~field)
                         return differs("other bits", 0, out[0], in[kD]);
                       for (int i = 0; i < 2; ++i) {
                         u32 item = single ? in[i ? kB : kA] : (in[kA] >> (16 * i)) & 0xffff;
                         double x = large.read(item);
                         u32 right = codeOf(small, std::isnan(x) && byte ? 6 : x / factor);
                         u32 got = (out[0] >> (shift + small.bits * i)) & ((1u << small.bits) - 1);
                         bool nan = std::isnan(x);
                         if (byte && nan) // undocumented
                           continue;
                         if (isNanCode(small, right) ? !isNanCode(small, got) : got != right)
                           return differs("item", i, got, right);
                       }
                       return "";
                     }));
      }
    }
}

/// A half's two items (FP4: a byte's) to two large ones.
void addToLarge(std::vector<Case> &all) {
  for (const Small &small : kSmall)
    for (const Large &large : kLarge) {
      bool single = large.bits == 32, byte = small.bits == 4;
      std::string row = std::string("v_cvt_scalef32_pk_") + large.name + "_" + small.name;
      for (int place = 0; place < (byte ? 4 : 2); ++place) {
        std::string operands = std::string(single ? "v[8:9]" : "v8") + ", v6, v2" +
                               (byte ? opSel({place & 1, place >> 1, 0}) : opSel({place, 0, 0}));
        int shift = (byte ? 8 : 16) * place;
        all.push_back(lanewise(row, operands, nullptr, kB,
                               [=, &large](const std::array<u32, 8> &in, const u32 *out,
                                           double factor) -> std::string {
                                 for (int i = 0; i < 2; ++i) {
                                   u32 code = (in[kA] >> (shift + small.bits * i)) &
                                              ((1u << small.bits) - 1);
                                   u32 right = large.write(valueOf(small, true, code) * factor);
                                   u32 got = single ? out[i] : (out[0] >> (16 * i)) & 0xffff;
                                   if (large.isNan(right) ? !large.isNan(got) : got != right)
                                     return differs("item", i, got, right);
                                 }
                                 return "";
                               }));
      }
    }
}

/// One byte to float32, or to a half of a register.
void addSingles(std::vector<Case> &all) {
  for (const Small &small : {kSmall[0], kSmall[1]})
    for (const Large &large : {kLarge[0], kLarge[1]})
      for (int byte = 0; byte < 4; ++byte) {
        bool single = large.bits == 32;
        int high = single ? 0 : byte % 2;
        std::string row = std::string("v_cvt_scalef32_") + large.name + "_" + small.name;
        std::string sel =
            single ? opSel({byte & 1, byte >> 1, 0}) : opSel({byte & 1, byte >> 1, high});
        auto write = large.write;
        auto isNan = large.isNan;
        all.push_back(lanewise(
            row, "v8, v6, v2" + sel, nullptr, kB,
            [=](const std::array<u32, 8> &in, const u32 *out, double factor) -> std::string {
              u32 right = write(valueOf(small, true, (in[kA] >> (8 * byte)) & 0xff) * factor);
              u32 got = single ? out[0] : (out[0] >> (16 * high)) & 0xffff;
              if (isNan(right) ? !isNan(got) : got != right)
                return differs("value", 0, got, right);
              if (!single && ((out[0] ^ in[kD]) >> (16 - 16 * high)) & 0xffff)
                return differs("the other half", 0, out[0], in[kD]);
              return "";
            }));
      }
}

/// Noise moves a value to one of its two neighbours; the manuals differ in how. Numbers of the
/// format stay, whatever the noise.
void addNoisy(std::vector<Case> &all) {
  for (const Small &small : {kSmall[0], kSmall[1]})
    for (bool hasScale : {false, true})
      for (int byte = 0; byte < 4; ++byte) {
        std::string row =
            std::string(hasScale ? "v_cvt_scalef32_sr_" : "v_cvt_sr_") + small.name + "_f32";
        std::string operands = hasScale ? "v8, v6, v2, v4" : "v8, v6, v2";
        operands += opSel({0, 0, byte & 1, byte >> 1});
        Case test = lanewise(row, operands, &kLarge[0], kC, {});
        auto fillLanes = test.fill;
        test.fill = [=](int block, Random &random, BlockIn &in) {
          fillLanes(block, random, in);
          for (auto &lane : in.lane) {
            if (!hasScale)
              lane[kC] = 0x3f800000;
            int e = exponentOf(lane[kC]);
            double x = static_cast<double>(random() % 4096) / 256 - 8;
            // Half of the time a number of the format.
            if (random() % 2)
              x = model::decode(Format::Fp8Fnuz, 0x20 + random() % 0x40);
            lane[kA] = static_cast<u32>(toBits(static_cast<float>(std::ldexp(x, e))));
            lane[kB] = static_cast<u32>(random());
          }
        };
        auto verify = [=](bool ocp) {
          return [=](const Run &run) -> std::string {
            Format format = small.name[0] == 'b' ? (ocp ? Format::Bf8Ocp : Format::Bf8Fnuz)
                                                 : (ocp ? Format::Fp8Ocp : Format::Fp8Fnuz);
            for (std::size_t block = 0; block < run.in.size(); ++block)
              for (int lane = 0; lane < kLanes; ++lane) {
                const auto &in = run.in[block].lane[lane];
                u32 out = run.out[block].lane[lane][kOutD];
                double x = fromBits<float>(in[kA]) / std::ldexp(1.0, exponentOf(in[kC]));
                u32 down = model::encode(format, x, model::Rounding::TowardZero, false);
                double below = model::decode(format, down);
                u32 got = (out >> (8 * byte)) & 0xff;
                bool right = got == down || (below != x && got == down + 1);
                if (!right)
                  return differs("lane", lane, got, down);
                if ((out ^ in[kD]) & ~(0xffu << (8 * byte)))
                  return differs("other bytes of lane", lane, out, in[kD]);
              }
            return "";
          };
        };
        test.verify = verify(true);
        test.only950 = true;
        all.push_back(test);
        if (hasScale)
          continue;
        test.verify = verify(false);
        test.only950 = false;
        test.only942 = true;
        all.push_back(test);
      }
}

} // namespace

std::vector<Case> scaleCases() {
  std::vector<Case> all;
  addNoisy(all);
  addToSmall(all);
  addToLarge(all);
  addSingles(all);
  return all;
}

} // namespace wavesmith::emulator::rows
