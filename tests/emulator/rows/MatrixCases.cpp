// float64 matrix instructions (CDNA3 ISA 7.1): small whole numbers, so that sums are exact; BLGP
// negates A, B and C. All others are in tests/emulator/matrix and its table.

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {
namespace {

/// A is v[2:3], B v[4:5], C and D v[6:13], whose third and fourth number repeat the first two.
Case product(const std::string &row, int size, int blocks, u32 negate) {
  Case test;
  int items = size * size * blocks / kLanes;
  std::string d = "v[6:" + std::to_string(5 + 2 * items) + "]";
  test.row = row;
  test.body =
      "v_mov_b32 v10, v6\nv_mov_b32 v11, v7\nv_mov_b32 v12, v8\nv_mov_b32 v13, v9\n"
      "s_nop 1\n" +
      row + " " + d + ", v[2:3], v[4:5], " + d +
      (negate ? " neg:[" + std::to_string(negate & 1) + "," + std::to_string(negate >> 1 & 1) +
                    "," + std::to_string(negate >> 2) + "]"
              : "") +
      "\ns_nop 15\ns_nop 15\n";
  test.blocks = 2;
  test.fill = [](int, Random &random, BlockIn &in) {
    for (auto &lane : in.lane)
      for (int word = 0; word < 8; word += 2)
        setPair(&lane[word], toBits(static_cast<double>(random() % 17) - 8));
  };
  test.verify = [=](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block) {
      const BlockIn &in = run.in[block];
      auto value = [&](int lane, int word) {
        return fromBits<double>(pairOf(&in.lane[lane][word]));
      };
      auto sign = [=](u32 i) { return (negate >> i) & 1 ? -1.0 : 1.0; };
      for (int b = 0; b < blocks; ++b)
        for (int m = 0; m < size; ++m)
          for (int n = 0; n < size; ++n) {
            // One k per group of lanes; rows of D go over the groups first.
            int lane = n + size * (b + blocks * (m % 4)), item = m / 4;
            double sum = sign(2) * value(lane, item % 2 ? kD : kA);
            for (int k = 0; k < 4; ++k)
              sum += sign(0) * value(m + size * (b + blocks * k), kB) * sign(1) *
                     value(n + size * (b + blocks * k), kC);
            u64 actual = pairOf(&run.out[block].lane[lane][2 * item]);
            if (fromBits<double>(actual) != sum)
              return differs("lane", lane, actual, toBits(sum));
          }
    }
    return "";
  };
  return test;
}

} // namespace

std::vector<Case> matrixCases() {
  std::vector<Case> all;
  for (u32 negate = 0; negate < 8; ++negate) {
    all.push_back(product("v_mfma_f64_16x16x4_f64", 16, 1, negate));
    all.push_back(product("v_mfma_f64_4x4x4_4b_f64", 4, 4, negate));
  }
  return all;
}

} // namespace wavesmith::emulator::rows
