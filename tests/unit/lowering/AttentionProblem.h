#pragma once
// One attention problem on the emulator: packed tensors with padding, work units, launch, and a
// float64 reference computed from the same bf16 inputs. Padding holds NaN, outputs start as a
// pattern that must survive wherever the kernel has no row.

#include <cstdint>
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
  float growth = 0;             ///< keys grow by this factor over a sequence, so that maxima move
  int nanSequence = -1;         ///< its q, k and v are NaN and nobody looks at its rows
  float otherQueries = 1;       ///< factor on every query row of a sequence but row 5
  std::uint64_t seed = 1;
};

struct AttentionResult {
  std::string error; ///< set-up failed, a fault, or a byte written where no row is
  double relativeRms = 0;
  double worstRow = 0; ///< relative, of rows that see a key
  double worstLse = 0; ///< absolute
  bool emptyRowsExact = true;
  std::vector<float> rowFive; ///< of the first sequence and head
};

AttentionResult runAttention(emulator::Device &device, const emulator::Module &module,
                             const AttentionProblem &problem, const emulator::RunOptions &options);

} // namespace wavesmith::compiler::testing
