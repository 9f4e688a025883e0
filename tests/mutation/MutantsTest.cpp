// The tools of the mutation tests.

#include <cmath>

#include <gtest/gtest.h>

#include "tests/mutation/Fp8.h"
#include "tests/mutation/Mutants.h"

namespace wavesmith::testing {
namespace {

const std::string kText = R"(declare void @llvm.amdgcn.s.waitcnt(i32)
define amdgpu_kernel void @k() {
entry:
  call void @llvm.amdgcn.s.waitcnt(i32 3952)
  br label %7
7:                                                ; preds = %0
  call void asm sideeffect "; MARK M_FA0", ""()
  call void @llvm.amdgcn.s.barrier()
  %a = select i1 %c, float %s, float 0xFFF0000000000000
9:
  %b = select nnan i1 %c, float 0xFFF0000000000000, float %t, !prof !3
  %d = select i1 %c, float %t, float 0.000000e+00
}
)";

std::vector<std::string> lines(const std::string &text) {
  std::vector<std::string> made;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    made.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return made;
}

TEST(MutationSites, AreFoundAndNamed) {
  std::vector<std::string> names;
  for (const MutationSite &site : findMutations(kText))
    names.push_back(site.name);
  EXPECT_EQ(names, (std::vector<std::string>{"wait 1 in entry", "barrier 1 in M_FA0",
                                             "mask 1 in M_FA0", "mask 2 in block 3"}));
}

TEST(MutationSites, ChangeOneLine) {
  const auto sites = findMutations(kText);
  const auto original = lines(kText);
  const auto withoutWait = lines(mutate(kText, sites[0]));
  EXPECT_EQ(withoutWait.size(), original.size() - 1);
  EXPECT_EQ(withoutWait[3], original[4]);
  auto unmasked = original;
  unmasked[8] = "  %a = bitcast float %s to float";
  EXPECT_EQ(lines(mutate(kText, sites[2])), unmasked);
  unmasked = original;
  unmasked[10] = "  %b = bitcast float %t to float";
  EXPECT_EQ(lines(mutate(kText, sites[3])), unmasked);
}

TEST(Fp8, RoundsToTheNearestValue) {
  for (const Fp8Format format : {Fp8Format::E4M3Fnuz, Fp8Format::E4M3Ocp}) {
    for (int code = 0; code < 256; ++code) {
      const double value = fp8Value(format, static_cast<std::uint8_t>(code));
      if (std::isnan(value) || (value == 0 && code != 0))
        continue;
      EXPECT_EQ(fp8Nearest(format, value), code);
    }
    EXPECT_EQ(fp8Value(format, fp8Nearest(format, 1.0625)), 1.0); // tie to even
    EXPECT_EQ(fp8Value(format, fp8Nearest(format, -1.19)), -1.25);
  }
  EXPECT_EQ(fp8Value(Fp8Format::E4M3Fnuz, 0x7f), 240);
  EXPECT_EQ(fp8Value(Fp8Format::E4M3Fnuz, 0x40), 1);
  EXPECT_EQ(fp8Value(Fp8Format::E4M3Ocp, 0x7e), 448);
  EXPECT_EQ(fp8Value(Fp8Format::E4M3Ocp, 0x38), 1);
  EXPECT_EQ(fp8Nearest(Fp8Format::E4M3Fnuz, 1e9), 0x7f);
  EXPECT_EQ(fp8Nearest(Fp8Format::E4M3Ocp, -1e9), 0xfe);
}

} // namespace
} // namespace wavesmith::testing
