// LDS reads and writes of every width, two-address forms, gfx950's transposing reads, and loads
// from memory to LDS (CDNA3 ISA 11, 9.1.9; CDNA4 ISA 11.4).

#include <sstream>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/MemoryKinds.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr int kLds = 2048;
/// Every lane writes v[6:9] at 16 times its number, and the same behind the first KiB.
constexpr const char *kFillLds = "s_mov_b64 s[44:45], exec\ns_mov_b64 exec, -1\n"
                                 "v_lshlrev_b32 v14, 4, v0\nds_write_b128 v14, v[6:9]\n"
                                 "ds_write_b128 v14, v[6:9] offset:1024\ns_waitcnt lgkmcnt(0)\n"
                                 "s_mov_b64 exec, s[44:45]\n";

std::vector<u8> filledLds(const BlockIn &in) {
  std::vector<u8> bytes(kLds);
  for (std::size_t i = 0; i < kLds; ++i)
    bytes[i] = static_cast<u8>(in.lane[i / 16 % kLanes][kA + i / 4 % 4] >> (8 * (i % 4)));
  return bytes;
}
bool active(const BlockIn &in, int lane) { return (pairOf(&in.scalar[kExec]) >> lane) & 1; }

/// v2 gets an address: `unit` times up to `count`, plus `base`. Reads take any, writes their own.
std::function<void(int, Random &, BlockIn &)> addresses(u32 unit, u32 count, bool own) {
  return [=](int block, Random &random, BlockIn &in) {
    for (int lane = 0; lane < kLanes; ++lane)
      in.lane[lane][kB] =
          own ? 16 * static_cast<u32>((lane * 37 + 11) % kLanes) : random() % count * unit;
    if (block % 2)
      setPair(&in.scalar[kExec], random() | u64{random()} << 32);
  };
}

/// v[8:13] after, word by word.
Case reading(
    const std::string &row, const std::string &text, int words,
    std::function<void(int, Random &, BlockIn &)> fill,
    std::function<u32(const BlockIn &, const std::vector<u8> &, int lane, int word, u32)> model) {
  Case test;
  test.row = row;
  test.body = kFillLds + text + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
  test.blocks = 4;
  test.lds = kLds;
  test.fill = std::move(fill);
  test.verify = [=](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block) {
      const BlockIn &in = run.in[block];
      std::vector<u8> lds = filledLds(in);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int word = 0; word < 6; ++word) {
          u32 before = word < 2 ? in.lane[lane][kD + word] : kUpperD[word - 2];
          u32 right =
              word < words && active(in, lane) ? model(in, lds, lane, word, before) : before;
          if (u32 actual = run.out[block].lane[lane][kOutD + word]; actual != right)
            return differs("lane", lane, actual, right) + differs(", word", word, 0, 0);
        }
    }
    return "";
  };
  return test;
}

/// All of LDS after, read back as v[10:13] of 16 bytes a lane.
Case writing(const std::string &row, const std::string &text,
             std::function<void(const BlockIn &, std::vector<u8> &, int lane)> model) {
  Case test;
  test.row = row;
  test.body = std::string(kFillLds) + text +
              "\ns_mov_b64 exec, -1\ns_waitcnt vmcnt(0) lgkmcnt(0)\nds_read_b128 v[10:13], v14\n"
              "ds_read_b128 v[6:9], v14 offset:1024\ns_waitcnt lgkmcnt(0)\n";
  test.blocks = 4;
  test.lds = kLds;
  test.fill = addresses(0, 0, true);
  test.verify = [=](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block) {
      const BlockIn &in = run.in[block];
      std::vector<u8> lds = filledLds(in);
      for (int lane = 0; lane < kLanes; ++lane)
        if (active(in, lane))
          model(in, lds, lane);
      for (int lane = 0; lane < kLanes; ++lane)
        for (int word = 0; word < 8; ++word) {
          std::size_t at =
              static_cast<std::size_t>(16 * lane + (word < 4 ? 1024 : 0) + word % 4 * 4);
          u32 right = loaded({"dword", 4}, &lds[at], 0);
          if (u32 actual = run.out[block].lane[lane][word]; actual != right)
            return differs("LDS byte", static_cast<int>(at), actual, right);
        }
    }
    return "";
  };
  return test;
}

