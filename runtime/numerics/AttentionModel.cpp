#include "runtime/numerics/AttentionModel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "runtime/numerics/Hardware.h"
#include "runtime/numerics/KernelNumerics.h"
#include "runtime/numerics/TileArithmetic.h"
#include "runtime/verify/BlockedProduct.h"
#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"
#include "runtime/verify/Parallel.h"

namespace wavesmith {
namespace {

constexpr std::int64_t kPanel = kPanelOf<float>;
constexpr std::int64_t kTaskRows = 4 * kTileRows; ///< that share unpacked keys, at most
constexpr float kNothing = -std::numeric_limits<float>::infinity();
/// Before the first key: every score above -2^126 outgrows it.
constexpr float kInitialBias = 0x1p126f;
/// Minus it is of scores whose weights float32 does not resolve: such rows are NaN.
constexpr float kLargestBias = 0x1p25f;
constexpr std::byte kUnwritten{0xa5};

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Elements as float32, which holds them exactly.
class Elements {
public:
  explicit Elements(const CheckedProblem &problem) : dtype_(problem.problem.dtype) {
    for (int code = 0; dtype_ == DType::FP8 && code < 256; ++code)
      valueOf_[at(code)] =
          static_cast<float>(fp8ToDouble(problem.fp8, static_cast<std::uint8_t>(code)));
  }

  void unpack(const HostTensor &from, std::int64_t row, std::int64_t head, float *to) const {
    const std::int64_t dim = from.shape().dim;
    if (dtype_ == DType::FP8) {
      const auto *codes = from.at<std::uint8_t>(row, head);
      for (std::int64_t i = 0; i < dim; ++i)
        to[i] = valueOf_[codes[i]];
    } else {
      const auto *bits = from.at<std::uint16_t>(row, head);
      for (std::int64_t i = 0; i < dim; ++i)
        to[i] = elementToFloat(dtype_, bits[i]);
    }
  }

private:
  DType dtype_;
  std::array<float, 256> valueOf_{};
};

/// `order` repeated until it covers `count`.
std::vector<int> repeated(const std::vector<int> &order, int count) {
  std::vector<int> all;
  for (int first = 0; first < count; first += static_cast<int>(order.size()))
    for (int index : order)
      all.push_back(first + index);
  return all;
}

/// What all tasks read.
struct Call {
  const CheckedProblem &checked;
  const AttentionArguments &arguments;
  const HostTensor &q, &k, &v;
  const Descales &descales;
  const KernelNumerics &numerics;
  Elements elements;
  std::vector<int> elementOrder, keyOrder; ///< of a whole row and tile
  numerics::ProductFunction product = numerics::productFunction();
  numerics::SoftmaxFunctions softmax = numerics::softmaxFunctions();
};

/// A row's state: its reference, and the sums of its weights in the two halves of a vector sum or
/// in one.
struct RowState {
  float bias = kInitialBias;
  std::array<float, 2> sums{};
};

/// Some rows of one work unit.
class RowTask {
public:
  RowTask(const Call &call, ModelledAttention &result)
      : call_(call), result_(result), tileKeys_(call.numerics.tileKeys),
        qkDim_(call.checked.problem.headDimQk), vDim_(call.checked.problem.headDimV),
        q_(at(kTaskRows * qkDim_)), keys_(at(tileKeys_ * qkDim_)), values_(at(tileKeys_ * vDim_)),
        scores_(at(kTaskRows * tileKeys_)), weights_(at(kTaskRows * tileKeys_)),
        ordered_(at(kTaskRows * tileKeys_)), outputs_(at(kTaskRows * vDim_)),
        rounded_(at(tileKeys_)), line_(at(std::max(qkDim_, vDim_))), states_(at(kTaskRows)) {}

  void run(const AttentionWorkUnit &unit, std::int64_t firstRow, std::int64_t rows) {
    unit_ = unit;
    firstRow_ = firstRow;
    rows_ = rows;
    const auto descale = [](const std::vector<float> &of, std::int64_t head) {
      return static_cast<float>(Descales::at(of, head));
    };
    scale_ = call_.arguments.scaleLog2;
    if (call_.checked.problem.dtype == DType::FP8)
      scale_ *= descale(call_.descales.q, unit.head) * descale(call_.descales.k, unit.kvHead);
    outputScale_ = descale(call_.descales.v, unit.kvHead);
    loadQueries();
    std::ranges::fill(outputs_, 0.0f);
    std::ranges::fill(states_, RowState{});
    // Neither end of what a row sees falls with the row.
    const std::int64_t first = seenBy(0).begin, last = seenBy(rows_ - 1).end;
    for (std::int64_t key = unit.kv0; key < last; key += tileKeys_)
      if (key + tileKeys_ > first)
        addTile(key);
    for (std::int64_t row = 0; row < rows_; ++row)
      store(row);
  }

private:
  /// Of the unit's keys.
  KeyRange seenBy(std::int64_t row) const {
    KeyRange keys = visibleKeys(call_.checked.problem, {unit_.lenQ, unit_.lenKv}, firstRow_ + row);
    keys.begin = std::max<std::int64_t>(keys.begin, unit_.kv0);
    keys.end = std::min<std::int64_t>(keys.end, unit_.kv1);
    return keys;
  }

