#include "tests/differential/Conversions.h"

#include <fmt/format.h>

namespace wavesmith::differential {
namespace {

Exchange exchangeOf(std::string name, int ldsBytes = 0) {
  constexpr Type kU32{Element::U32, 1}, kBits{Element::U32, 4};
  Exchange exchange{
      "scaled::" + std::move(name), {kBits, kBits, kU32, kU32}, kU32, true, true, "gfx950"};
  exchange.ldsBytes = ldsBytes;
  return exchange;
}

} // namespace

std::vector<Exchange> everyConversion() {
  std::vector<Exchange> all;
  const auto add = [&](const std::string &name, int places) {
    for (int at = 0; at < places; ++at)
      all.push_back(exchangeOf(fmt::format("{}<{}>", name, at)));
  };
  constexpr const char *kFloats[] = {"f32", "f16", "bf16"};
  for (const char *small : {"fp8", "bf8"}) {
    add(fmt::format("f32_{}", small), 4);
    add(fmt::format("f16_{}", small), 4);
    for (const char *wide : kFloats) {
      add(fmt::format("pk_{}_{}", wide, small), 2);
      add(fmt::format("pk_{}_{}", small, wide), 2);
      add(fmt::format("sr_{}_{}", small, wide), 4);
    }
  }
  for (const char *wide : kFloats) {
    add(fmt::format("pk_{}_fp4", wide), 4);
    add(fmt::format("pk_fp4_{}", wide), 4);
    add(fmt::format("sr_pk_fp4_{}", wide), 4);
  }
  for (const char *small : {"fp6", "bf6"})
    for (const char *wide : kFloats) {
      const bool single = std::string_view(wide) == "f32";
      all.push_back(exchangeOf(fmt::format("pk32_{}_{}", wide, small)));
      all.push_back(exchangeOf(fmt::format("pk32_{}_{}{}", small, single ? "2" : "", wide)));
      all.push_back(exchangeOf(fmt::format("sr_pk32_{}_{}", small, wide)));
    }
  return all;
}

std::vector<Exchange> everyTransposingRead() {
  std::vector<Exchange> all;
  for (int bits : {4, 6, 8, 16})
    all.push_back(exchangeOf(fmt::format("read_tr{}", bits), 64 * (bits == 6 ? 12 : 8)));
  return all;
}

} // namespace wavesmith::differential
