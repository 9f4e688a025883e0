#pragma once
// An FP8 attention call whose inputs are 16 or 32 bits wide: each tensor is quantised into the
// workspace, rotated first if asked, and FP8 attention runs over that. Pure functions; values.

#include <cstdint>
#include <string>

#include "runtime/dispatch/AttentionPlan.h"
#include "runtime/dispatch/LaunchList.h"
#include "runtime/dispatch/RowKernel.h"

namespace wavesmith {

struct Quantization {
  enum class Scales : std::uint8_t {
    Given,   ///< descales on the device: AttentionBuffers::descaleQ, K and V
    Dynamic, ///< from the largest magnitude among the planned rows, in every launch
    Unit,    ///< 1.0
  };
  Scales scales = Scales::Dynamic;
  std::string input = "bf16"; ///< element of q, k and v: bf16, f16 or f32
  /// Seeds of the rotations of queries and keys, below 2^31; 0: not rotated. Scores survive only if
  /// both are the same, so anything else is refused.
  std::uint32_t rotationQ = 0, rotationK = 0;
  /// Keys come as two tensors (MLA): k holds the first 128 elements of a row, k_rope the other 64.
  bool keysInParts = false;
  TensorStrides kRope; ///< unset: [total_kv, 64], the same for every head

  /// Counts of saturated elements are the caller's, AttentionBuffers::saturatedQ, K and V, and grow
  /// from launch to launch; else they lie in the workspace and each launch clears them.
  bool countsGiven = false;

  bool operator==(const Quantization &) const = default;
};

std::string_view scalesName(Quantization::Scales scales); ///< "static", "dynamic", "unit"
Expected<Quantization::Scales> parseScales(std::string_view text);

/// One tensor on its way to FP8. Offsets are in bytes from the start of the workspace.
struct QuantizedTensor {
  TensorShape input;         ///< of k: its first part, if there are two
  TensorShape codes;         ///< packed, as `data` holds them
  bool shared = false;       ///< one descale, or one maximum, for all heads
  std::uint64_t data = 0;    ///< of row 0, which lies before the workspace (modulo 2^64) where the
                             ///< first rows are not planned
  std::uint64_t descale = 0; ///< float32 [heads], or [1] of scales Unit; not with scales Given
  std::uint64_t amax = 0;    ///< float32 [heads], or [1] if shared; with scales Dynamic only
  std::uint64_t saturated = 0; ///< uint64 [heads], unless the caller has them: elements that the
                               ///< last launch found beyond the largest code
};

/// What a plan does of it all. A context pass quantises its queries once for many calls: the plans
/// of these find the codes at AttentionBuffers::qCodes, made by one over the same queries.
enum class QuantizedWork : std::uint8_t {
  All,     ///< quantise everything, then attention
  Queries, ///< quantise the queries and no more: codes at q.data, descales at q.descale
  Rest,    ///< the others, then attention over codes of queries that are there
};

struct QuantizedPlan {
  AttentionPlan attention; ///< over the codes; its own workspace comes first
  Quantization quantization;
  QuantizedWork work = QuantizedWork::All;
  QuantizedTensor q, k, v;
  TensorShape kRope;                      ///< no rows unless keys come in parts
  std::uint64_t zeros = 0, zeroBytes = 0; ///< maxima and counts: cleared by every launch
  std::uint64_t workspaceBytes = 0;
};

/// `problem` describes the FP8 call; its strides of q, k and v are those of the inputs, in elements
/// of theirs, and sharedDescales says which descales are given (or, dynamic, made) for all heads.
Expected<QuantizedPlan> planQuantized(const AttentionProblem &problem,
                                      const Quantization &quantization,
                                      const PlanOptions &options = {},
                                      QuantizedWork work = QuantizedWork::All);

/// [Maxima,] codes, attention [, merge]. Of sequences that are not planned nothing is read.
LaunchList launchList(const QuantizedPlan &plan);

} // namespace wavesmith
