#include "compiler/codegen/Disassembly.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/codegen/ControlFlow.h"
#include "compiler/codegen/InstructionMix.h"
#include "tests/unit/codegen/Fixtures.h"

namespace wavesmith::compiler {
namespace {

using ::testing::ElementsAre;
using testing::emitText;
using testing::fixture;
using testing::message;
using Kind = InstructionKind;

TEST(Disassembly, KindsByMnemonic) {
  const std::pair<const char *, Kind> rows[] = {
      {"v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], 0", Kind::Mfma},
      {"v_accvgpr_read_b32 v0, a0", Kind::AccumulatorMove},
      {"v_exp_f32_e32 v0, v1", Kind::Exp},
      {"v_log_f32_e32 v0, v1", Kind::Transcendental},
      {"v_pk_mul_f32 v[0:1], v[2:3], v[4:5]", Kind::PackedF32},
      {"v_pk_add_u16 v0, v1, v2", Kind::Valu},
      {"v_cndmask_b32_e32 v0, v1, v2, vcc", Kind::Select},
      {"v_readfirstlane_b32 s0, v0", Kind::LaneMove},
      {"v_writelane_b32 v0, s0, 1", Kind::LaneMove},
      {"v_max3_f32 v0, v1, v2, v3", Kind::Valu},
      {"s_and_saveexec_b64 s[0:1], vcc", Kind::SaveExec},
      {"s_add_u32 s0, s1, s2", Kind::Salu},
      {"s_load_dwordx8 s[0:7], s[8:9], 0x0", Kind::Smem},
      {"s_cbranch_scc1 12", Kind::Branch},
      {"s_barrier", Kind::Barrier},
      {"s_waitcnt vmcnt(0)", Kind::Wait},
      {"s_nop 6", Kind::Nop},
      {"s_setprio 1", Kind::Control},
      {"ds_read_b128 v[0:3], v4", Kind::LdsRead},
      {"ds_read_b64_tr_b16 v[0:1], v2", Kind::LdsRead},
      {"ds_write_b64 v0, v[2:3]", Kind::LdsWrite},
      {"ds_bpermute_b32 v0, v1, v2", Kind::LdsOther},
      {"buffer_load_dword v0, s[0:3], 0 offen lds", Kind::LdsDma},
      {"buffer_load_dword v0, s[0:3], 0 offen offset:128 lds", Kind::LdsDma},
      {"global_load_lds_dwordx4 v[0:1], off", Kind::LdsDma},
      {"buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", Kind::VmemLoad},
      {"buffer_store_dwordx4 v[0:3], v4, s[0:3], 0 offen", Kind::VmemStore},
      {"scratch_load_dword v0, off, s0", Kind::Scratch},
  };
  for (const auto &[text, kind] : rows)
    EXPECT_EQ(classify(text), kind) << text;
}

TEST(Disassembly, ListsAKernelUpToItsEnd) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx950"});
  ASSERT_TRUE(bool(object));
  auto code = Disassembly::decode(*object, "store");
  ASSERT_TRUE(bool(code)) << message(code.takeError());
  EXPECT_EQ(code->target(), "gfx950");
  ASSERT_FALSE(code->instructions().empty());
  const Instruction &last = code->instructions().back();
  EXPECT_EQ(last.text, "s_endpgm");
  EXPECT_FALSE(last.fallsThrough);
  std::uint64_t next = code->instructions().front().address;
  for (const Instruction &instruction : code->instructions()) {
    EXPECT_EQ(instruction.address, next);
    next += instruction.size;
  }
}

TEST(Disassembly, BytesThatDoNotDecodeAreNamed) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object));
  // s_endpgm, little endian; an unassigned SOPP opcode in its place.
  const std::string end("\x00\x00\x81\xbf", 4);
  const size_t at = std::string(object->begin(), object->end()).find(end);
  ASSERT_NE(at, std::string::npos);
  (*object)[at + 2] = static_cast<char>(0xfe);
  auto code = Disassembly::decode(*object, "store");
  ASSERT_FALSE(bool(code));
  EXPECT_THAT(message(code.takeError()), ::testing::HasSubstr("bytes 0000febf"));
}

/// Instructions at addresses 0, 4, 8, ...; `branches` gives those that jump.
std::vector<Instruction>
program(unsigned count, const std::vector<std::tuple<unsigned, unsigned, bool>> &branches) {
  std::vector<Instruction> instructions(count);
  for (unsigned i = 0; i < count; ++i)
    instructions[i] = {.address = 4 * i, .size = 4, .kind = Kind::Valu};
  for (const auto &[at, to, conditional] : branches) {
    instructions[at].branchTarget = 4 * to;
    instructions[at].kind = Kind::Branch;
    instructions[at].fallsThrough = conditional;
  }
  instructions.back().fallsThrough = false;
  return instructions;
}

