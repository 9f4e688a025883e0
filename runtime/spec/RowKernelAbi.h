#pragma once
// What passes between the host and the kernels around attention. A kernel's arguments lie in the
// order of its template: a tensor is its address, then the stride in bytes of each dimension that
// the kernel does not know (`?` in the template); then the scalars, up to 16 bytes. Plain data in
// the device's layout; every object's note carries the layout's text and a loader with another one
// refuses it.

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
  std::uint64_t out; ///< bf16 or f16 [total_q, heads, d_v]
  std::int64_t outRowStride, outHeadStride;
  std::uint64_t lse; ///< float32 [heads, total_q], natural log; unused if the spec has no LSE
  std::int64_t lseHeadStride, lseRowStride;
};
static_assert(sizeof(CombineArguments) == 96);
static_assert(offsetof(CombineArguments, out) == 48);

inline constexpr int kCombineRows = 16;
inline constexpr const char *kCombineLayout =
    "combine_splits-1 args=96:partialOut0,partialOutSlot8,partialLse16,partialLseSlot24,units32,"
    "unit40,out48,outRow56,outHead64,lse72,lseHead80,lseRow88 unit=32:firstRow0,rows4,head8,slot12,"
    "slots16 block=256 rows=16 threads=256";

//===-- merge_states -------------------------------------------------------------------------===//

/// Two outputs over disjoint keys become one; out and lse may be those of a or of b. Grid: x =
/// RowKernel::groupsFor(tokens), y = heads.
struct MergeArguments {
  std::uint64_t a; ///< [tokens, heads, d_v], of the prefix
  std::int64_t aRowStride, aHeadStride;
  std::uint64_t lseA; ///< float32 [heads, tokens], natural log
  std::int64_t lseAHeadStride, lseARowStride;
  std::uint64_t b; ///< of the suffix
  std::int64_t bRowStride, bHeadStride;
  std::uint64_t lseB;
  std::int64_t lseBHeadStride, lseBRowStride;
  std::uint64_t out;
  std::int64_t outRowStride, outHeadStride;
  std::uint64_t lse;
  std::int64_t lseHeadStride, lseRowStride;
  std::int32_t tokens;
  std::int32_t merged; ///< from this token on b alone counts
  std::int32_t reserved[2];
};
static_assert(sizeof(MergeArguments) == 160);
static_assert(offsetof(MergeArguments, tokens) == 144);

inline constexpr int kMergeRows = 32;
inline constexpr const char *kMergeLayout =
    "merge_states-1 args=160:a0,aRow8,aHead16,lseA24,lseAHead32,lseARow40,b48,bRow56,bHead64,"
    "lseB72,lseBHead80,lseBRow88,out96,outRow104,outHead112,lse120,lseHead128,lseRow136,tokens144,"
    "merged148 rows=32 threads=256";

//===-- quantize, quantize_concat, amax, histogram -------------------------------------------===//

/// Grid of all four: x = RowKernel::groupsFor(tokens), y = heads. A head stride of 0 shares an
/// element or a row among heads: one maximum for a tensor, one rope for all heads.
struct QuantizeArguments {
  std::uint64_t x; ///< [tokens, heads, head_dim]
  std::int64_t xRowStride, xHeadStride;
  std::uint64_t y; ///< FP8, likewise
  std::int64_t yRowStride, yHeadStride;
  std::uint64_t descale; ///< float32 [heads]: finite and positive, or written if dynamic
  std::int64_t descaleHeadStride;
  std::uint64_t amax; ///< float32 [heads], if dynamic
  std::int64_t amaxHeadStride;
  std::uint64_t saturated; ///< uint64 [heads], grows by the elements beyond the largest value
  std::int64_t saturatedHeadStride;
  std::int32_t tokens;
  std::int32_t reserved[3];
};
static_assert(sizeof(QuantizeArguments) == 112);

