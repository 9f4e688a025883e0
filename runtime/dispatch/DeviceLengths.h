#pragma once
// A call whose lengths only the device knows: the host gives bounds, a small kernel makes the work
// list from the offsets, and attention runs over a grid for the largest batch, whose surplus units
// do nothing. Captured once, the launch serves every batch within the bounds. Row blocks are not
// split and come in the batch's order, so where the host knows the lengths planAttention() is
// faster.

#include <cstdint>

#include "runtime/dispatch/AttentionPlan.h"
#include "runtime/dispatch/LaunchList.h"

namespace wavesmith {

/// What a batch has at most.
struct LengthBounds {
  std::int64_t sequences = 0; ///< exactly: offsets have one more
  std::int64_t queries = 0;   ///< of all sequences
  std::int64_t keys = 0;      ///< likewise
};

struct DeviceLengthsPlan {
  CheckedProblem checked; ///< of one sequence that is as long as the bounds
  LengthBounds bounds;
  std::uint32_t blocks = 0; ///< row blocks at most
  AttentionArguments arguments{};
  std::uint64_t workspaceBytes = 0;
};

/// `problem` has no lengths. Its lseHeadStride, unset, is bounds.queries.
Expected<DeviceLengthsPlan> planDeviceLengths(AttentionProblem problem, const LengthBounds &bounds);

/// AttentionBuffers::qOffsets and kvOffsets are int32 [sequences + 1], from 0 and rising. A
/// sequence that ends beyond the bounds, or before it or its tensors begin, is left out. Rows that
/// the batch does not have are not written.
LaunchList launchList(const DeviceLengthsPlan &plan);

} // namespace wavesmith
