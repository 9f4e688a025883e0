#include "tests/differential/Matrices.h"

#include <fmt/format.h>

namespace wavesmith::differential {
namespace {

struct Instruction {
  const char *name;
  int blocks = 1; ///< of a dense one
  int sets = 0;   ///< of the index of a sparse one
  bool gfx950Only = false;
  bool lanesB = true; ///< BLGP permutes the lanes of B
};

constexpr Instruction kInstructions[] = {
    {"mfma_f32_32x32x4f16", 2},
    {"mfma_f32_16x16x4f16", 4},
    {"mfma_f32_4x4x4f16", 16},
    {"mfma_f32_32x32x8f16"},
    {"mfma_f32_16x16x16f16"},
    {"mfma_f32_32x32x4bf16_1k", 2},
    {"mfma_f32_16x16x4bf16_1k", 4},
    {"mfma_f32_4x4x4bf16_1k", 16},
    {"mfma_f32_32x32x8bf16_1k"},
    {"mfma_f32_16x16x16bf16_1k"},
    {"mfma_f32_32x32x1f32", 2},
    {"mfma_f32_16x16x1f32", 4},
    {"mfma_f32_4x4x1f32", 16},
    {"mfma_f32_32x32x2f32"},
    {"mfma_f32_16x16x4f32"},
    {"mfma_f64_16x16x4f64", 1, 0, false, false}, // there BLGP changes signs
    {"mfma_f64_4x4x4f64", 1, 0, false, false},
    {"mfma_i32_32x32x4i8", 2},
    {"mfma_i32_16x16x4i8", 4},
    {"mfma_i32_4x4x4i8", 16},
    {"mfma_i32_32x32x16_i8"},
    {"mfma_i32_16x16x32_i8"},
    {"mfma_f32_32x32x16_FLOAT8"},
    {"mfma_f32_16x16x32_FLOAT8"},
    {"smfmac_f32_16x16x32_f16", 1, 4},
    {"smfmac_f32_32x32x16_f16", 1, 4},
    {"smfmac_f32_16x16x32_bf16", 1, 4},
    {"smfmac_f32_32x32x16_bf16", 1, 4},
    {"smfmac_i32_16x16x64_i8", 1, 2},
    {"smfmac_i32_32x32x32_i8", 1, 2},
    {"smfmac_f32_16x16x64_FLOAT8", 1, 2},
    {"smfmac_f32_32x32x32_FLOAT8", 1, 2},
    {"mfma_f32_16x16x32_f16", 1, 0, true},
    {"mfma_f32_32x32x16_f16", 1, 0, true},
    {"mfma_f32_16x16x32_bf16", 1, 0, true},
    {"mfma_f32_32x32x16_bf16", 1, 0, true},
    {"mfma_i32_16x16x64_i8", 1, 0, true},
    {"mfma_i32_32x32x32_i8", 1, 0, true},
    {"smfmac_f32_16x16x64_f16", 1, 2, true},
    {"smfmac_f32_32x32x32_f16", 1, 2, true},
    {"smfmac_f32_16x16x64_bf16", 1, 2, true},
    {"smfmac_f32_32x32x32_bf16", 1, 2, true},
    {"smfmac_i32_16x16x128_i8", 1, 1, true},
    {"smfmac_i32_32x32x64_i8", 1, 1, true},
    {"smfmac_f32_16x16x128_FLOAT8", 1, 1, true},
    {"smfmac_f32_32x32x64_FLOAT8", 1, 1, true},
};

std::string parameters(const Instruction &chosen, Random &random) {
  if (chosen.sets)
    return fmt::format("<{}>", random.below(chosen.sets));
  int broadcast = 0, from = 0;
  for (int blocks = chosen.blocks; blocks > 1 && random.chance(60); blocks /= 2)
    ++broadcast;
  from = random.below(1 << broadcast);
  const int lanesB = chosen.lanesB && random.chance(30) ? random.below(8) : 0;
  return fmt::format("<{}, {}, {}>", broadcast, from, lanesB);
}

Exchange exchangeOf(std::string name, const char *only) {
  constexpr Type kU32{Element::U32, 1}, kBits{Element::U32, 4};
  return {"matrix::" + std::move(name), {kBits, kBits, kU32, kU32}, kU32, true, true, only};
}

Exchange plain(const Instruction &chosen, const char *float8, Random &random) {
  std::string name = chosen.name;
  if (const std::size_t at = name.find("FLOAT8"); at != std::string::npos)
    name.replace(at, 6, float8);
  return exchangeOf(name + parameters(chosen, random), chosen.gfx950Only ? "gfx950" : "");
}

Exchange scaled(const char *shape, int formatA, int formatB, Random &random) {
  return exchangeOf(fmt::format("mfma_scale_f32_{}_f8f6f4<{}, {}, {}, {}>", shape, formatA, formatB,
                                random.below(4), random.below(4)),
                    "gfx950");
}

constexpr const char *kFloat8[] = {"fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8"};
constexpr const char *kScaledShapes[] = {"16x16x128", "32x32x64"};
constexpr int kFormats = 5;

} // namespace

Exchange drawMatrix(Random &random) {
  if (random.chance(20))
    return scaled(kScaledShapes[random.below(2)], random.below(kFormats), random.below(kFormats),
                  random);
  return plain(kInstructions[random.below(std::size(kInstructions))], kFloat8[random.below(4)],
               random);
}

std::vector<Exchange> everyMatrix(Random &random) {
  std::vector<Exchange> all;
  for (const Instruction &instruction : kInstructions) {
    const bool several = std::string_view(instruction.name).ends_with("FLOAT8");
    for (int i = 0; i < (several ? 4 : 1); ++i)
      all.push_back(plain(instruction, kFloat8[i], random));
  }
  for (const char *shape : kScaledShapes)
    for (int a = 0; a < kFormats; ++a)
      for (int b = 0; b < kFormats; ++b)
        all.push_back(scaled(shape, a, b, random));
  // Not drawn: half of the random programs' runs would be lost.
  for (const char *shape : {"16x16x8", "32x32x4"})
    all.push_back(exchangeOf(fmt::format("mfma_f32_{}_xf32<>", shape), "gfx942"));
  return all;
}

} // namespace wavesmith::differential
