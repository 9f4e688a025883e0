#include "tests/emulator/rows/Bench.h"

#include <cstdio>
#include <cstring>
#include <sstream>

#include <gtest/gtest.h>

#include "emulator/Emulator.h"
#include "tests/device/Assembler.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr const char *kPrologue = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mul_i32 s8, s2, 2112
  s_mul_i32 s9, s2, 2080
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, s8
  s_addc_u32 s5, s5, 0
  s_add_u32 s6, s6, s9
  s_addc_u32 s7, s7, 0
  s_load_dwordx16 s[16:31], s[4:5], 0x800
  v_lshlrev_b32 v1, 5, v0
  global_load_dwordx4 v[2:5], v1, s[4:5]
  global_load_dwordx4 v[6:9], v1, s[4:5] offset:16
  v_mov_b32 v10, 0x11111111
  v_mov_b32 v11, 0x22222222
  v_mov_b32 v12, 0x33333333
  v_mov_b32 v13, 0x44444444
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b64 vcc, s[22:23]
  s_mov_b64 s[40:41], s[20:21]
  s_mov_b32 m0, s27
  s_cmp_eq_u32 s26, 1
  s_mov_b64 exec, s[24:25]
  s_nop 7
)";
constexpr const char *kEpilogue = R"(
  s_nop 7
  s_mov_b64 s[32:33], s[40:41]
  s_mov_b64 s[34:35], vcc
  s_mov_b64 s[36:37], exec
  s_cselect_b32 s38, 1, 0
  s_mov_b32 s39, m0
  s_mov_b64 exec, -1
  s_nop 7
  global_store_dwordx4 v1, v[6:9], s[6:7]
  global_store_dwordx4 v1, v[10:13], s[6:7] offset:16
  v_mov_b32 v1, 0
  s_add_u32 s6, s6, 0x800
  s_addc_u32 s7, s7, 0
  v_mov_b32 v2, s32
  v_mov_b32 v3, s33
  v_mov_b32 v4, s34
  v_mov_b32 v5, s35
  v_mov_b32 v6, s36
  v_mov_b32 v7, s37
  v_mov_b32 v8, s38
  v_mov_b32 v9, s39
  s_mov_b64 exec, 1
  s_nop 7
  global_store_dwordx4 v1, v[2:5], s[6:7]
  global_store_dwordx4 v1, v[6:9], s[6:7] offset:16
  s_endpgm
)";
static_assert(sizeof(BlockIn) == 2112 && sizeof(BlockOut) == 2080);

void writeKernel(std::ostream &s, const Case &test, std::size_t index) {
  std::string name = "k" + std::to_string(index);
  s << ".globl " << name << "\n.p2align 8\n.type " << name << ",@function\n"
    << name << ":\n"
    << kPrologue << test.body << kEpilogue << ".L" << name << ":\n.size " << name << ", .L" << name
    << "-" << name << "\n.section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel " << name
    << "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_system_sgpr_workgroup_id_x 1\n"
    << ".amdhsa_group_segment_fixed_size " << test.lds << "\n.amdhsa_private_segment_fixed_size "
    << test.scratch
    << "\n.amdhsa_float_denorm_mode_32 3\n.amdhsa_next_free_vgpr 48\n"
       ".amdhsa_next_free_sgpr 96\n.amdhsa_accum_offset 32\n.amdhsa_kernarg_size 16\n"
       ".end_amdhsa_kernel\n.text\n";
}

void writeMetadata(std::ostream &s, const std::vector<const Case *> &cases) {
  s << ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n";
  for (std::size_t i = 0; i < cases.size(); ++i)
    s << "  - .name: k" << i << "\n    .symbol: k" << i
      << ".kd\n    .kernarg_segment_size: 16\n    .kernarg_segment_align: 8\n"
         "    .group_segment_fixed_size: "
      << cases[i]->lds << "\n    .private_segment_fixed_size: " << cases[i]->scratch
      << "\n    .wavefront_size: 64\n    .sgpr_count: 96\n    .vgpr_count: 48\n"
         "    .max_flat_workgroup_size: 64\n    .args: []\n";
  s << "...\n.end_amdgpu_metadata\n";
}

