// Loads and stores of buffers, global, flat and scratch memory (CDNA3 ISA 9.1, 10): every width,
// and every way to form an address, with range checks by dword.

#include <optional>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/MemoryKinds.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr std::size_t kMemory = 4096;

/// Where dword `c` of a lane is; none when the range check fails.
using Place =
    std::function<std::optional<std::size_t>(const BlockIn &in, int lane, int c, int step)>;

/// One way to form addresses.
struct Way {
  std::string address, rest; ///< operands before and behind the data
  std::function<void(Random &, u64 memory, BlockIn &)> prepare;
  Place place;
  bool shares = false; ///< lanes share addresses: no stores
  int largest = 16;    ///< bytes
};

bool active(const BlockIn &in, int lane) { return (pairOf(&in.scalar[kExec]) >> lane) & 1; }

std::string verifyLoad(const MemoryKind &kind, const Place &place, const Run &run) {
  int step = kind.bytes < 4 ? kind.bytes : 4;
  const BlockIn &in = run.in[0];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int word = 0; word < 4; ++word) {
      u32 before = word < 2 ? in.lane[lane][kD + word] : kUpperD[word - 2], expected = before;
      if (active(in, lane) && word < kind.words()) {
        auto at = place(in, lane, word, step);
        u8 bytes[4] = {};
        if (at)
          std::memcpy(bytes, &run.before.at(*at), static_cast<std::size_t>(step));
        expected = loaded(kind, bytes, before);
      }
      if (u32 actual = run.out[0].lane[lane][kOutD + word]; actual != expected)
        return differs("lane", lane, actual, expected) + differs(", word", word, 0, 0);
    }
  return run.after == run.before ? "" : "a load changed memory";
}

std::string verifyStore(const MemoryKind &kind, const Place &place, const Run &run) {
  int step = kind.bytes < 4 ? kind.bytes : 4;
  std::vector<u8> expected = run.before;
  const BlockIn &in = run.in[0];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int word = 0; active(in, lane) && word < kind.words(); ++word)
      if (auto at = place(in, lane, word, step))
        stored(kind, in.lane[lane][kA + word], &expected.at(*at));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (run.after[i] != expected[i])
      return differs("byte", static_cast<int>(i), run.after[i], expected[i]);
  return "";
}

Case accessCase(const std::string &row, const MemoryKind &kind, const Way &way, bool store,
                int seed) {
  Case test;
  test.row = row;
  // Data is v[6:9], results go to v[8:11].
  std::string data = registers(store ? 6 : 8, kind.words());
  bool buffer = row.starts_with("buffer");
  test.body = row + " ";
  if (store && !buffer)
    test.body += way.address + ", " + data;
  else
    test.body += data + ", " + way.address;
  test.body += way.rest + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
  test.blocks = 1;
  test.memory = kMemory;
  test.place = [=](u64 memory, BlockIn &in) {
    Random random(static_cast<u32>(seed));
    way.prepare(random, memory, in);
    if (seed % 2)
      setPair(&in.scalar[kExec], random() | u64{random()} << 32);
  };
  test.verify = [=, place = way.place](const Run &run) {
    return store ? verifyStore(kind, place, run) : verifyLoad(kind, place, run);
  };
  return test;
}

/// Offsets of 32 bytes and more between lanes, in mixed order, at any alignment.
u32 slot(Random &random, int lane) {
  return 128 + 32 * static_cast<u32>((lane * 37 + 11) % kLanes) + random() % 16;
}

std::vector<Way> globalWays() {
  auto offsets = [](Random &random, u64 memory, BlockIn &in) {
    for (int lane = 0; lane < kLanes; ++lane) {
      in.lane[lane][kB] = slot(random, lane);
      setPair(&in.lane[lane][kC], memory + slot(random, lane));
    }
    setPair(&in.scalar[kS0], memory);
  };
  auto fromBase = [](const BlockIn &in, int lane, int c, int) -> std::optional<std::size_t> {
    return in.lane[lane][kB] - 100 + 4 * static_cast<u32>(c);
  };
  auto fromPair = [](const BlockIn &in, int lane, int c, int) -> std::optional<std::size_t> {
    return pairOf(&in.lane[lane][kC]) - pairOf(&in.scalar[kS0]) + 1000 + 4 * static_cast<u32>(c);
  };
  return {{"v2", ", s[16:17] offset:-100", offsets, fromBase},
          {"v[4:5]", ", off offset:1000", offsets, fromPair}};
}
std::vector<Way> flatWays() {
  Way way = globalWays()[1];
  way.rest = " offset:1000";
  return {way};
}

