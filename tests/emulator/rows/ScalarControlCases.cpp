// Branches, program counter, hardware registers, scalar memory, and what changes nothing
// (CDNA3 ISA 4.1, 4.2, 8.2, 12.5, 12.6).

#include <algorithm>
#include <sstream>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {
namespace {

/// s40 becomes what `expected` says; everything else stays.
Case scalarResult(const std::string &row, const std::string &body,
                  std::function<u32(const BlockIn &)> expected) {
  Case test;
  test.row = row;
  test.body = body;
  test.blocks = 12;
  test.verify = [expected](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block)
      if (u32 actual = run.out[block].scalar[kOutS], right = expected(run.in[block]);
          actual != right)
        return differs("s40, block", static_cast<int>(block), actual, right);
    return "";
  };
  return test;
}

Case branch(const std::string &row, std::function<bool(const BlockIn &)> taken) {
  std::string label = ".Lafter_" + row;
  Case test = scalarResult(
      row, "s_mov_b32 s40, 1\n" + row + " " + label + "\ns_mov_b32 s40, 0\n" + label + ":\n",
      [taken](const BlockIn &in) { return u32{taken(in)}; });
  test.fill = [](int block, Random &, BlockIn &in) {
    in.scalar[kScc] = block & 1;
    if (block & 2)
      setPair(&in.scalar[kVcc], 0);
    if (block & 4)
      setPair(&in.scalar[kExec], 0);
    if (block & 8) { // one bit, in the upper half
      setPair(&in.scalar[kVcc], u64{1} << 63);
      setPair(&in.scalar[kExec], u64{1} << 63);
    }
  };
  return test;
}

Case nothing(const std::string &row, const std::string &body) {
  Case test;
  test.row = row;
  test.body = body + "\n";
  test.blocks = 2;
  test.verify = [](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block) {
      const BlockIn &in = run.in[block];
      const BlockOut &out = run.out[block];
      for (int i = 0; i < 6; ++i) // the old destination, VCC and EXEC
        if (out.scalar[i] != in.scalar[kOld + i])
          return differs("scalar", i, out.scalar[i], in.scalar[kOld + i]);
      if (out.scalar[kOutScc] != in.scalar[kScc])
        return differs("SCC in block", static_cast<int>(block), out.scalar[kOutScc],
                       in.scalar[kScc]);
      if (out.scalar[kOutM0] != in.scalar[kM0])
        return differs("M0 in block", static_cast<int>(block), out.scalar[kOutM0], in.scalar[kM0]);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int word = 0; word < 4; ++word)
          if (out.lane[lane][word] != in.lane[lane][kA + word])
            return differs("lane", lane, out.lane[lane][word], in.lane[lane][kA + word]);
    }
    return "";
  };
  return test;
}

u64 vcc(const BlockIn &in) { return pairOf(&in.scalar[kVcc]); }
u64 exec(const BlockIn &in) { return pairOf(&in.scalar[kExec]); }

u32 wordAt(const std::vector<u8> &memory, std::size_t at) {
  u32 word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= u32{memory.at(at + i)} << (8 * i);
  return word;
}

/// Sixteen scalars from s48 on, as v[6:13] of lanes 0 and 1.
std::string showScalars() {
  std::ostringstream s;
  s << "s_waitcnt lgkmcnt(0)\n";
  for (int lane = 0; lane < 2; ++lane) {
    s << "s_mov_b64 exec, " << lane + 1 << "\ns_nop 4\n";
    for (int i = 0; i < 8; ++i)
      s << "v_mov_b32 v" << 6 + i << ", s" << 48 + 8 * lane + i << "\n";
  }
  return s.str() + "s_mov_b64 exec, -1\n";
}

Case scalarLoad(const std::string &row, int words, const std::string &operands, std::size_t from,
                std::size_t limit, std::function<void(u64, BlockIn &)> place = {}) {
  Case test;
  test.row = row;
  std::ostringstream s;
  for (int i = 0; i < 16; ++i)
    s << "s_mov_b32 s" << 48 + i << ", " << i << "\n";
  s << row << " s" << (words == 1 ? "48" : "[48:" + std::to_string(47 + words) + "]") << ", "
    << operands << "\n"
    << showScalars();
  test.body = s.str();
  test.blocks = 1;
  test.memory = 256;
  test.place = place;
  test.verify = [=](const Run &run) -> std::string {
    for (int i = 0; i < 16; ++i) {
      std::size_t at = from + 4 * static_cast<std::size_t>(i);
      u32 loaded = at + 4 <= limit ? wordAt(run.before, at) : 0;
      u32 expected = i < words ? loaded : static_cast<u32>(i);
      u32 actual = run.out[0].lane[i / 8][i % 8];
      if (actual != expected)
        return differs("word", i, actual, expected);
    }
    return "";
  };
  return test;
}

