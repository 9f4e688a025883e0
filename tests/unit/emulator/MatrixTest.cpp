// Every dense matrix row against a product of plain loops over AMD's published register maps.

#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "emulator/isa/Table.h"
#include "emulator/lanes/LaneSet.h"

namespace wavesmith::emulator {
namespace {

int itemBits(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
  case MatrixType::Bf16:
    return 16;
  case MatrixType::F32:
  case MatrixType::Xf32:
    return 32;
  case MatrixType::F64:
    return 64;
  default:
    return 8;
  }
}

/// Small integers, exact in every format: bits of the value in that format.
u64 encode(MatrixType type, int value, bool ocp) {
  auto asFloat = static_cast<float>(value);
  u32 bits;
  std::memcpy(&bits, &asFloat, 4);
  switch (type) {
  case MatrixType::Bf16:
    return bits >> 16;
  case MatrixType::F32:
  case MatrixType::Xf32:
    return bits;
  case MatrixType::I8:
    return static_cast<u8>(value);
  case MatrixType::F64: {
    double wide = value;
    u64 wideBits;
    std::memcpy(&wideBits, &wide, 8);
    return wideBits;
  }
  default:
    break;
  }
  if (value == 0)
    return 0;
  int mantissaBits = type == MatrixType::F16 ? 10 : (type == MatrixType::Fp8 ? 3 : 2);
  int bias = type == MatrixType::F16 ? 15 : (type == MatrixType::Fp8 ? 7 : 15) + (ocp ? 0 : 1);
  int width = itemBits(type);
  int exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + bias;
  u64 mantissa = bits >> (23 - mantissaBits) & ((1u << mantissaBits) - 1);
  return (value < 0 ? u64{1} << (width - 1) : 0) | u64(exponent) << mantissaBits | mantissa;
}

void put(std::vector<u32> &words, int lane, int item, int bits, u64 value) {
  if (bits == 64) {
    words[2 * item * kLanes + lane] = static_cast<u32>(value);
    words[(2 * item + 1) * kLanes + lane] = static_cast<u32>(value >> 32);
    return;
  }
  words[item * bits / 32 * kLanes + lane] |= static_cast<u32>(value) << (item * bits % 32);
}

TEST(Matrix, RowsFollowThePublishedMaps) {
  std::mt19937 random(3);
  for (const Row &row : allRows()) {
    if (row.use != Use::Matrix)
      continue;
    SCOPED_TRACE(row.name);
    const MatrixShape &s = matrixRow(row).shape;
    bool ocp = !(row.targets & kGfx942), split = row.opcode == 0x2d || row.opcode == 0x2e;
    bool isDouble = s.a == MatrixType::F64;
    int m = s.m, n = s.n, k = s.k, blocks = s.blocks;
    std::vector<int> a(m * k * blocks), b(n * k * blocks), c(m * n * blocks);
    for (auto *values : {&a, &b, &c})
      for (int &value : *values)
        value = static_cast<int>(random() % 7) - 3;
    std::vector<u32> wordsA(64 * 16), wordsB(64 * 16), wordsC(64 * 64), wordsD(64 * 64);
    auto place = [&](int row, int rows, int element, int block) {
      int items = rows * k * blocks / kLanes;
      if (split)
        return std::pair{row + rows * (element % (k / 2) / 16),
                         element / (k / 2) * 16 + element % 16};
      return std::pair{row + rows * (block + blocks * (element / items)), element % items};
    };
    for (int block = 0; block < blocks; ++block)
      for (int element = 0; element < k; ++element) {
        for (int row = 0; row < m; ++row) {
          auto [lane, item] = place(row, m, element, block);
          put(wordsA, lane, item, itemBits(s.a),
              encode(s.a, a[(block * m + row) * k + element], ocp));
        }
        for (int column = 0; column < n; ++column) {
          auto [lane, item] = place(column, n, element, block);
          put(wordsB, lane, item, itemBits(s.b),
              encode(s.b, b[(block * n + column) * k + element], ocp));
        }
      }
    // D: four consecutive rows per lane, then lanes, then registers; blocks by lane or register.
    auto where = [&](int row, int column, int block) {
      int perLane = kLanes / n;
      if (isDouble)
        return std::pair{column + n * (block + blocks * (row % 4)), row / 4};
      if (m == 4)
        return std::pair{column + 4 * block, row % 4};
      int lane = column + n * ((row / 4) % perLane);
      int word = row % 4 + 4 * (row / (4 * perLane)) + m / perLane * block;
      return std::pair{lane, word};
    };
    for (int block = 0; block < blocks; ++block)
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
          auto [lane, word] = where(row, column, block);
          int value = c[(block * m + row) * n + column];
          put(wordsC, lane, word, isDouble ? 64 : 32,
              s.integer ? static_cast<u32>(value)
                        : encode(isDouble ? MatrixType::F64 : MatrixType::F32, value, ocp));
        }
    MatrixIo io{};
    io.a = wordsA.data();
    io.b = wordsB.data();
    io.c = wordsC.data();
    io.d = wordsD.data();
    io.shape = s;
    io.ocp = ocp;
    io.splitA = io.splitB = split;
    laneSet().matrix(io);
    for (int block = 0; block < blocks; ++block)
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
          int expected = c[(block * m + row) * n + column];
          for (int element = 0; element < k; ++element)
            expected += a[(block * m + row) * k + element] * b[(block * n + column) * k + element];
          auto [lane, word] = where(row, column, block);
          u64 wanted = s.integer
                           ? static_cast<u32>(expected)
                           : encode(isDouble ? MatrixType::F64 : MatrixType::F32, expected, ocp);
          u64 actual = isDouble ? wordsD[2 * word * kLanes + lane] |
                                      u64{wordsD[(2 * word + 1) * kLanes + lane]} << 32
                                : wordsD[word * kLanes + lane];
          ASSERT_EQ(actual, wanted) << "block " << block << " row " << row << " column " << column;
        }
  }
}

} // namespace
} // namespace wavesmith::emulator