struct QuantizeConcatArguments {
  std::uint64_t nope; ///< [tokens, heads, 128]
  std::int64_t nopeRowStride, nopeHeadStride;
  std::uint64_t rope; ///< [tokens, heads, 64]
  std::int64_t ropeRowStride, ropeHeadStride;
  std::uint64_t y; ///< FP8 [tokens, heads, 192]
  std::int64_t yRowStride, yHeadStride;
  std::uint64_t descale;
  std::int64_t descaleHeadStride;
  std::uint64_t amax;
  std::int64_t amaxHeadStride;
  std::uint64_t saturated;
  std::int64_t saturatedHeadStride;
  std::int32_t tokens;
  std::int32_t reserved;
};
static_assert(sizeof(QuantizeConcatArguments) == 128);

struct AmaxArguments {
  std::uint64_t x; ///< [tokens, heads, head_dim]
  std::int64_t xRowStride, xHeadStride;
  std::uint64_t amax; ///< float32 [heads], raised; 0 before the first tensor
  std::int64_t amaxHeadStride;
  std::int32_t tokens;
  std::int32_t reserved;
};
static_assert(sizeof(AmaxArguments) == 48);

struct HistogramArguments {
  std::uint64_t x; ///< [tokens, heads, head_dim]
  std::int64_t xRowStride, xHeadStride;
  std::uint64_t counts; ///< uint64 [heads][256] by MagnitudeClasses.h, grow
  std::int64_t countsHeadStride;
  std::int32_t tokens;
  std::int32_t reserved;
};
static_assert(sizeof(HistogramArguments) == 48);

inline constexpr int kQuantizeRows = 32;
inline constexpr const char *kQuantizeLayout =
    "quantize-1 args=112:x0,xRow8,xHead16,y24,yRow32,yHead40,descale48,descaleHead56,amax64,"
    "amaxHead72,saturated80,saturatedHead88,tokens96 rows=32 threads=256";
inline constexpr const char *kQuantizeConcatLayout =
    "quantize_concat-1 args=128:nope0,nopeRow8,nopeHead16,rope24,ropeRow32,ropeHead40,y48,yRow56,"
    "yHead64,descale72,descaleHead80,amax88,amaxHead96,saturated104,saturatedHead112,tokens120 "
    "rows=32 threads=256";
inline constexpr const char *kAmaxLayout =
    "amax-1 args=48:x0,xRow8,xHead16,amax24,amaxHead32,tokens40 rows=32 threads=256";
inline constexpr const char *kHistogramLayout =
    "histogram-1 args=48:x0,xRow8,xHead16,counts24,countsHead32,tokens40 classes=256 rows=32 "
    "threads=256";

//===-- work_list ----------------------------------------------------------------------------===//

/// One AttentionWorkUnit for each row block and head of a batch whose lengths only the device
/// knows. Grid: x = an upper bound of the row blocks, y = heads; unit x * heads + y. Blocks that
/// the batch does not have give units without queries and keys.
struct WorkListArguments {
  std::uint64_t qOffsets; ///< int32 [sequences + 1], rising from 0, in tokens
  std::int64_t qOffsetStride;
  std::uint64_t kvOffsets; ///< likewise
  std::int64_t kvOffsetStride;
  std::uint64_t units; ///< AttentionWorkUnit[grid x * heads]
  std::int64_t unitStride;
  std::int32_t sequences;
  std::int32_t heads;
  std::int32_t group;   ///< query heads of a key/value head
  std::int32_t queries; ///< of all sequences, at most: one that ends beyond is left out
  std::int32_t keys;    ///< likewise
  /// Keys that a query sees before and behind its own position, 0 to kNoWindow: right is 0 of a
  /// causal mask.
  std::int32_t left, right;
  std::int32_t reserved;
};
static_assert(sizeof(WorkListArguments) == 80);
static_assert(offsetof(WorkListArguments, sequences) == 48);

inline constexpr const char *kWorkListLayout =
    "work_list-3 args=80:qOffsets0,qOffset8,kvOffsets16,kvOffset24,units32,unit40,sequences48,"
    "heads52,group56,queries60,keys64,left68,right72 unit=attention-2 rows=1 threads=256";

} // namespace wavesmith