Case scalarStore(const std::string &row, int words) {
  Case test;
  test.row = row;
  test.body = row + " s" + (words == 1 ? "20" : "[20:" + std::to_string(19 + words) + "]") +
              ", s[16:17], 0x24\n";
  test.blocks = 1;
  test.memory = 128;
  test.verify = [=](const Run &run) -> std::string {
    for (int at = 0; at < 32; ++at) {
      bool written = at >= 9 && at < 9 + words;
      u32 expected = written ? run.in[0].scalar[kOld + at - 9]
                             : wordAt(run.before, 4 * static_cast<std::size_t>(at));
      if (u32 actual = wordAt(run.after, 4 * static_cast<std::size_t>(at)); actual != expected)
        return differs("word", at, actual, expected);
    }
    return "";
  };
  return test;
}

} // namespace

std::vector<Case> scalarControlCases() {
  std::vector<Case> all;
  all.push_back(branch("s_branch", [](const BlockIn &) { return true; }));
  all.push_back(branch("s_cbranch_scc0", [](const BlockIn &in) { return in.scalar[kScc] == 0; }));
  all.push_back(branch("s_cbranch_scc1", [](const BlockIn &in) { return in.scalar[kScc] == 1; }));
  all.push_back(branch("s_cbranch_vccz", [](const BlockIn &in) { return vcc(in) == 0; }));
  all.push_back(branch("s_cbranch_vccnz", [](const BlockIn &in) { return vcc(in) != 0; }));
  all.push_back(branch("s_cbranch_execz", [](const BlockIn &in) { return exec(in) == 0; }));
  all.push_back(branch("s_cbranch_execnz", [](const BlockIn &in) { return exec(in) != 0; }));
  for (const char *row : {"s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user",
                          "s_cbranch_cdbgsys_and_user"}) // no debugger
    all.push_back(branch(row, [](const BlockIn &) { return false; }));
  // The address after the first s_getpc is 4 bytes before that after the second.
  all.push_back(scalarResult("s_getpc_b64",
                             "s_getpc_b64 s[44:45]\ns_getpc_b64 s[40:41]\n"
                             "s_sub_u32 s40, s40, s44\n",
                             [](const BlockIn &) { return 4u; }));
  // Jumps over the 8 bytes of two instructions.
  all.push_back(scalarResult("s_setpc_b64",
                             "s_mov_b32 s40, 1\ns_getpc_b64 s[44:45]\ns_add_u32 s44, s44, 20\n"
                             "s_addc_u32 s45, s45, 0\ns_setpc_b64 s[44:45]\ns_add_u32 s40, s40, 2\n"
                             "s_add_u32 s40, s40, 4\ns_add_u32 s40, s40, 8\n",
                             [](const BlockIn &) { return 9u; }));
  all.push_back(scalarResult("s_swappc_b64",
                             "s_getpc_b64 s[44:45]\ns_mov_b32 s46, s44\ns_add_u32 s44, s44, 20\n"
                             "s_addc_u32 s45, s45, 0\ns_swappc_b64 s[40:41], s[44:45]\n"
                             "s_endpgm\ns_sub_u32 s40, s40, s46\n",
                             [](const BlockIn &) { return 16u; }));
  all.push_back(scalarResult("s_call_b64",
                             "s_getpc_b64 s[44:45]\ns_call_b64 s[40:41], .Lcalled\ns_endpgm\n"
                             ".Lcalled:\ns_sub_u32 s40, s40, s44\n",
                             [](const BlockIn &) { return 4u; }));
  // MODE: seven bits from bit 2 on, the rest stays.
  all.push_back(scalarResult("s_setreg_b32",
                             "s_getreg_b32 s44, hwreg(HW_REG_MODE, 0, 12)\n"
                             "s_setreg_b32 hwreg(HW_REG_MODE, 2, 7), s16\n"
                             "s_getreg_b32 s40, hwreg(HW_REG_MODE, 0, 12)\n"
                             "s_and_b32 s44, s44, 0xfffffe03\ns_xor_b32 s40, s40, s44\n",
                             [](const BlockIn &in) { return (in.scalar[kS0] & 127) << 2; }));
  all.push_back(scalarResult("s_setreg_imm32_b32",
                             "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0x1a5\n"
                             "s_getreg_b32 s40, hwreg(HW_REG_MODE, 0, 8)\n",
                             [](const BlockIn &) { return 0xa5u; }));
  // MODE of the descriptor: denormals kept, DX10_CLAMP, IEEE.
  all.push_back(scalarResult("s_getreg_b32", "s_getreg_b32 s40, hwreg(HW_REG_MODE, 4, 6)\n",
                             [](const BlockIn &) { return 0x3fu; }));
  for (const char *row : {"s_memtime", "s_memrealtime"})
    all.push_back(scalarResult(row,
                               std::string(row) + " s[44:45]\ns_waitcnt lgkmcnt(0)\ns_nop 7\n" +
                                   row +
                                   " s[46:47]\ns_waitcnt lgkmcnt(0)\n"
                                   "v_mov_b32 v2, s44\nv_mov_b32 v3, s45\n"
                                   "v_cmp_gt_u64 vcc, s[46:47], v[2:3]\n"
                                   "s_mov_b32 s40, vcc_lo\n",
                               [](const BlockIn &) { return ~0u; }));
  for (const char *body :
       {"s_nop 3", "s_wakeup", "s_waitcnt vmcnt(3)", "s_sethalt 0", "s_sleep 2", "s_setprio 3",
        "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_sendmsghalt sendmsg(MSG_INTERRUPT)", "s_icache_inv",
        "s_incperflevel 1", "s_decperflevel 1", "s_ttracedata", "s_dcache_inv", "s_dcache_wb",
        "s_dcache_inv_vol", "s_dcache_wb_vol", "s_barrier", "buffer_wbl2 sc1", "buffer_inv sc1"}) {
    std::string text = body;
    all.push_back(nothing(text.substr(0, text.find(' ')), text));
  }
  // M0 counts registers from the one that is named.
  auto small = [](int, Random &, BlockIn &in) { in.scalar[kM0] = 2; };
  Case relative = scalarResult("s_movrels_b32", "s_movrels_b32 s40, s16\n",
                               [](const BlockIn &in) { return in.scalar[kS1]; });
  relative.fill = small;
  all.push_back(relative);
  relative = scalarResult("s_movrels_b64", "s_movrels_b64 s[40:41], s[16:17]\ns_mov_b32 s40, s41\n",
                          [](const BlockIn &in) { return in.scalar[kS1 + 1]; });
  relative.fill = small;
  all.push_back(relative);
  relative = scalarResult("s_movreld_b32", "s_movreld_b32 s38, s17\n",
                          [](const BlockIn &in) { return in.scalar[kS0 + 1]; });
  relative.fill = small;
  all.push_back(relative);
  relative = scalarResult("s_movreld_b64", "s_movreld_b64 s[38:39], s[16:17]\n",
                          [](const BlockIn &in) { return in.scalar[kS0]; });
  relative.fill = small;
  all.push_back(relative);
  return all;
}

