#include "tests/differential/Exchanges.h"

#include <fmt/format.h>

namespace wavesmith::differential {
namespace {

constexpr Type kU32{Element::U32, 1}, kU64{Element::U64, 1};

std::string dpp(Random &random) {
  constexpr int kSingle[] = {0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143};
  int control = 0;
  switch (random.below(6)) {
  case 0:
    control = random.below(256);
    break;
  case 1:
  case 2:
  case 3:
    control = 0x100 + 0x10 * random.below(3) + random.between(1, 15);
    break;
  case 4:
    control = kSingle[random.below(8)];
    break;
  default:
    control = 0x150 + random.below(16);
  }
  const int rows = random.chance(60) ? 15 : random.below(16);
  const int banks = random.chance(60) ? 15 : random.below(16);
  return fmt::format("wave::Dpp<{:#x}, {}, {}, {}>", control, rows, banks, random.chance(50));
}

} // namespace

Exchange drawExchange(Random &random) {
  constexpr const char *kFolds[] = {"Add", "Umin", "Umax", "Min", "Max", "And", "Or", "Xor"};
  switch (random.weighted({2, 2, 3, 3, 3, 4, 3, 4, 8, 6, 3})) {
  case 0:
    return {"wave::ReadFirst", {kU32}, kU32};
  case 1:
    return {fmt::format("wave::ReadLane<{}>", random.below(32)), {kU32}, kU32, true};
  case 2:
    return {"wave::Ballot", {kU32}, kU64};
  case 3:
    return {fmt::format("wave::CompareMask<{}>", random.between(32, 41)), {kU32, kU32}, kU64};
  case 4:
    return {"wave::CountBelow", {kU32, kU32}, kU32};
  case 5:
    return {"wave::Gather", {kU32, kU32}, kU32};
  case 6:
    return {"wave::Scatter", {kU32, kU32}, kU32};
  case 7:
    return {fmt::format("wave::Swizzle<{:#x}>",
                        random.chance(50) ? 0x8000 | random.below(256) : random.below(0x8000)),
            {kU32},
            kU32};
  case 8:
    return {dpp(random), {kU32, kU32}, kU32};
  case 9:
    return {fmt::format("wave::Reduce<wave::Fold::{}>", kFolds[random.below(8)]), {kU32}, kU32};
  default:
    return {fmt::format("wave::PermlaneSwap<{}>", random.pick({16, 32})),
            {kU32, kU32},
            kU64,
            true,
            true};
  }
}

} // namespace wavesmith::differential