TEST(ControlFlow, ColdBlockBehindTheLoopIsNotPartOfEveryIteration) {
  // 1: loop head, branches to the cold block at 6; 2-4: join and latch; 6-7: cold, back to 2.
  auto instructions = program(8, {{1, 6, true}, {4, 1, true}, {7, 2, false}});
  instructions[5].fallsThrough = false;
  auto flow = ControlFlow::build(instructions);
  ASSERT_TRUE(bool(flow));
  ASSERT_EQ(flow->loops().size(), 1u);
  const Loop &loop = flow->loops().front();
  EXPECT_EQ(loop.blocks.size(), 3u);
  std::vector<unsigned> begins;
  begins.reserve(4);
  for (const unsigned block : loop.everyTime)
    begins.push_back(flow->blocks()[block].begin);
  EXPECT_THAT(begins, ElementsAre(1, 2));
}

TEST(ControlFlow, BothArmsOfABranchAreConditional) {
  // 0: head; 1 branches to 4; 2-3 then jump to 5; 4 else; 5 latch; 6 exit.
  auto flow = ControlFlow::build(program(7, {{1, 4, true}, {3, 5, false}, {5, 0, true}}));
  ASSERT_TRUE(bool(flow));
  ASSERT_EQ(flow->loops().size(), 1u);
  EXPECT_EQ(flow->loops().front().blocks.size(), 4u);
  EXPECT_EQ(flow->loops().front().everyTime.size(), 2u);
}

TEST(ControlFlow, NestedLoopsAndTwoLatches) {
  // Inner loop 1-2, outer loop 0-4 with a second way back at 3.
  auto flow = ControlFlow::build(program(6, {{2, 1, true}, {3, 0, true}, {4, 0, true}}));
  ASSERT_TRUE(bool(flow));
  ASSERT_EQ(flow->loops().size(), 2u);
  EXPECT_EQ(flow->loops()[0].latches.size(), 2u);
  EXPECT_EQ(flow->loops()[1].blocks.size(), 1u);
  std::vector<unsigned> begins;
  begins.reserve(4);
  for (const unsigned block : flow->loops()[0].everyTime)
    begins.push_back(flow->blocks()[block].begin);
  EXPECT_THAT(begins, ElementsAre(0, 1, 3)) << "the block at 4 runs only in some iterations";
}

TEST(ControlFlow, BranchOutOfTheKernelIsAnError) {
  auto flow = ControlFlow::build(program(3, {{1, 9, true}}));
  ASSERT_FALSE(bool(flow));
  EXPECT_EQ(message(flow.takeError()), "branch at 0x4 to 0x24 leaves the kernel");
}

TEST(ControlFlow, EmptyProgramHasNoBlocks) {
  auto flow = ControlFlow::build({});
  ASSERT_TRUE(bool(flow));
  EXPECT_TRUE(flow->blocks().empty());
}

TEST(InstructionMix, CountsKindsAndWaits) {
  // 0x0f70: vmcnt(0); 0xc07f: lgkmcnt(0); 0x0070: both.
  const std::vector<Instruction> instructions{
      {.kind = Kind::Mfma},
      {.kind = Kind::Exp},
      {.kind = Kind::PackedF32},
      {.kind = Kind::Nop, .immediate = 6},
      {.kind = Kind::Wait, .immediate = 0x0f70},
      {.kind = Kind::Wait, .immediate = 0xc07f},
      {.kind = Kind::Wait, .immediate = 0x0070},
      {.kind = Kind::Wait, .immediate = 0xc37f},
  };
  const InstructionMix mix = countInstructions(instructions);
  EXPECT_EQ(mix.total, 8);
  EXPECT_EQ(mix.valu, 2);
  EXPECT_EQ(mix.nopStates, 7);
  EXPECT_EQ(mix.vmcntZero, 2);
  EXPECT_EQ(mix.lgkmcntZero, 2);
  EXPECT_EQ(mixText(mix), "total 8, mfma 1, valu 2, exp 1, packed_f32 1, wait 4, vmcnt_zero 2, "
                          "lgkmcnt_zero 2, nop 1, nop_states 7");
  EXPECT_EQ(mixFields().size(), 26u);
}

} // namespace
} // namespace wavesmith::compiler
