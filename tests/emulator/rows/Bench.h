#pragma once
// One kernel per case: a few instructions between a prologue that loads registers with drawn values
// and an epilogue that stores what they hold afterwards. All cases of a list are assembled at once
// by llvm-mc and run on the emulator with every check on. Plain data; one thread.

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace wavesmith::emulator::rows {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using Random = std::mt19937;

inline constexpr int kLanes = 64;

/// What one wave starts with. Lane words are v[2:9]: B, C, A and D, two words each.
struct BlockIn {
  std::array<std::array<u32, 8>, kLanes> lane;
  /// s[16:31]: two sources, the old destination (also in s[40:41]), VCC, EXEC, SCC, M0 and, at
  /// s[28:31], a buffer descriptor.
  std::array<u32, 16> scalar;
};
enum LaneIn { kB = 0, kC = 2, kA = 4, kD = 6 };
enum ScalarIn {
  kS0 = 0,
  kS1 = 2,
  kOld = 4,
  kVcc = 6,
  kExec = 8,
  kScc = 10,
  kM0 = 11,
  kBuffer = 12
};

/// What it ends with: v[6:13], and s[40:41], VCC, EXEC, SCC, M0.
struct BlockOut {
  std::array<std::array<u32, 8>, kLanes> lane;
  std::array<u32, 8> scalar;
};
enum LaneOut { kOutA = 0, kOutD = 2 };
enum ScalarOut { kOutS = 0, kOutVcc = 2, kOutExec = 4, kOutScc = 6, kOutM0 = 7 };

/// v[10:13] before the instruction.
inline constexpr std::array<u32, 4> kUpperD = {0x11111111, 0x22222222, 0x33333333, 0x44444444};

inline u64 pairOf(const u32 *words) { return words[0] | u64{words[1]} << 32; }
inline void setPair(u32 *words, u64 value) {
  words[0] = static_cast<u32>(value);
  words[1] = static_cast<u32>(value >> 32);
}

struct Run {
  std::vector<BlockIn> in;
  std::vector<BlockOut> out;
  std::vector<u8> before, after; ///< the case's memory; its address is in scalars 0 and 1
  u64 address = 0;
};

struct Case {
  /// Name in the instruction table; empty where no model says what the row gives.
  std::string row;
  std::string body;
  int blocks = 8;
  std::function<void(int block, Random &random, BlockIn &in)> fill;
  /// Empty, or the first thing that is wrong.
  std::function<std::string(const Run &run)> verify;
  bool only950 = false, only942 = false;
  int lds = 0, scratch = 0; ///< bytes
  std::size_t memory = 0;   ///< bytes, filled with random ones
  /// Called with the memory's address once it is known, after `fill`.
  std::function<void(u64 address, BlockIn &in)> place;
};

/// Random lanes, full EXEC, no descriptor.
void fillRandom(Random &random, BlockIn &in);

/// Runs the cases that the target has; failures are gtest's.
void runCases(const std::string &target, const std::vector<Case> &cases);

/// For a message: "lane 3: 0x... instead of 0x...".
std::string differs(const char *what, int index, u64 actual, u64 expected);

} // namespace wavesmith::emulator::rows