void addReads(std::vector<Case> &all) {
  struct Read {
    const char *name;
    MemoryKind kind;
  };
  for (const Read &read : {Read{"ds_read_b32", {"", 4}},
                           {"ds_read_b64", {"", 8}},
                           {"ds_read_b96", {"", 12}},
                           {"ds_read_b128", {"", 16}},
                           {"ds_read_i8", {"", 1, true}},
                           {"ds_read_u8", {"", 1}},
                           {"ds_read_i16", {"", 2, true}},
                           {"ds_read_u16", {"", 2}},
                           {"ds_read_u8_d16", {"", 1, false, true}},
                           {"ds_read_u8_d16_hi", {"", 1, false, true, true}},
                           {"ds_read_i8_d16", {"", 1, true, true}},
                           {"ds_read_i8_d16_hi", {"", 1, true, true, true}},
                           {"ds_read_u16_d16", {"", 2, false, true}},
                           {"ds_read_u16_d16_hi", {"", 2, false, true, true}}})
    for (u32 offset : {0u, 36u, 1000u}) {
      MemoryKind kind = read.kind;
      u32 unit = kind.bytes < 4 ? static_cast<u32>(kind.bytes) : 4;
      all.push_back(reading(
          read.name,
          std::string(read.name) + " " + registers(8, kind.words()) + ", v2" +
              (offset ? " offset:" + std::to_string(offset) : ""),
          kind.words(), addresses(unit, 1000 / unit, false),
          [=](const BlockIn &in, const std::vector<u8> &lds, int lane, int word, u32 before) {
            std::size_t at = in.lane[lane][kB] + offset + 4 * static_cast<std::size_t>(word);
            return loaded(kind, &lds.at(at), before);
          }));
    }
  struct Pair {
    const char *name;
    std::size_t bytes, stride;
  };
  for (const Pair &pair :
       {Pair{"b32", 4, 4}, {"st64_b32", 4, 256}, {"b64", 8, 8}, {"st64_b64", 8, 512}}) {
    std::string suffix = pair.name;
    std::string row = "ds_read2" + (suffix[0] == 's' ? suffix : "_" + suffix);
    std::size_t first = pair.stride > 8 ? 1 : 30, second = pair.stride > 8 ? 2 : 7,
                words = pair.bytes / 4;
    all.push_back(
        reading(row,
                row + " " + registers(8, static_cast<int>(2 * words)) +
                    ", v2 offset0:" + std::to_string(first) + " offset1:" + std::to_string(second),
                static_cast<int>(2 * words), addresses(4, 120, false),
                [=](const BlockIn &in, const std::vector<u8> &lds, int lane, int word, u32) {
                  auto w = static_cast<std::size_t>(word);
                  std::size_t at = in.lane[lane][kB] + (w < words ? first : second) * pair.stride +
                                   w % words * 4;
                  return loaded({"", 4}, &lds.at(at), 0);
                }));
  }
}

