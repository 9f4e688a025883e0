#pragma once
// What passes between the host and an attention kernel: the kernel-argument block and the work
// list. The planner fills both, the compiler's kernels read both, the emulator knows neither.
// Plain data in the device's layout; a change here is a new kAttentionAbiVersion, which is part of
// every build key and note, so an object of another layout is refused and not misread.

#include <cstddef>
#include <cstdint>

namespace wavesmith {

inline constexpr int kAttentionAbiVersion = 2;
/// Of kernels whose score functions take values from the launch; the others keep their layout.
inline constexpr int kScoredAttentionAbiVersion = 3;
/// Query rows of one work unit (one workgroup), threads of its workgroup.
inline constexpr int kAttentionBlockM = 256;
inline constexpr int kAttentionThreads = 512;

/// One workgroup's share: rows [q0, q0 + 256) of one sequence and head over keys [kv0, kv1).
/// 64 bytes, aligned to 64, read with one scalar load. All counts are in rows (tokens).
struct AttentionWorkUnit {
  std::int32_t qBegin;  ///< packed row of the sequence's first query
  std::int32_t kvBegin; ///< packed row of the sequence's first key
  std::int32_t lenQ;    ///< queries of the sequence
  std::int32_t lenKv;   ///< keys of the sequence
  std::int32_t q0;      ///< first query row of this unit, within the sequence; a multiple of 256
  std::int32_t kv0;     ///< key range of this unit, within the sequence; kv1 <= lenKv,
  std::int32_t kv1;     ///< kv0 == kv1 means no keys at all
  std::int32_t head;    ///< query head
  std::int32_t kvHead;  ///< key/value head
  std::int32_t slot;    ///< -1: write out and lse; >= 0: write float32 partials to this slot
  std::int32_t sink;    ///< 1: this unit counts its head's sink, as one piece of a row block does
  std::int32_t reserved[5];
};
static_assert(sizeof(AttentionWorkUnit) == 64);

inline constexpr std::uint32_t kSharedDescaleQ = 1, kSharedDescaleK = 2, kSharedDescaleV = 4;

/// The kernel-argument block, offsets as the kernel's metadata lists them. Grid: one workgroup of
/// 512 threads per work unit, x dimension only. Strides are in **bytes** (the planner converts);
/// row strides stay below 4 MiB so that a unit's row offsets fit 32 bits, bases are 64-bit.
struct AttentionArguments {
  std::uint64_t q;   ///< [total_q, heads, d_qk]
  std::uint64_t k;   ///< [total_kv, kv_heads, d_qk]
  std::uint64_t v;   ///< [total_kv, kv_heads, d_v]
  std::uint64_t out; ///< bf16 or f16 [total_q, heads, d_v]
  std::uint64_t lse; ///< float32 [heads, total_q], natural log; unused if the spec has no LSE
  std::uint64_t partialOut; ///< float32 [slot][256][d_v], normalised; null without splits
  std::uint64_t partialLse; ///< float32 [slot][256], natural log; null without splits
  std::uint64_t work;       ///< AttentionWorkUnit[grid]
  std::uint64_t descaleQ;   ///< FP8: float32 [heads], or [1] if shared; else null
  std::uint64_t descaleK;   ///< FP8: float32 [kv_heads], or [1] if shared; else null
  std::uint64_t descaleV;   ///< FP8: float32 [kv_heads], or [1] if shared; else null
  std::int64_t qRowStride, qHeadStride;
  std::int64_t kRowStride, kHeadStride;
  std::int64_t vRowStride, vHeadStride;
  std::int64_t outRowStride, outHeadStride;
  std::int64_t lseHeadStride;
  float scaleLog2;              ///< softmax scale * log2(e), > 0
  std::uint32_t sharedDescales; ///< kSharedDescale...: one value for all heads
};
static_assert(sizeof(AttentionArguments) == 168);
static_assert(offsetof(AttentionArguments, qRowStride) == 88);
static_assert(offsetof(AttentionArguments, scaleLog2) == 160);

/// What score functions take from the launch, so that one kernel serves every value. Ignored by
/// those that the spec does not name.
struct ScoreArguments {
  float softCapRange;       ///< 2 * cap * log2(e), > 0
  float softCapRate;        ///< 2 / cap, > 0
  std::int32_t windowLeft;  ///< query i sees keys from i + lenKv - lenQ - windowLeft
  std::int32_t windowRight; ///< to i + lenKv - lenQ + windowRight; both 0 to kNoWindow
  std::uint64_t sinks;      ///< float32 [heads], natural log
};
/// A side of a window that hides nothing: beyond every position, and sums still fit 32 bits.
inline constexpr std::int32_t kNoWindow = 1 << 28;

/// The argument block of kernels with such functions.
struct ScoredAttentionArguments {
  AttentionArguments attention;
  ScoreArguments score;
};
static_assert(sizeof(ScoredAttentionArguments) == 192);
static_assert(offsetof(ScoredAttentionArguments, score) == sizeof(AttentionArguments));

/// The layout as text: every object's note carries it, and a loader with another one refuses the
/// object, naming both. A test derives it from the structs.
inline constexpr const char *kAttentionLayout =
    "attention-2 args=168:q0,k8,v16,out24,lse32,partialOut40,partialLse48,work56,descaleQ64,"
    "descaleK72,descaleV80,qRow88,qHead96,kRow104,kHead112,vRow120,vHead128,outRow136,outHead144,"
    "lseHead152,scaleLog2-160,sharedDescales164 "
    "unit=64:qBegin0,kvBegin4,lenQ8,lenKv12,q0-16,kv0-20,kv1-24,head28,"
    "kvHead32,slot36 rows=256 threads=512";
inline constexpr const char *kScoredAttentionLayout =
    "attention-3 args=192:q0,k8,v16,out24,lse32,partialOut40,partialLse48,work56,descaleQ64,"
    "descaleK72,descaleV80,qRow88,qHead96,kRow104,kHead112,vRow120,vHead128,outRow136,outHead144,"
    "lseHead152,scaleLog2-160,sharedDescales164,softCapRange168,softCapRate172,"
    "windowLeft176,windowRight180,sinks184 "
    "unit=64:qBegin0,kvBegin4,lenQ8,lenKv12,q0-16,kv0-20,kv1-24,head28,"
    "kvHead32,slot36,sink40 rows=256 threads=512";

} // namespace wavesmith