struct Descriptor {
  u32 stride = 0, records = 0, word3 = 0x20000;
  bool swizzle = false;
};
void setDescriptor(BlockIn &in, u64 memory, const Descriptor &d) {
  in.scalar[kBuffer] = static_cast<u32>(memory);
  in.scalar[kBuffer + 1] = static_cast<u32>(memory >> 32) | d.stride << 16 | u32{d.swizzle} << 31;
  in.scalar[kBuffer + 2] = d.records;
  in.scalar[kBuffer + 3] = d.word3;
}

std::vector<Way> bufferWays() {
  constexpr u32 kRaw = 1700, kStride = 40, kRecords = 48;
  std::vector<Way> ways;
  // Raw: the size counts bytes from the base, SOFFSET included.
  auto raw = [=](Random &random, u64 memory, BlockIn &in) {
    for (int lane = 0; lane < kLanes; ++lane)
      in.lane[lane][kB] = slot(random, lane);
    in.scalar[kS1] = 8;
    setDescriptor(in, memory, {0, kRaw});
  };
  ways.push_back({"v2", ", s[28:31], s18 offen offset:20", raw,
                  [](const BlockIn &in, int lane, int c, int step) -> std::optional<std::size_t> {
                    std::size_t at = in.lane[lane][kB] + 28 + 4 * static_cast<std::size_t>(c);
                    return at + static_cast<std::size_t>(step) <= kRaw ? std::optional(at)
                                                                       : std::nullopt;
                  }});
  // Without any register: one address for all.
  ways.push_back({"off", ", s[28:31], s18 offset:1684", raw,
                  [](const BlockIn &, int, int c, int step) -> std::optional<std::size_t> {
                    std::size_t at = 1692 + 4 * static_cast<std::size_t>(c);
                    return at + static_cast<std::size_t>(step) <= kRaw ? std::optional(at)
                                                                       : std::nullopt;
                  },
                  true});
  // Structured: the size counts records.
  auto structured = [=](Random &random, u64 memory, BlockIn &in) {
    for (int lane = 0; lane < kLanes; ++lane) {
      in.lane[lane][kB] = static_cast<u32>((lane * 37 + 11) % kLanes);
      in.lane[lane][kB + 1] = random() % 12;
    }
    in.scalar[kS1] = 16;
    setDescriptor(in, memory, {kStride, kRecords});
  };
  auto record = [](u32 offset, bool offen) {
    return [=](const BlockIn &in, int lane, int c, int) -> std::optional<std::size_t> {
      u32 index = in.lane[lane][kB];
      if (index >= kRecords)
        return std::nullopt;
      return index * kStride + offset + (offen ? in.lane[lane][kB + 1] : 0) +
             4 * static_cast<u32>(c);
    };
  };
  ways.push_back({"v2", ", s[28:31], 0 idxen offset:4", structured, record(4, false)});
  ways.push_back({"v[2:3]", ", s[28:31], s18 idxen offen offset:2", structured, record(18, true)});
  // Swizzled: records side by side in groups of 8 (index stride 0), 4 bytes of each in turn.
  auto swizzled = [=](Random &random, u64 memory, BlockIn &in) {
    structured(random, memory, in);
    for (auto &lane : in.lane)
      lane[kB + 1] = random() % 8 * 4;
    setDescriptor(in, memory, {kStride, kRecords, 0x20000, true});
  };
  ways.push_back({"v[2:3]", ", s[28:31], 0 idxen offen offset:4", swizzled,
                  [](const BlockIn &in, int lane, int, int) -> std::optional<std::size_t> {
                    u32 index = in.lane[lane][kB], offset = in.lane[lane][kB + 1] + 4;
                    if (index >= kRecords)
                      return std::nullopt;
                    return (index / 8 * kStride + offset / 4 * 4) * 8 + index % 8 * 4 + offset % 4;
                  },
                  false, 4});
  return ways;
}

void addFamily(std::vector<Case> &all, const std::string &family, const std::vector<Way> &ways) {
  int seed = 1;
  for (const Way &way : ways) {
    for (const MemoryKind &kind : kLoads)
      if (kind.bytes <= way.largest)
        all.push_back(accessCase(family + "_load_" + kind.name, kind, way, false, ++seed));
    for (const MemoryKind &kind : kStores)
      if (kind.bytes <= way.largest && !way.shares)
        all.push_back(accessCase(family + "_store_" + kind.name, kind, way, true, ++seed));
  }
}

