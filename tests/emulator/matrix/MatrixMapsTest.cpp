// Every matrix instruction of the published table, sparse and scaled ones included: one kernel
// each, with small integers so that the results are exact, against plain loops over the table's
// maps.

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>

#include "emulator/Emulator.h"
#include "tests/device/Assembler.h"
#include "tests/emulator/KernelText.h"
#include "tests/emulator/matrix/MapExpression.h"

namespace wavesmith::emulator {
namespace {

using Word = std::uint32_t;

struct MapRow {
  std::string arch, mnemonic, modifiers, typeA, typeB, typeD, mapA, mapB, mapD;
  int m, n, k, blocks;
  bool sparse() const { return mnemonic.find("smfmac") != std::string::npos; }
  bool scaled() const { return mnemonic.find("scale") != std::string::npos; }
};

std::vector<MapRow> readRows(const std::string &arch) {
  std::vector<MapRow> rows;
  std::ifstream stream(WAVESMITH_DATA_DIR "/matrix_maps.tsv");
  for (std::string line; std::getline(stream, line);) {
    if (line[0] == '#')
      continue;
    std::vector<std::string> cells;
    std::istringstream cut(line);
    for (std::string cell; std::getline(cut, cell, '\t');)
      cells.push_back(cell);
    if (cells[0] != arch)
      continue;
    rows.push_back({cells[0], cells[1], cells[2], cells[7], cells[8], cells[9], cells[10],
                    cells[11], cells[12], std::stoi(cells[3]), std::stoi(cells[4]),
                    std::stoi(cells[5]), std::stoi(cells[6])});
  }
  return rows;
}

struct Encoding {
  int exponent, mantissa, bias; ///< bits; 0 exponent bits: an integer
  int bits() const { return exponent ? 1 + exponent + mantissa : 8; }
};
Encoding encodingOf(const std::string &type) {
  auto has = [&](const char *part) { return type.find(part) != std::string::npos; };
  bool fnuz = has("fnuz");
  if (has("bf16"))
    return {8, 7, 127};
  if (has("f16"))
    return {5, 10, 15};
  if (has("fp8"))
    return {4, 3, fnuz ? 8 : 7};
  if (has("bf8"))
    return {5, 2, fnuz ? 16 : 15};
  if (has("fp6"))
    return {2, 3, 1};
  if (has("bf6"))
    return {3, 2, 3};
  if (has("fp4"))
    return {2, 1, 1};
  if (has("f32"))
    return {8, 23, 127};
  return {0, 8, 0};
}

/// Values are -2, -1, 0, 1, 2: powers of two and zero, normal numbers in every format.
Word encode(const Encoding &to, int value) {
  if (!to.exponent)
    return static_cast<Word>(value) & 0xff;
  if (value == 0)
    return 0;
  Word exponent = static_cast<Word>(to.bias + (value == 2 || value == -2 ? 1 : 0));
  return (value < 0 ? Word{1} << (to.exponent + to.mantissa) : 0) | exponent << to.mantissa;
}

class Registers {
public:
  explicit Registers(int words) : words_(words * 64) {}
  void put(int lane, int bit, int width, Word value) {
    for (int i = 0; i < width; ++i)
      words_.at((bit + i) / 32 * 64 + lane) |= ((value >> i) & 1) << ((bit + i) % 32);
  }
  std::vector<Word> words_;
};

constexpr int kFirstA = 8, kFirstB = 24, kIndex = 40, kScaleA = 41, kScaleB = 42, kFirstC = 64;
constexpr int kWordsAB = 8, kWordsC = 32;
constexpr int kInputWords = 2 * kWordsAB + kWordsC + 3;

std::string range(int first, int count) {
  return count == 1 ? "v" + std::to_string(first)
                    : "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

int wordsOf(const Encoding &type, int rows, const MapRow &row) {
  return std::max(1, rows * row.k * row.blocks * type.bits() / (32 * 64));
}
int wordsA(const MapRow &row) {
  return wordsOf(encodingOf(row.typeA), row.m, row) / (row.sparse() ? 2 : 1);
}
int setsOf(const MapRow &row) {
  int items = wordsA(row) * 32 / encodingOf(row.typeA).bits();
  return 32 / (2 * items);
}

std::string kernelText(const MapRow &row, int index, int set) {
  std::ostringstream s;
  std::string name = "k" + std::to_string(index);
  s << ".globl " << name << "\n.p2align 8\n.type " << name << ",@function\n" << name << ":\n";
  s << "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v0, 2, v0\n";
  auto move = [&](const char *op, int reg, int base, bool load) {
    std::string address = "s[" + std::to_string(base) + ":" + std::to_string(base + 1) + "]";
    if (load)
      s << op << " v" << reg << ", v0, " << address << "\n";
    else
      s << op << " v0, v" << reg << ", " << address << "\n";
    s << "s_add_u32 s" << base << ", s" << base << ", 0x100\ns_addc_u32 s" << base + 1 << ", s"
      << base + 1 << ", 0\n";
  };
  for (int i = 0; i < kWordsAB; ++i)
    move("global_load_dword", kFirstA + i, 4, true);
  for (int i = 0; i < kWordsAB; ++i)
    move("global_load_dword", kFirstB + i, 4, true);
  for (int i = 0; i < kWordsC; ++i)
    move("global_load_dword", kFirstC + i, 4, true);
  for (int reg : {kIndex, kScaleA, kScaleB})
    move("global_load_dword", reg, 4, true);
  int wordsD = row.m * row.n * row.blocks / 64;
  s << "s_waitcnt vmcnt(0)\n"
    << row.mnemonic << " " << range(kFirstC, wordsD) << ", " << range(kFirstA, wordsA(row)) << ", "
    << range(kFirstB, wordsOf(encodingOf(row.typeB), row.n, row));
  if (row.sparse())
    s << ", v" << kIndex << (set ? " abid:" + std::to_string(set) : "");
  else
    s << ", " << range(kFirstC, wordsD);
  if (row.scaled())
    s << ", v" << kScaleA << ", v" << kScaleB << " op_sel_hi:[0,0,0]";
  s << " " << row.modifiers << "\ns_nop 15\ns_nop 15\n";
  for (int i = 0; i < wordsD; ++i)
    move("global_store_dword", kFirstC + i, 6, false);
  s << "s_endpgm\n.L" << name << ":\n.size " << name << ", .L" << name << "-" << name << "\n";
  s << ".section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel " << name
    << "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_vgpr 96\n"
       ".amdhsa_next_free_sgpr 32\n.amdhsa_accum_offset 96\n.amdhsa_kernarg_size 16\n"
       ".end_amdhsa_kernel\n.text\n";
  return s.str();
}

/// The inputs of one row and what D must be, by register and lane.
struct Problem {
  std::vector<Word> input, expected;
};

Problem problemOf(const MapRow &row, int set, std::mt19937 &random) {
  Encoding typeA = encodingOf(row.typeA), typeB = encodingOf(row.typeB);
  bool integer = row.typeD.find("i32") != std::string::npos;
  Registers a(kWordsAB), b(kWordsAB), c(kWordsC), index(1),
      scales[2] = {Registers(1), Registers(1)};
  auto draw = [&] { return static_cast<int>(random() % 5) - 2; };
  std::vector<double> valueA(row.blocks * row.m * row.k), valueB(row.blocks * row.k * row.n);
  auto atA = [&](int blk, int m, int k) -> double & {
    return valueA[(blk * row.m + m) * row.k + k];
  };
  auto atB = [&](int blk, int k, int n) -> double & {
    return valueB[(blk * row.k + k) * row.n + n];
  };
  for (int blk = 0; blk < row.blocks; ++blk)
    for (int m = 0; m < row.m; ++m)
      for (int k = 0; k < row.k; k += row.sparse() ? 4 : 1)
        for (int s = 0, at = -1; s < (row.sparse() ? 2 : 1); ++s) {
          int value = draw();
          MapValues place = evaluateMap(row.mapA, {{"m", m}, {"k", k}, {"blk", blk}, {"s", s}});
          a.put(place["lane"], place["bit"], typeA.bits(), encode(typeA, value));
          // The second of a pair lies behind the first.
          at = s == 0 ? static_cast<int>(random() % 3)
                      : at + 1 + static_cast<int>(random() % (3 - at));
          atA(blk, m, row.sparse() ? k + at : k) = value;
          if (row.sparse())
            index.put(place["lane"], 32 / setsOf(row) * set + 2 * place["item"], 2,
                      static_cast<Word>(at));
        }
  for (int blk = 0; blk < row.blocks; ++blk)
    for (int k = 0; k < row.k; ++k)
      for (int n = 0; n < row.n; ++n) {
        int value = draw();
        MapValues place = evaluateMap(row.mapB, {{"n", n}, {"k", k}, {"blk", blk}});
        b.put(place["lane"], place["bit"], typeB.bits(), encode(typeB, value));
        atB(blk, k, n) = value;
      }
  if (row.scaled())
    for (int side = 0; side < 2; ++side)
      for (int line = 0; line < (side ? row.n : row.m); ++line)
        for (int group = 0; group < row.k / 32; ++group) {
          int power = static_cast<int>(random() % 3) - 1;
          // The other bytes of the register are not selected.
          scales[side].put(line + (side ? row.n : row.m) * group, 0, 32,
                           0x33550000u | static_cast<Word>(127 + power));
          for (int k = 32 * group; k < 32 * group + 32; ++k)
            (side ? atB(0, k, line) : atA(0, line, k)) *= power < 0 ? 0.5 : 1 << power;
        }
  Problem problem;
  problem.expected.resize(row.m * row.n * row.blocks);
  for (int blk = 0; blk < row.blocks; ++blk)
    for (int m = 0; m < row.m; ++m)
      for (int n = 0; n < row.n; ++n) {
        int start = draw();
        double sum = start;
        for (int k = 0; k < row.k; ++k)
          sum += atA(blk, m, k) * atB(blk, k, n);
        MapValues place = evaluateMap(row.mapD, {{"m", m}, {"n", n}, {"blk", blk}});
        auto bitsOf = [&](double value) {
          auto single = static_cast<float>(value);
          Word bits;
          std::memcpy(&bits, &single, 4);
          return integer ? static_cast<Word>(static_cast<std::int32_t>(value)) : bits;
        };
        c.put(place["lane"], 32 * place["vgpr"], 32, bitsOf(start));
        // A sum of zero is positive: it starts from +0 or cancels.
        problem.expected.at(place["vgpr"] * 64 + place["lane"]) = bitsOf(sum == 0 ? 0.0 : sum);
      }
  for (const Registers *part : {&a, &b, &c, &index, &scales[0], &scales[1]})
    problem.input.insert(problem.input.end(), part->words_.begin(), part->words_.end());
  return problem;
}

class MatrixMaps : public testing::TestWithParam<std::tuple<const char *, MatrixSums>> {};

TEST_P(MatrixMaps, EveryRowOfTheTable) {
  if (const auto missing = wavesmith::test::assemblerMissing())
    GTEST_SKIP() << *missing;
  auto [arch, sums] = GetParam();
  std::vector<MapRow> rows = readRows(arch);
  ASSERT_GT(rows.size(), 10u);
  std::vector<int> sets;
  std::string source = ".text\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sets.push_back(rows[i].sparse() ? static_cast<int>(i) % setsOf(rows[i]) : 0);
    source += kernelText(rows[i], static_cast<int>(i), sets.back());
  }
  const auto bytes =
      wavesmith::test::assemble(source + test::kernelMetadata(rows.size(), 96), arch);
  ASSERT_FALSE(bytes.empty());
  auto code = CodeObject::parse(bytes, "matrix");
  ASSERT_TRUE(code) << code.status().message();
  auto device = Device::create({arch});
  ASSERT_TRUE(device);
  auto in = (*device)->allocate(kInputWords * 256), out = (*device)->allocate(kWordsC * 256);
  ASSERT_TRUE(in && out);
  auto module = (*device)->load(*code);
  ASSERT_TRUE(module) << module.status().message();
  std::array<std::uint64_t, 2> arguments = {*in, *out};
  std::mt19937 random(7);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(rows[i].mnemonic + " " + rows[i].modifiers);
    Problem problem = problemOf(rows[i], sets[i], random);
    ASSERT_TRUE((*device)->write(*in, std::as_bytes(std::span(problem.input))));
    LaunchConfig launch;
    launch.kernel = "k" + std::to_string(i);
    launch.block = {64, 1, 1};
    launch.kernarg = std::as_bytes(std::span(arguments));
    RunOptions options;
    options.matrixSums = sums;
    auto report = (*device)->run(**module, launch, options);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_TRUE(report->clean()) << report->faults.front().text();
    std::vector<Word> actual(problem.expected.size());
    ASSERT_TRUE((*device)->read(*out, std::as_writable_bytes(std::span(actual))));
    int wrong = 0;
    for (std::size_t j = 0; j < actual.size(); ++j)
      wrong += actual[j] != problem.expected[j];
    EXPECT_EQ(wrong, 0) << "of " << actual.size() << " elements";
  }
}

// The products are small whole numbers: exact in every way of adding.
INSTANTIATE_TEST_SUITE_P(Targets, MatrixMaps,
                         testing::Combine(testing::Values("gfx942", "gfx950"),
                                          testing::Values(MatrixSums::Float32, MatrixSums::Cdna3)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == MatrixSums::Cdna3 ? "_cdna3" : "");
                         });

} // namespace
} // namespace wavesmith::emulator