  void loadQueries() {
    std::ranges::fill(q_, 0.0f);
    for (std::int64_t row = 0; row < rows_; ++row) {
      call_.elements.unpack(call_.q, unit_.qBegin + firstRow_ + row, unit_.head, line_.data());
      for (std::int64_t i = 0; i < qkDim_; ++i)
        q_[at(row * qkDim_ + i)] = line_[at(call_.elementOrder[at(i)])];
    }
  }

  // Keys as panels of 32 keys (depth = dim), values as panels of 32 dims (depth = key), each depth
  // in the order of its sums; keys past the end are zero and never seen.
  void loadTile(std::int64_t key) {
    const std::int64_t count = std::min<std::int64_t>(tileKeys_, unit_.kv1 - key);
    if (count < tileKeys_) {
      std::ranges::fill(keys_, 0.0f);
      std::ranges::fill(values_, 0.0f);
    }
    for (std::int64_t j = 0; j < count; ++j) {
      call_.elements.unpack(call_.k, unit_.kvBegin + key + j, unit_.kvHead, line_.data());
      float *panel = keys_.data() + j / kPanel * kPanel * qkDim_ + j % kPanel;
      for (std::int64_t i = 0; i < qkDim_; ++i)
        panel[i * kPanel] = line_[at(call_.elementOrder[at(i)])];
    }
    for (std::int64_t place = 0; place < tileKeys_; ++place) {
      const std::int64_t j = call_.keyOrder[at(place)];
      if (j >= count)
        continue;
      call_.elements.unpack(call_.v, unit_.kvBegin + key + j, unit_.kvHead, line_.data());
      for (std::int64_t i = 0; i < vDim_; i += kPanel)
        std::copy_n(line_.data() + i, kPanel, values_.data() + i * tileKeys_ + place * kPanel);
    }
  }

  void addTile(std::int64_t key) {
    loadTile(key);
    std::ranges::fill(scores_, 0.0f);
    call_.product(q_.data(), qkDim_, keys_.data(), qkDim_, scores_.data(), rows_, tileKeys_);
    for (std::int64_t row = 0; row < rows_; ++row)
      addScores(row, key);
    if (call_.numerics.sumsRounded)
      addRoundedSums();
    call_.product(ordered_.data(), tileKeys_, values_.data(), tileKeys_, outputs_.data(), rows_,
                  vDim_);
  }

  /// From scores to weights, with the row's reference where they need it.
  void addScores(std::int64_t row, std::int64_t key) {
    float *scores = scores_.data() + row * tileKeys_, *weights = weights_.data() + row * tileKeys_;
    const KeyRange seen = seenBy(row);
    const std::int64_t first = std::clamp<std::int64_t>(seen.begin - key, 0, tileKeys_);
    const std::int64_t last = std::clamp<std::int64_t>(seen.end - key, first, tileKeys_);
    std::fill(scores, scores + first, kNothing);
    std::fill(scores + last, scores + tileKeys_, kNothing);

    RowState &state = states_[at(row)];
    const float maximum = call_.softmax.maximum(scores, tileKeys_);
    const float exponent = call_.numerics.exponent;
    if (__builtin_fmaf(maximum, scale_, state.bias) > exponent + call_.numerics.threshold) {
      const float bias = exponent - maximum * scale_;
      const float factor = hardware::exp2Approx(bias - state.bias);
      state.bias = bias;
      for (float &sum : state.sums)
        sum *= factor;
      float *outputs = outputs_.data() + row * vDim_;
      for (std::int64_t i = 0; i < vDim_; ++i)
        outputs[i] *= factor;
    }
    call_.softmax.weights(scores, tileKeys_, scale_, state.bias, call_.numerics.rounding, weights,
                          rounded_.data());
    float *ordered = ordered_.data() + row * tileKeys_;
    for (std::int64_t place = 0; place < tileKeys_; ++place)
      ordered[place] = rounded_[at(call_.keyOrder[at(place)])];
    if (!call_.numerics.sumsRounded)
      addSums(weights, state);
  }

  /// Each half of the lanes sums its keys in two chains, even and odd, of the tile, and adds both
  /// to its own sum: sums[half].
  void addSums(const float *weights, RowState &state) const {
    float chains[2][2];
    for (int half : {0, 1})
      for (int odd : {0, 1}) {
        float sum = weights[4 * half + odd] + weights[4 * half + odd + 2];
        for (std::int64_t group = 8; group < tileKeys_; group += 8) {
          sum += weights[group + 4 * half + odd];
          sum += weights[group + 4 * half + odd + 2];
        }
        chains[half][odd] = sum;
      }
    for (int half : {0, 1})
      state.sums[at(half)] += chains[half][0] + chains[half][1];
  }

