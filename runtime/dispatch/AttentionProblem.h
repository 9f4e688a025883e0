#pragma once
// One attention call as the host knows it: packed variable-length batch, heads, dims, strides.
// checkProblem() says exactly what is wrong with it; nothing later has to doubt it. Values.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith {

struct SequenceLength {
  std::int64_t q = 0;
  std::int64_t kv = 0;

  bool operator==(const SequenceLength &) const = default;
};

/// In elements; unset = packed.
struct TensorStrides {
  std::optional<std::int64_t> row, head;

  bool operator==(const TensorStrides &) const = default;
};

/// FP8: whether a tensor has one descale for all heads instead of one for each.
struct SharedDescales {
  bool q = false, k = false, v = false;

  bool operator==(const SharedDescales &) const = default;
};

/// Keys that a query sees before and after its own position, which is aligned to the bottom right
/// as the causal mask is: query i sees i + kv - q - left <= j <= i + kv - q + right. -1: all of
/// them.
struct Window {
  std::int64_t left = -1, right = -1;

  bool isOn() const { return left >= 0 || right >= 0; }
  bool operator==(const Window &) const = default;
};

struct AttentionProblem {
  std::string target = "gfx942";
  DType dtype = DType::BF16;
  /// Format of FP8 inputs. The target's is the only one that is right; unset says nothing.
  std::optional<Fp8Format> fp8;
  SharedDescales sharedDescales;
  bool f16Out = false; ///< FP8: out is f16 instead of bf16; other dtypes write what they read
  int headDimQk = 192;
  int headDimV = 128;
  bool causal = false;
  bool writeLse = true;
  std::int64_t heads = 1;
  std::int64_t kvHeads = 0; ///< 0 = heads
  std::vector<SequenceLength> lengths;
  std::optional<double> scale; ///< of the scores; unset = 1/sqrt(headDimQk)
  /// Bounds the scaled scores: s becomes cap * tanh(s / cap), before the masks, as in Gemma 2.
  std::optional<double> softCap;
  Window window;
  bool sink = false; ///< a logit for each head joins the softmax's denominator, as in gpt-oss
  TensorStrides q, k, v, out;
  std::optional<std::int64_t> lseHeadStride; ///< unset = total queries
  std::string schedule;                      ///< "" = the target's default
};

/// Bounds of the contract (design: kernels and their contracts).
inline constexpr std::int64_t kMaxHeads = 128;
inline constexpr std::int64_t kMaxTokens = std::int64_t{1} << 24;
inline constexpr std::int64_t kMaxRowStrideBytes = std::int64_t{4} << 20; ///< exclusive
inline constexpr std::int64_t kAddressAlignment = 16; ///< of bases and strides, in bytes

/// Of softCap. A capped score is off by up to cap * 2^-21 (docs/score-functions.md), so a larger
/// cap would cost the LSE more than any score can need.
inline constexpr double kLeastSoftCap = 1e-3, kLargestSoftCap = 1e3;

/// A tensor with everything filled in.
struct TensorShape {
  std::int64_t rows = 0, heads = 0, dim = 0;
  std::int64_t rowStride = 0, headStride = 0; ///< in elements
  int elementBytes = 0;

  /// Bytes from the first to past the last element; 0 for an empty tensor.
  std::int64_t extentBytes() const;
  /// Bytes of so many rows if each went once: heads that share their rows count once.
  std::uint64_t dataBytes(std::int64_t ofRows) const {
    return static_cast<std::uint64_t>(ofRows * (headStride == 0 ? 1 : heads) * dim * elementBytes);
  }
};

/// The shape with defaults filled in, or which stride is wrong; `name` leads the message.
Expected<TensorShape> tensorShape(std::string_view name, const TensorStrides &strides,
                                  std::int64_t rows, std::int64_t heads, std::int64_t dim,
                                  int elementBytes);

/// Ok, or why two elements of a tensor that is written share an address: a race.
Status checkDisjoint(std::string_view name, const TensorShape &shape);

/// Keys [begin, end) of a sequence; none if end <= begin.
struct KeyRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end > begin ? end - begin : 0; }
};
/// What a query sees of its sequence by the causal mask and the window.
KeyRange visibleKeys(const AttentionProblem &problem, const SequenceLength &length,
                     std::int64_t query);

/// A problem whose every value has been checked, defaults resolved.
struct CheckedProblem {
  AttentionProblem problem; ///< kvHeads and scale filled in
  KernelSpec spec;
  Fp8Format fp8 = Fp8Format::None; ///< of the inputs
  std::int64_t totalQ = 0, totalKv = 0;
  TensorShape q, k, v, out, lse; ///< lse as [totalQ rows][heads], dim 1
};
Expected<CheckedProblem> checkProblem(const AttentionProblem &problem);

/// Lengths from cumulative offsets as engines keep them: [0, ..., total], one more than sequences.
Expected<std::vector<SequenceLength>> lengthsFromOffsets(std::span<const std::int32_t> q,
                                                         std::span<const std::int32_t> kv);
/// "603:603,1:4096" as the command line writes it.
Expected<std::vector<SequenceLength>> parseLengths(std::string_view text);

} // namespace wavesmith