/// Each lane's own bytes: v[6:9] at 16, then a load of some of them, or a store of v[2:5] over some
/// and a load of all.
void addScratch(std::vector<Case> &all) {
  struct ScratchWay {
    const char *text;
    std::function<u32(const BlockIn &, int)> at;
  };
  const ScratchWay ways[] = {
      {"off, off offset:20", [](const BlockIn &, int) { return 4u; }},
      {"v14, off offset:16", [](const BlockIn &in, int lane) { return in.lane[lane][kC] % 4; }},
      {"off, s18 offset:12", [](const BlockIn &, int) { return 3u; }}};
  std::string setup = "scratch_store_dwordx4 off, v[6:9], off offset:16\n"
                      "scratch_store_dwordx4 off, v[6:9], off offset:32\n"
                      "v_and_b32 v14, 3, v4\ns_mov_b32 s18, 7\ns_waitcnt vmcnt(0)\n";
  // Bytes from 16 on; they repeat.
  auto image = [](const BlockIn &in, int lane) {
    std::vector<u8> bytes(32);
    for (std::size_t i = 0; i < 32; ++i)
      bytes[i] = static_cast<u8>(in.lane[lane][kA + i / 4 % 4] >> (8 * (i % 4)));
    return bytes;
  };
  for (const ScratchWay &way : ways) {
    std::string text = way.text, address = text.substr(0, text.find(',')),
                rest = text.substr(text.find(','));
    auto at = way.at;
    for (const MemoryKind &kind : kLoads) {
      Case test;
      test.row = std::string("scratch_load_") + kind.name;
      test.body = setup + test.row + " " + registers(10, kind.words()) + ", " + text +
                  "\ns_waitcnt vmcnt(0)\n";
      test.blocks = 2;
      test.scratch = 64;
      test.verify = [=](const Run &run) -> std::string {
        for (std::size_t block = 0; block < run.in.size(); ++block)
          for (int lane = 0; lane < kLanes; ++lane) {
            std::vector<u8> bytes = image(run.in[block], lane);
            for (int word = 0; word < kind.words(); ++word) {
              std::size_t from = at(run.in[block], lane) + 4 * static_cast<std::size_t>(word);
              u32 right = loaded(kind, &bytes.at(from), kUpperD[word]);
              if (u32 actual = run.out[block].lane[lane][kOutD + 2 + word]; actual != right)
                return differs("lane", lane, actual, right);
            }
          }
        return "";
      };
      all.push_back(test);
    }
    for (const MemoryKind &kind : kStores) {
      Case test;
      test.row = std::string("scratch_store_") + kind.name;
      test.body = setup + test.row + " " + address + ", " + registers(2, kind.words()) + rest +
                  "\nscratch_load_dwordx4 v[10:13], off, off offset:16\ns_waitcnt vmcnt(0)\n";
      test.blocks = 2;
      test.scratch = 64;
      test.verify = [=](const Run &run) -> std::string {
        for (std::size_t block = 0; block < run.in.size(); ++block)
          for (int lane = 0; lane < kLanes; ++lane) {
            const BlockIn &in = run.in[block];
            std::vector<u8> bytes = image(in, lane);
            for (int word = 0; word < kind.words(); ++word)
              stored(kind, in.lane[lane][kB + word],
                     &bytes.at(at(in, lane) + 4 * static_cast<std::size_t>(word)));
            for (int word = 0; word < 4; ++word) {
              u32 right = loaded({"dword", 4}, &bytes[4 * static_cast<std::size_t>(word)], 0);
              if (u32 actual = run.out[block].lane[lane][kOutD + 2 + word]; actual != right)
                return differs("lane", lane, actual, right);
            }
          }
        return "";
      };
      all.push_back(test);
    }
  }
}

/// Flat addresses in the apertures of LDS and of scratch memory.
void addApertures(std::vector<Case> &all) {
  auto verify = [](const Run &run) -> std::string {
    for (int lane = 0; lane < kLanes; ++lane)
      if (u32 actual = run.out[0].lane[lane][kOutD], right = run.in[0].lane[lane][kA];
          actual != right)
        return differs("lane", lane, actual, right);
    return "";
  };
  Case shared;
  shared.row = "flat_load_dword";
  shared.body = "s_mov_b64 s[44:45], src_shared_base\nv_lshlrev_b32 v4, 2, v0\nv_mov_b32 v5, s45\n"
                "ds_write_b32 v4, v6\ns_waitcnt lgkmcnt(0)\nflat_load_dword v8, v[4:5]\n"
                "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  shared.blocks = 1;
  shared.lds = 256;
  shared.verify = verify;
  all.push_back(shared);
  Case own;
  own.row = "flat_store_dword";
  own.body = "s_mov_b64 s[44:45], src_private_base\nv_mov_b32 v4, 8\nv_mov_b32 v5, s45\n"
             "flat_store_dword v[4:5], v6\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
             "scratch_load_dword v8, off, off offset:8\ns_waitcnt vmcnt(0)\n";
  own.blocks = 1;
  own.scratch = 64;
  own.verify = verify;
  all.push_back(own);
}

} // namespace

std::vector<Case> vectorMemoryCases() {
  std::vector<Case> all;
  addFamily(all, "global", globalWays());
  addFamily(all, "flat", flatWays());
  addFamily(all, "buffer", bufferWays());
  addScratch(all);
  addApertures(all);
  return all;
}

} // namespace wavesmith::emulator::rows