  /// One chain for each row, of what is multiplied and in that order. Rows go along, since a chain
  /// alone would wait for every add.
  void addRoundedSums() {
    constexpr std::int64_t together = 8;
    for (std::int64_t row = 0; row < rows_; row += together) {
      std::array<float, together> sums;
      for (std::int64_t i = 0; i < together; ++i)
        sums[at(i)] = states_[at(row + i)].sums[0];
      const float *ordered = ordered_.data() + row * tileKeys_;
      for (std::int64_t place = 0; place < tileKeys_; ++place)
        for (std::int64_t i = 0; i < together; ++i)
          sums[at(i)] += ordered[i * tileKeys_ + place];
      for (std::int64_t i = 0; i < together; ++i)
        states_[at(row + i)].sums[0] = sums[at(i)];
    }
  }

  void store(std::int64_t row) {
    const RowState &state = states_[at(row)];
    const std::int64_t packed = unit_.qBegin + firstRow_ + row;
    float sum = call_.numerics.sumsRounded ? state.sums[0] : state.sums[0] + state.sums[1];
    if (state.bias < -kLargestBias)
      sum = std::numeric_limits<float>::quiet_NaN();
    const bool hasKeys = hardware::bitsOf(sum) != 0; // and not sum > 0: NaN must come out as NaN
    float factor = hardware::rcpApprox(sum);
    if (call_.numerics.gain != 1)
      factor = hardware::flushed(factor * call_.numerics.gain);
    if (call_.checked.problem.dtype == DType::FP8)
      factor = hardware::flushed(factor * outputScale_);
    const DType type = call_.checked.spec.attention.outType();
    auto *out = result_.out.at<std::uint16_t>(packed, unit_.head);
    for (std::int64_t i = 0; i < vDim_; ++i) {
      const float value = hardware::flushed(outputs_[at(row * vDim_ + i)] * factor);
      out[i] = resultToElement(type, hasKeys ? value : 0.0f);
    }
    if (!call_.checked.problem.writeLse)
      return;
    const float log = (hardware::log2Approx(sum) - state.bias) * std::numbers::ln2_v<float>;
    *result_.lse.at<float>(packed, unit_.head) = hasKeys ? log : kNothing;
  }

  const Call &call_;
  ModelledAttention &result_;
  const std::int64_t tileKeys_, qkDim_, vDim_;
  AttentionWorkUnit unit_{};
  std::int64_t firstRow_ = 0, rows_ = 0;
  float scale_ = 0, outputScale_ = 1;
  std::vector<float> q_, keys_, values_, scores_, weights_, ordered_, outputs_, rounded_, line_;
  std::vector<RowState> states_;
};

} // namespace

Expected<ModelledAttention> modelAttention(const AttentionPlan &plan, const HostTensor &q,
                                           const HostTensor &k, const HostTensor &v,
                                           const Descales &descales, int threads) {
  WAVESMITH_ASSIGN(const KernelNumerics numerics, kernelNumerics(plan.spec()));
  if (plan.combineSpec)
    return error(StatusCode::Unsupported, "{} merged row blocks have no model; want splits=1",
                 plan.list.merges.size());
  const CheckedProblem &checked = plan.checked;
  ModelledAttention result;
  result.out = HostTensor(checked.out, kUnwritten);
  if (checked.problem.writeLse)
    result.lse = HostTensor(checked.lse, kUnwritten);

  const Call call{.checked = checked,
                  .arguments = plan.arguments,
                  .q = q,
                  .k = k,
                  .v = v,
                  .descales = descales,
                  .numerics = numerics,
                  .elements = Elements(checked),
                  .elementOrder = repeated(numerics.elementOrder, checked.problem.headDimQk),
                  .keyOrder = repeated(numerics.keyOrder, numerics.tileKeys)};
  struct Task {
    const AttentionWorkUnit *unit;
    std::int64_t row, rows;
  };
  std::vector<Task> tasks;
  for (const AttentionWorkUnit &unit : plan.work()) {
    const std::int64_t end = std::min<std::int64_t>(unit.q0 + kAttentionBlockM, unit.lenQ);
    for (std::int64_t row = unit.q0; row < end; row += kTaskRows)
      tasks.push_back({&unit, row, std::min(kTaskRows, end - row)});
  }
  parallelFor(
      static_cast<std::int64_t>(tasks.size()),
      [&](std::int64_t i) {
        const Task &task = tasks[at(i)];
        RowTask(call, result).run(*task.unit, task.row, task.rows);
      },
      threads);
  return result;
}

} // namespace wavesmith
