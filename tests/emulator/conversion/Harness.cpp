#include "tests/emulator/conversion/Harness.h"

#include <bit>
#include <cmath>
#include <numeric>
#include <sstream>

#include "emulator/Emulator.h"
#include "tests/device/Assembler.h"
#include "tests/emulator/KernelText.h"

namespace wavesmith::emulator::conversion {
namespace {

using model::Format;

std::string kernelText(const Conversion &conversion, std::size_t index) {
  std::ostringstream s;
  std::string name = "k" + std::to_string(index);
  s << ".globl " << name << "\n.p2align 8\n.type " << name << ",@function\n"
    << name << ":\n"
    << "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
       "s_lshl_b32 s8, s2, 6\nv_add_u32 v120, s8, v0\nv_lshlrev_b32 v121, 2, v120\n"
       "global_load_dword v1, v121, s[4:5]\ns_waitcnt vmcnt(0)\n"
    << conversion.body << "\nv_mul_u32_u24 v121, " << 4 * conversion.outputs << ", v120\n";
  for (int i = 0; i < conversion.outputs; ++i)
    s << "global_store_dword v121, v" << 2 + i << ", s[6:7] offset:" << 4 * i << "\n";
  s << "s_endpgm\n.L" << name << ":\n.size " << name << ", .L" << name << "-" << name
    << "\n.section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel " << name
    << "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_system_sgpr_workgroup_id_x 1\n"
       ".amdhsa_float_denorm_mode_32 3\n.amdhsa_next_free_vgpr 128\n.amdhsa_next_free_sgpr 32\n"
       ".amdhsa_accum_offset 128\n.amdhsa_kernarg_size 16\n.end_amdhsa_kernel\n.text\n";
  return s.str();
}

} // namespace

void check(const std::string &arch, const std::vector<Conversion> &all) {
  std::string source = ".text\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    source += kernelText(all[i], i);
  const auto bytes =
      wavesmith::test::assemble(source + test::kernelMetadata(all.size(), 128), arch);
  ASSERT_FALSE(bytes.empty());
  auto code = CodeObject::parse(bytes, "conversion");
  ASSERT_TRUE(code) << code.status().message();
  auto device = Device::create({arch});
  ASSERT_TRUE(device);
  auto module = (*device)->load(*code);
  ASSERT_TRUE(module) << module.status().message();
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].body);
    Words inputs = all[i].inputs;
    inputs.resize((inputs.size() + 63) / 64 * 64);
    auto in = (*device)->allocate(inputs.size() * 4),
         out = (*device)->allocate(inputs.size() * 4 * all[i].outputs);
    ASSERT_TRUE(in && out);
    ASSERT_TRUE((*device)->write(*in, std::as_bytes(std::span(inputs))));
    std::array<std::uint64_t, 2> arguments = {*in, *out};
    LaunchConfig launch;
    launch.kernel = "k" + std::to_string(i);
    launch.grid = {static_cast<std::uint32_t>(inputs.size() / 64), 1, 1};
    launch.block = {64, 1, 1};
    launch.kernarg = std::as_bytes(std::span(arguments));
    RunOptions options;
    options.checks = Checks::none();
    auto report = (*device)->run(**module, launch, options);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_TRUE(report->clean()) << report->faults.front().text();
    Words actual(inputs.size() * all[i].outputs);
    ASSERT_TRUE((*device)->read(*out, std::as_writable_bytes(std::span(actual))));
    int wrong = 0;
    for (std::size_t j = 0; j < all[i].inputs.size(); ++j)
      if (!all[i].accepts(inputs[j], &actual[j * all[i].outputs]) && ++wrong <= 5)
        ADD_FAILURE() << std::hex << inputs[j] << " gives " << actual[j * all[i].outputs];
    EXPECT_EQ(wrong, 0) << "of " << inputs.size();
  }
}

bool sameFloat(Word bits, double value) {
  auto actual = std::bit_cast<float>(bits);
  if (std::isnan(value))
    return std::isnan(actual);
  return bits == std::bit_cast<Word>(static_cast<float>(value));
}
bool sameCode(Format format, Word code, Word expected) {
  if (model::isNanCode(format, expected) && format != Format::Fp8Fnuz && format != Format::Bf8Fnuz)
    return model::isNanCode(format, code);
  return code == expected;
}

Words codes(Word count) {
  Words all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}
/// All bfloat16 patterns as float32, and the boundaries of a format.
Words floats(Format format) {
  Words all;
  for (Word code = 0; code < 0x10000; ++code)
    all.push_back(code << 16);
  for (float x : model::boundaries(format))
    all.push_back(std::bit_cast<Word>(x));
  return all;
}

void Conversions::SetUp() {
  if (const auto missing = wavesmith::test::assemblerMissing())
    GTEST_SKIP() << *missing;
}

} // namespace wavesmith::emulator::conversion