std::string sourceOf(const std::vector<const Case *> &cases) {
  std::ostringstream source;
  source << ".text\n";
  for (std::size_t i = 0; i < cases.size(); ++i)
    writeKernel(source, *cases[i], i);
  writeMetadata(source, cases);
  return source.str();
}

std::string runCase(Device &device, const Module &module, const Case &test, std::size_t index) {
  // Each case draws from its own sequence, so that adding one does not change the others.
  Random random(static_cast<Random::result_type>(std::hash<std::string>()(test.body)));
  Run run;
  run.in.resize(test.blocks);
  run.out.resize(test.blocks);
  std::uint64_t memory = 0;
  if (test.memory) {
    run.before.resize(test.memory);
    for (u8 &byte : run.before)
      byte = static_cast<u8>(random());
    auto address = device.allocate(test.memory);
    if (!address || !device.write(*address, std::as_bytes(std::span(run.before))))
      return "no memory";
    memory = run.address = *address;
  }
  for (int block = 0; block < test.blocks; ++block) {
    fillRandom(random, run.in[block]);
    if (test.fill)
      test.fill(block, random, run.in[block]);
    if (test.memory)
      setPair(&run.in[block].scalar[kS0], memory);
    if (test.place)
      test.place(memory, run.in[block]);
  }
  auto in = device.allocate(run.in.size() * sizeof(BlockIn)),
       out = device.allocate(run.out.size() * sizeof(BlockOut));
  if (!in || !out || !device.write(*in, std::as_bytes(std::span(run.in))))
    return "no memory";
  std::array<std::uint64_t, 2> arguments = {*in, *out};
  LaunchConfig launch;
  launch.kernel = "k" + std::to_string(index);
  launch.grid = {static_cast<u32>(test.blocks), 1, 1};
  launch.block = {kLanes, 1, 1};
  launch.kernarg = std::as_bytes(std::span(arguments));
  RunOptions options;
  options.threads = 1;
  options.maxInstructionsPerWave = 1 << 16;
  auto report = device.run(module, launch, options);
  if (!report)
    return report.status().message();
  if (!report->clean())
    return report->faults.front().text();
  if (!device.read(*out, std::as_writable_bytes(std::span(run.out))))
    return "no result";
  if (test.memory) {
    run.after.resize(test.memory);
    if (!device.read(memory, std::as_writable_bytes(std::span(run.after))) || !device.free(memory))
      return "no memory back";
  }
  if (!device.free(*in) || !device.free(*out))
    return "cannot free";
  return test.verify(run);
}

} // namespace

void fillRandom(Random &random, BlockIn &in) {
  for (auto &lane : in.lane)
    for (u32 &word : lane)
      word = static_cast<u32>(random());
  for (u32 &word : in.scalar)
    word = static_cast<u32>(random());
  setPair(&in.scalar[kExec], ~u64{0});
  in.scalar[kScc] &= 1;
}

void runCases(const std::string &target, const std::vector<Case> &all) {
  if (const auto missing = test::assemblerMissing())
    GTEST_SKIP() << *missing;
  std::vector<const Case *> cases;
  for (const Case &test : all)
    if (target == "gfx950" ? !test.only942 : !test.only950)
      cases.push_back(&test);
  std::vector<std::byte> object = test::assemble(sourceOf(cases), target);
  ASSERT_FALSE(object.empty());
  auto code = CodeObject::parse(object, "rows");
  ASSERT_TRUE(code) << code.status().message();
  auto device = Device::create({target});
  ASSERT_TRUE(device);
  auto module = (*device)->load(*code);
  ASSERT_TRUE(module) << module.status().message();
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (std::string wrong = runCase(**device, **module, *cases[i], i); !wrong.empty())
      ADD_FAILURE() << cases[i]->body << ": " << wrong;
}

std::string differs(const char *what, int index, u64 actual, u64 expected) {
  char text[128];
  std::snprintf(text, sizeof(text), "%s %d: %#llx instead of %#llx", what, index,
                static_cast<unsigned long long>(actual), static_cast<unsigned long long>(expected));
  return text;
}

} // namespace wavesmith::emulator::rows
