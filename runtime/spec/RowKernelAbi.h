#pragma once
// What passes between the host and the kernels around attention. A kernel's arguments lie in the
// order of its template: a tensor is its address, then the stride in bytes of each dimension that
// the kernel does not know (`?` in the template); then the scalars. Plain data in the device's
// layout; every object's note carries the layout's text and a loader with another one refuses it.

#include <cstddef>
#include <cstdint>

#include "runtime/spec/AttentionAbi.h"

namespace wavesmith {

/// Threads of a row kernel's workgroup.
inline constexpr int kRowThreads = 256;

//===-- combine_splits -----------------------------------------------------------------------===//

/// The partials of one row block of a sequence and head: slots [slot, slot + slots), each with
/// `rows` rows. Grid: x = units, y = RowKernel::groupsFor(kAttentionBlockM).
struct CombineUnit {
  std::int32_t firstRow; ///< packed row of the block's first query, in out and lse
  std::int32_t rows;     ///< 0 to 256
  std::int32_t head;
  std::int32_t slot;  ///< of the first partial
  std::int32_t slots; ///< how many; 0 gives out = 0 and lse = -inf
  std::int32_t reserved[3];
};
static_assert(sizeof(CombineUnit) == 32);

struct CombineArguments {
  std::uint64_t partialOut; ///< float32 [slot][256][d_v], normalised
  std::int64_t partialOutSlotStride;
  std::uint64_t partialLse; ///< float32 [slot][256], natural log
  std::int64_t partialLseSlotStride;
  std::uint64_t units; ///< CombineUnit[grid x]
  std::int64_t unitStride;
  std::uint64_t out; ///< bf16 [total_q, heads, d_v]
  std::int64_t outRowStride, outHeadStride;
  std::uint64_t lse; ///< float32 [heads, total_q], natural log; unused if the spec has no LSE
  std::int64_t lseHeadStride, lseRowStride;
};
static_assert(sizeof(CombineArguments) == 96);
static_assert(offsetof(CombineArguments, out) == 48);

inline constexpr int kCombineRows = 32;
inline constexpr const char *kCombineLayout =
    "combine_splits-1 args=96:partialOut0,partialOutSlot8,partialLse16,partialLseSlot24,units32,"
    "unit40,out48,outRow56,outHead64,lse72,lseHead80,lseRow88 unit=32:firstRow0,rows4,head8,slot12,"
    "slots16 block=256 rows=32 threads=256";

} // namespace wavesmith