std::vector<Case> scalarMemoryCases() {
  std::vector<Case> all;
  for (int words : {1, 2, 4, 8, 16}) {
    std::string name = words == 1 ? "dword" : "dwordx" + std::to_string(words), load = "s_load_";
    all.push_back(scalarLoad(load + name, words, "s[16:17], 0x14", 20, 256));
    // The low bits of an address do not count; offsets add, and may be negative.
    all.push_back(scalarLoad(load + name, words, "s[16:17], s18 offset:0x6", 36, 256,
                             [](u64, BlockIn &in) { in.scalar[kS1] = 33; }));
    all.push_back(
        scalarLoad(load + name, words, "s[16:17], -0x40", 64, 256,
                   [](u64 address, BlockIn &in) { setPair(&in.scalar[kS0], address + 128); }));
    // A descriptor's size bounds what is read; words beyond it are 0.
    for (u32 records : {256u, 44u, 45u}) {
      auto place = [records](u64 address, BlockIn &in) {
        setPair(&in.scalar[kBuffer], address);
        in.scalar[kBuffer + 2] = records;
        in.scalar[kBuffer + 3] = 0x20000;
        in.scalar[kS1] = 8;
      };
      all.push_back(
          scalarLoad("s_buffer_load_" + name, words, "s[28:31], 0x24", 36, records, place));
      all.push_back(scalarLoad("s_buffer_load_" + name, words, "s[28:31], s18", 8, records, place));
    }
  }
  for (int words : {1, 2, 4})
    all.push_back(scalarStore(
        words == 1 ? "s_store_dword" : "s_store_dwordx" + std::to_string(words), words));
  return all;
}

} // namespace wavesmith::emulator::rows