void addWrites(std::vector<Case> &all) {
  struct Write {
    const char *name;
    MemoryKind kind;
  };
  // Data is v[2:5]; v15 keeps the address, which was the first of them.
  auto store = [](const MemoryKind &kind, const BlockIn &in, std::vector<u8> &lds, int lane,
                  std::size_t at, int first) {
    for (int word = 0; word < kind.words(); ++word)
      stored(kind, in.lane[lane][first + word], &lds.at(at + 4 * static_cast<std::size_t>(word)));
  };
  for (const Write &write : {Write{"ds_write_b32", {"", 4}},
                             {"ds_write_b64", {"", 8}},
                             {"ds_write_b96", {"", 12}},
                             {"ds_write_b128", {"", 16}},
                             {"ds_write_b8", {"", 1}},
                             {"ds_write_b16", {"", 2}},
                             {"ds_write_b8_d16_hi", {"", 1, false, false, true}},
                             {"ds_write_b16_d16_hi", {"", 2, false, false, true}}})
    for (u32 offset : {0u, 1022u & ~3u}) {
      MemoryKind kind = write.kind;
      all.push_back(writing(write.name,
                            std::string(write.name) + " v2, " + registers(4, kind.words()) +
                                (offset ? " offset:" + std::to_string(offset) : ""),
                            [=](const BlockIn &in, std::vector<u8> &lds, int lane) {
                              store(kind, in, lds, lane, in.lane[lane][kB] + offset, kC);
                            }));
    }
  struct Pair {
    const char *row;
    int bytes;
    std::size_t stride, first, second;
  };
  for (const Pair &pair : {Pair{"ds_write2_b32", 4, 4, 0, 3},
                           {"ds_write2st64_b32", 4, 256, 0, 4},
                           {"ds_write2_b64", 8, 8, 1, 128},
                           {"ds_write2st64_b64", 8, 512, 0, 2}}) {
    int words = pair.bytes / 4;
    // Data in v[4:5] and v[6:7].
    all.push_back(writing(pair.row,
                          std::string(pair.row) + " v2, " + registers(4, words) + ", " +
                              registers(6, words) + " offset0:" + std::to_string(pair.first) +
                              " offset1:" + std::to_string(pair.second),
                          [=](const BlockIn &in, std::vector<u8> &lds, int lane) {
                            MemoryKind kind{"", pair.bytes};
                            std::size_t base = in.lane[lane][kB];
                            store(kind, in, lds, lane, base + pair.first * pair.stride, kC);
                            store(kind, in, lds, lane, base + pair.second * pair.stride, kA);
                          }));
  }
}

/// Sixteen lanes fetch a string each; lane t gets every sixteenth element from t on, of all strings
/// in a row.
void addTransposes(std::vector<Case> &all) {
  struct Transpose {
    const char *row;
    std::size_t bytes, bits;
  };
  for (const Transpose &t : {Transpose{"ds_read_b64_tr_b16", 8, 16},
                             {"ds_read_b64_tr_b8", 8, 8},
                             {"ds_read_b64_tr_b4", 8, 4},
                             {"ds_read_b96_tr_b6", 12, 6}}) {
    int words = static_cast<int>(t.bytes / 4);
    all.push_back(reading(
        t.row, std::string(t.row) + " " + registers(8, words) + ", v2 offset:64", words,
        [=](int, Random &random, BlockIn &in) {
          for (auto &lane : in.lane)
            lane[kB] = random() % 60 * 16;
        },
        [=](const BlockIn &in, const std::vector<u8> &lds, int lane, int word, u32) {
          u32 result = 0;
          std::size_t perLane = t.bytes * 8 / t.bits,
                      group = static_cast<std::size_t>(lane / 16 * 16),
                      own = static_cast<std::size_t>(lane % 16);
          for (std::size_t bit = 0; bit < 32; ++bit) {
            std::size_t at = static_cast<std::size_t>(word) * 32 + bit, element = at / t.bits;
            std::size_t among = element * 16 + own, string = among / perLane,
                        inside = among % perLane * t.bits + at % t.bits;
            std::size_t address = in.lane[group + string][kB] + 64 + inside / 8;
            result |= ((u32{lds.at(address)} >> (inside % 8)) & 1) << bit;
          }
          return result;
        }));
    all.back().only950 = true;
  }
}

