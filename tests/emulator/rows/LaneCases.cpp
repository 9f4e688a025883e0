// Moves between lanes and register files, and exchanges through the LDS crossbar
// (CDNA3 ISA 12.8, 12.11, 12.15).

#include <bit>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {
namespace {

using Lanes = std::array<u32, kLanes>;
/// v6 and v8 of all lanes after the instruction, from what they and v2 were.
struct Registers {
  Lanes a, b, d;
  u64 exec;
};

Case exchange(const std::string &row, const std::string &body,
              std::function<void(Registers &, const BlockIn &)> model) {
  Case test;
  test.row = row;
  test.body = body + "\n";
  test.fill = [](int block, Random &random, BlockIn &in) {
    if (block % 2)
      setPair(&in.scalar[kExec], random() | u64{random()} << 32);
    if (block == 3)
      setPair(&in.scalar[kExec], 0);
  };
  test.verify = [model](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block) {
      const BlockIn &in = run.in[block];
      Registers r;
      for (int lane = 0; lane < kLanes; ++lane) {
        r.a[lane] = in.lane[lane][kA];
        r.b[lane] = in.lane[lane][kB];
        r.d[lane] = in.lane[lane][kD];
      }
      r.exec = pairOf(&in.scalar[kExec]);
      model(r, in);
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto &out = run.out[block].lane[lane];
        if (out[kOutA] != r.a[lane])
          return differs("v6, lane", lane, out[kOutA], r.a[lane]);
        if (out[kOutD] != r.d[lane])
          return differs("v8, lane", lane, out[kOutD], r.d[lane]);
      }
    }
    return "";
  };
  return test;
}

void eachActive(const Registers &r, const std::function<void(int)> &step) {
  for (int lane = 0; lane < kLanes; ++lane)
    if ((r.exec >> lane) & 1)
      step(lane);
}

/// s40 as a function of the registers.
Case toScalar(const std::string &row, const std::string &body,
              std::function<u32(const BlockIn &)> model) {
  Case test;
  test.row = row;
  test.body = body + "\n";
  test.fill = exchange(row, body, {}).fill;
  test.verify = [model](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block)
      if (u32 right = model(run.in[block]), actual = run.out[block].scalar[kOutS]; actual != right)
        return differs("s40, block", static_cast<int>(block), actual, right);
    return "";
  };
  return test;
}

void addMoves(std::vector<Case> &all) {
  all.push_back(exchange("v_nop", "v_nop", [](Registers &, const BlockIn &) {}));
  all.push_back(exchange("v_swap_b32", "v_swap_b32 v6, v8", [](Registers &r, const BlockIn &) {
    eachActive(r, [&](int lane) { std::swap(r.a[lane], r.d[lane]); });
  }));
  // All lanes of an AGPR first, the active ones then; through one or two moves.
  std::string fill = "s_mov_b64 s[44:45], exec\ns_mov_b64 exec, -1\nv_accvgpr_write_b32 a3, v2\n"
                     "v_accvgpr_write_b32 a4, v2\n";
  std::string back = "s_mov_b64 exec, s[44:45]\ns_nop 4\n";
  auto active = [](Registers &r, const BlockIn &) {
    eachActive(r, [&](int lane) { r.d[lane] = r.a[lane]; });
  };
  auto written = [](Registers &r, const BlockIn &) {
    r.d = r.b;
    eachActive(r, [&](int lane) { r.d[lane] = r.a[lane]; });
  };
  all.push_back(exchange("v_accvgpr_write_b32",
                         fill + back +
                             "v_accvgpr_write_b32 a3, v6\ns_mov_b64 exec, -1\ns_nop 4\n"
                             "v_accvgpr_read_b32 v8, a3",
                         written));
  all.push_back(exchange("v_accvgpr_mov_b32",
                         fill + "v_accvgpr_write_b32 a5, v6\n" + back +
                             "v_accvgpr_mov_b32 a4, a5\ns_mov_b64 exec, -1\ns_nop 4\n"
                             "v_accvgpr_read_b32 v8, a4",
                         written));
  all.push_back(exchange("v_accvgpr_read_b32",
                         fill + "v_accvgpr_write_b32 a5, v6\n" + back + "v_accvgpr_read_b32 v8, a5",
                         active));
  // Odd rows of the first with even rows of the second, EXEC or not (CDNA4 ISA).
  for (int width : {16, 32}) {
    std::string row = "v_permlane" + std::to_string(width) + "_swap_b32";
    all.push_back(exchange(row, "s_mov_b64 exec, -1\ns_nop 4\n" + row + " v6, v8",
                           [width](Registers &r, const BlockIn &) {
                             for (int lane = 0; lane < kLanes; ++lane)
                               if (lane / width % 2 == 0)
                                 std::swap(r.d[lane], r.a[lane + width]);
                           }));
    all.back().only950 = true;
  }
  all.push_back(
      toScalar("v_readfirstlane_b32", "v_readfirstlane_b32 s40, v6", [](const BlockIn &in) {
        u64 exec = pairOf(&in.scalar[kExec]);
        int lane = 0;
        while (exec && !((exec >> lane) & 1))
          ++lane;
        return in.lane[lane][kA];
      }));
  // The lane is the register's low six bits; EXEC does not matter.
  all.push_back(toScalar("v_readlane_b32", "v_readlane_b32 s40, v6, s18",
                         [](const BlockIn &in) { return in.lane[in.scalar[kS1] % 64][kA]; }));
  all.push_back(toScalar("v_readlane_b32", "v_readlane_b32 s40, v6, 63",
                         [](const BlockIn &in) { return in.lane[63][kA]; }));
  all.push_back(exchange("v_writelane_b32", "v_writelane_b32 v8, s16, 37",
                         [](Registers &r, const BlockIn &in) { r.d[37] = in.scalar[kS0]; }));
  all.push_back(
      exchange("v_writelane_b32", "v_writelane_b32 v8, -7, s18",
               [](Registers &r, const BlockIn &in) { r.d[in.scalar[kS1] % 64] = 0xfffffff9; }));
}

