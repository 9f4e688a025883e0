#include "runtime/codeobject/LineTable.h"

#include <cstring>
#include <fstream>
#include <random>

#include <gmock/gmock.h>

#include "runtime/codeobject/CodeObject.h"
#include "tests/device/Assembler.h"

namespace wavesmith {
namespace {

using testing::HasSubstr;

/// Two kernels of two files, in the tables of one DWARF version.
std::string source(int version) {
  const std::string files = version == 5 ? "  .file 0 \"/src\" \"main.cl\"\n"
                                           "  .file 1 \"lib\" \"part.cl\"\n"
                                         : "  .file 1 \"lib\" \"part.cl\"\n"
                                           "  .file 2 \"/src/main.cl\"\n";
  const int main = version == 5 ? 0 : 2;
  return files +
         test::kernelSource(
             {{.name = "first",
               .body = "  .loc 1 7 3\n  s_nop 0\n  s_nop 1\n  .loc 1 1000 0\n  s_nop 2\n  .loc " +
                       std::to_string(main) +
                       " 12 9\n  s_nop 3\n  .loc 1 0 0\n  s_nop 4\n  .loc 1 9 1"},
              {.name = "second",
               .body = "  .loc " + std::to_string(main) + " 40 5\n  v_mov_b32 v1, v0"}});
}

class Lines : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    if (const auto missing = test::assemblerMissing())
      GTEST_SKIP() << *missing;
    bytes = test::assemble(source(GetParam()), "gfx942", 6,
                           "--dwarf-version=" + std::to_string(GetParam()));
    ASSERT_FALSE(bytes.empty());
  }
  std::vector<std::byte> bytes;
};

TEST_P(Lines, NameFileLineAndColumn) {
  const auto object = CodeObject::parse(bytes, "k.co");
  ASSERT_TRUE(object) << object.status().message();
  const auto lines = LineTable::read(object->bytes(), "k.co");
  ASSERT_TRUE(lines) << lines.status().message();
  EXPECT_FALSE(lines->empty());
  const auto at = [&](const char *kernel, std::uint64_t offset) {
    return lines->find((*object->kernel(kernel))->entryAddress + offset).value_or("none");
  };
  EXPECT_EQ(at("first", 0), "lib/part.cl:7:3");
  EXPECT_EQ(at("first", 4), "lib/part.cl:7:3");
  EXPECT_EQ(at("first", 8), "lib/part.cl:1000");
  EXPECT_EQ(at("first", 12), "/src/main.cl:12:9");
  // No line stands for it: the one before does.
  EXPECT_EQ(at("first", 16), "/src/main.cl:12:9");
  EXPECT_EQ(at("first", 20), "lib/part.cl:9:1");
  EXPECT_EQ(at("second", 0), "/src/main.cl:40:5");
  EXPECT_EQ(lines->find((*object->kernel("first"))->entryAddress - 4), std::nullopt);
  EXPECT_EQ(lines->find(~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(lines->find(0), std::nullopt);
}

TEST_P(Lines, DamageIsATableOrAnError) {
  std::mt19937 random(5);
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  const std::size_t strings = text.find("part.cl");
  ASSERT_NE(strings, std::string_view::npos);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> changed = bytes;
    // Around the names, where the table is, more often than elsewhere.
    for (unsigned i = 0, count = 1 + random() % 8; i < count; ++i) {
      const std::size_t place = random() % 4
                                    ? std::min(changed.size() - 1, strings - 128 + random() % 256)
                                    : random() % changed.size();
      changed[place] = std::byte(random() % 2 ? 0xff : random() & 0xff);
    }
    const auto lines = LineTable::read(changed, "k.co");
    if (!lines) {
      EXPECT_THAT(lines.status().message(), HasSubstr("k.co: "));
      continue;
    }
    for (std::uint64_t address = 0; address < 0x4000; address += 256)
      (void)lines->find(address);
  }
}

TEST_P(Lines, AnObjectWithoutThemHasNone) {
  const auto plain = test::assemble(test::kernelSource({{.name = "k", .body = "  s_nop 0"}}));
  const auto lines = LineTable::read(plain, "k.co");
  ASSERT_TRUE(lines) << lines.status().message();
  EXPECT_TRUE(lines->empty());
  EXPECT_EQ(lines->find(0x1000), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Dwarf, Lines, testing::Values(2, 3, 4, 5),
                         [](const auto &info) { return std::to_string(info.param); });

/// As clang writes them, at -O1 -g of OpenCL C.
TEST(LinesOfClang, NameTheStatement) {
  if (const auto missing = test::assemblerMissing())
    GTEST_SKIP() << *missing;
  for (const char *version : {"-gdwarf-4", "-gdwarf-5"}) {
    const auto bytes = test::compileOpenCl("kernel void twice(global int *p) {\n"
                                           "  int i = __builtin_amdgcn_workitem_id_x();\n"
                                           "  p[i] =\n"
                                           "      p[i] * 3;\n"
                                           "}\n",
                                           "gfx942", version);
    if (!bytes)
      GTEST_SKIP() << "no clang-22";
    const auto object = CodeObject::parse(*bytes, "k.co");
    ASSERT_TRUE(object) << object.status().message();
    const auto lines = LineTable::read(object->bytes(), "k.co");
    ASSERT_TRUE(lines) << lines.status().message();
    const KernelInfo &kernel = object->kernels().front();
    std::string all;
    for (std::uint64_t at = 0; at < kernel.codeSize; at += 4)
      all += lines->find(kernel.entryAddress + at).value_or("none") + "\n";
    EXPECT_THAT(all, HasSubstr("k.cl:3:8")) << version; // the store
    EXPECT_THAT(all, HasSubstr("k.cl:4:")) << version;  // load and product
    EXPECT_THAT(all, HasSubstr("k.cl:5:1")) << version; // the end
  }
}

} // namespace
} // namespace wavesmith