/// Lane by lane to M0 plus the instruction's offset, which counts in both places: dwords, or on
/// gfx950 every sixteen bytes.
void addDma(std::vector<Case> &all) {
  struct Dma {
    const char *name;
    MemoryKind kind;
  };
  for (const Dma &dma : {Dma{"dword", {"", 4}},
                         {"ubyte", {"", 1}},
                         {"sbyte", {"", 1, true}},
                         {"ushort", {"", 2}},
                         {"sshort", {"", 2, true}},
                         {"dwordx3", {"", 12}},
                         {"dwordx4", {"", 16}}})
    for (const char *family : {"global", "scratch", "buffer"}) {
      MemoryKind kind = dma.kind;
      bool scratch = family[0] == 's', buffer = family[0] == 'b';
      if (kind.bytes > 4 && scratch)
        continue;
      std::string row = std::string(family) + (buffer ? "_load_" : "_load_lds_") + dma.name;
      std::string text = "s_mov_b32 m0, 512\ns_nop 1\n" + row + " " +
                         (scratch  ? "v15, off offset:8"
                          : buffer ? "v15, s[28:31], 0 offen offset:8 lds"
                                   : "v15, s[16:17] offset:8");
      // v15: the lane's offset in memory; in scratch every lane has two dwords of its own there.
      std::string setup = scratch ? "v_mov_b32 v15, 0\nscratch_store_dwordx2 off, v[4:5], off "
                                    "offset:8\ns_waitcnt vmcnt(0)\n"
                                  : "v_and_b32 v15, 0x3fc, v2\n";
      Case test = writing(row, setup + text, {});
      test.only950 = kind.bytes > 4;
      test.scratch = scratch ? 64 : 0;
      test.memory = scratch ? 0 : 2048;
      test.blocks = 1;
      test.place = [](u64 memory, BlockIn &in) {
        setPair(&in.scalar[kBuffer], memory);
        in.scalar[kBuffer + 2] = 700; // beyond it zeros arrive
        in.scalar[kBuffer + 3] = 0x20000;
      };
      test.fill = [](int, Random &random, BlockIn &in) {
        setPair(&in.scalar[kExec], random() | u64{random()} << 32);
      };
      test.verify = [=](const Run &run) -> std::string {
        const BlockIn &in = run.in[0];
        std::vector<u8> lds = filledLds(in);
        for (int lane = 0; lane < kLanes; ++lane)
          for (int word = 0; active(in, lane) && word < kind.words(); ++word) {
            u8 bytes[4] = {};
            std::size_t from = (in.lane[lane][kB] & 0x3fc) + 8 + 4 * static_cast<std::size_t>(word);
            std::size_t size = kind.bytes < 4 ? static_cast<std::size_t>(kind.bytes) : 4;
            if (scratch)
              std::memcpy(bytes, &in.lane[lane][kC], 4);
            else if (!buffer || from + size <= 700)
              std::memcpy(bytes, &run.before.at(from), size);
            u32 value = loaded(kind, bytes, 0);
            std::size_t to = 512 + 8 + static_cast<std::size_t>(lane) * (kind.bytes > 4 ? 16 : 4) +
                             4 * static_cast<std::size_t>(word);
            stored({"", 4}, value, &lds.at(to));
          }
        for (int lane = 0; lane < kLanes; ++lane)
          for (int word = 0; word < 8; ++word) {
            auto at = static_cast<std::size_t>(16 * lane + (word < 4 ? 1024 : 0) + word % 4 * 4);
            u32 right = loaded({"", 4}, &lds[at], 0);
            if (u32 actual = run.out[0].lane[lane][word]; actual != right)
              return differs("LDS byte", static_cast<int>(at), actual, right);
          }
        return "";
      };
      all.push_back(test);
    }
}

} // namespace

std::vector<Case> ldsCases() {
  std::vector<Case> all;
  addReads(all);
  addWrites(all);
  addTransposes(all);
  addDma(all);
  return all;
}

} // namespace wavesmith::emulator::rows