std::string waited(const std::string &text) { return text + "\ns_waitcnt lgkmcnt(0)"; }

void addCrossbar(std::vector<Case> &all) {
  for (u32 offset : {0u, 4u, 132u}) {
    std::string suffix = " v8, v6, v2 offset:" + std::to_string(offset);
    all.push_back(exchange("ds_bpermute_b32", waited("ds_bpermute_b32" + suffix),
                           [offset](Registers &r, const BlockIn &) {
                             eachActive(r, [&](int lane) {
                               int from = static_cast<int>((r.a[lane] + offset) / 4 % 64);
                               r.d[lane] = (r.exec >> from) & 1 ? r.b[from] : 0;
                             });
                           }));
    all.push_back(exchange("ds_permute_b32", waited("ds_permute_b32" + suffix),
                           [offset](Registers &r, const BlockIn &) {
                             Lanes pushed{};
                             eachActive(r, [&](int lane) {
                               pushed[(r.a[lane] + offset) / 4 % 64] = r.b[lane];
                             });
                             eachActive(r, [&](int lane) { r.d[lane] = pushed[lane]; });
                           }));
  }
  auto swizzle = [&](const std::string &how, std::function<int(int)> from) {
    all.push_back(exchange("ds_swizzle_b32", waited("ds_swizzle_b32 v8, v6 offset:" + how),
                           [from](Registers &r, const BlockIn &) {
                             Registers old = r;
                             eachActive(old, [&](int lane) {
                               int source = from(lane);
                               r.d[lane] = (r.exec >> source) & 1 ? old.a[source] : 0;
                             });
                           }));
  };
  swizzle("swizzle(QUAD_PERM,3,1,0,2)", [](int lane) {
    constexpr int kOrder[] = {3, 1, 0, 2};
    return lane / 4 * 4 + kOrder[lane % 4];
  });
  swizzle("swizzle(SWAP,8)", [](int lane) { return lane ^ 8; });
  swizzle("swizzle(REVERSE,16)", [](int lane) { return lane / 16 * 16 + 15 - lane % 16; });
  swizzle("swizzle(BROADCAST,8,5)", [](int lane) { return lane / 8 * 8 + 5; });
  // AND, OR and XOR masks on the five low bits.
  swizzle(std::to_string(0x15 | 0x02 << 5 | 0x09 << 10),
          [](int lane) { return (lane & 32) | ((((lane & 31) & 0x15) | 0x02) ^ 0x09); });
}

} // namespace

std::vector<Case> laneCases() {
  std::vector<Case> all;
  addMoves(all);
  addCrossbar(all);
  return all;
}

} // namespace wavesmith::emulator::rows
