#pragma once
// One attention problem on the emulator: packed tensors with padding, work units, launch, and a
// float64 reference computed from the same bf16 or FP8 inputs. Padding holds NaN, outputs start as
// a pattern that must survive wherever the kernel has no row.

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compiler/lowering/Schedule.h"
#include "emulator/Emulator.h"
#include "runtime/spec/AttentionAbi.h"

namespace wavesmith::compiler::testing {

struct SequenceLengths {
  int q, kv;
};

struct AttentionProblem {
  KernelShape shape;
  std::vector<SequenceLengths> sequences;
  int heads = 1, kvHeads = 1;
  int splits = 1;               ///< KV parts of each block of rows; above 1 needs shape.splitKv
  int headPadding = 0;          ///< elements after each head's row
  int rowPadding = 0;           ///< elements after each token
  std::int64_t keyRowBytes = 0; ///< overrides the row stride of K and V
  /// Overrides the distance of heads in q, k, v and out, whose rows are dense then. For distances
  /// of any size: what lies between the rows is neither filled nor looked at.
  std::int64_t headBytes = 0;
  float growth = 0;            ///< keys grow by this factor over a sequence, so that maxima move
  int nanSequence = -1;        ///< its q, k and v are NaN and nobody looks at its rows
  float otherQueries = 1;      ///< factor on every query row of a sequence but row 5
  int blockN = 32;             ///< of the kernel: where splits may cut
  bool sharedDescales = false; ///< FP8: one for all heads
  /// FP8: q's codes are multiplied by two to this, its descale divided by it.
  int queryShift = 0;
  std::uint64_t seed = 1;
  /// Overrides what was drawn: bits of element i of a token and head of tensor 'q', 'k' or 'v'.
  std::function<std::uint16_t(char tensor, int token, int head, int i)> bits;
};

struct AttentionResult {
  std::string error; ///< set-up failed, a fault, or a byte written where no row is
  double relativeRms = 0;
  /// Of rows that see a key: relative, and of the LSE absolute. With at least 64 keys, and below.
  double worstRow = 0, worstLse = 0;
  double worstShortRow = 0, worstShortLse = 0;
  bool emptyRowsExact = true;
  std::vector<float> rowFive;  ///< of the first sequence and head
  std::vector<float> out, lse; ///< everything, in memory order without padding
};

AttentionResult runAttention(emulator::Device &device, const emulator::Module &module,
                             const AttentionProblem &problem, const emulator::RunOptions &options);

} // namespace wavesmith::compiler::testing
