#include "runtime/verify/Reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"
#include "runtime/verify/Parallel.h"
#include "runtime/verify/ReferenceKernels.h"

namespace wavesmith {
namespace {

constexpr std::int64_t kPanel = kPanelOf<double>;
constexpr std::int64_t kKeyBlock = 128; ///< keys packed at once: K and V of a block fit L2
constexpr std::int64_t kTaskTiles = 8;  ///< row tiles that share a packed block

/// The hot loops for one instruction set.
struct Kernels {
  void (*multiply)(const double *a, std::int64_t aStride, const double *b, std::int64_t depth,
                   double *c, std::int64_t columns);
  double (*exponentials)(double *row, std::int64_t count, double maximum);
};

void multiplyPlain(const double *a, std::int64_t aStride, const double *b, std::int64_t depth,
                   double *c, std::int64_t columns) {
  multiplyPanels<double, 16, 4>(a, aStride, b, depth, c, kTileRows, columns);
}
double exponentialsPlain(double *row, std::int64_t count, double maximum) {
  return reference::exponentials<2>(row, count, maximum);
}

// Chosen by hand and not by target_clones, whose resolvers run before sanitizers are up.
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void multiplyAvx2(const double *a, std::int64_t aStride,
                                                      const double *b, std::int64_t depth,
                                                      double *c, std::int64_t columns) {
  multiplyPanels<double, 32, 6>(a, aStride, b, depth, c, kTileRows, columns);
}
__attribute__((target("avx2,fma"))) double exponentialsAvx2(double *row, std::int64_t count,
                                                            double maximum) {
  return reference::exponentials<4>(row, count, maximum);
}
__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))) void
multiplyAvx512(const double *a, std::int64_t aStride, const double *b, std::int64_t depth,
               double *c, std::int64_t columns) {
  multiplyPanels<double, 64, 12>(a, aStride, b, depth, c, kTileRows, columns);
}
__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))) double
exponentialsAvx512(double *row, std::int64_t count, double maximum) {
  return reference::exponentials<8>(row, count, maximum);
}
#endif

Kernels chooseKernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return {multiplyAvx512, exponentialsAvx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {multiplyAvx2, exponentialsAvx2};
#endif
  return {multiplyPlain, exponentialsPlain};
}

/// Rows of a tensor as doubles.
class Decoder {
public:
  explicit Decoder(const CheckedProblem &problem) : dtype_(problem.problem.dtype) {
    for (int code = 0; dtype_ == DType::FP8 && code < 256; ++code)
      valueOf_[static_cast<std::size_t>(code)] =
          fp8ToDouble(problem.fp8, static_cast<std::uint8_t>(code));
  }

  template <typename Put>
  void decode(const HostTensor &from, std::int64_t row, std::int64_t head, const Put &put) const {
    const std::int64_t dim = from.shape().dim;
    if (dtype_ == DType::FP8) {
      const auto *codes = from.at<std::uint8_t>(row, head);
      for (std::int64_t i = 0; i < dim; ++i)
        put(i, valueOf_[codes[i]]);
      return;
    }
    const auto *bits = from.at<std::uint16_t>(row, head);
    for (std::int64_t i = 0; i < dim; ++i)
      put(i, double{elementToFloat(dtype_, bits[i])});
  }

private:
  DType dtype_;
  std::array<double, 256> valueOf_{};
};

/// Some row tiles of one sequence and head against all their keys.
class RowTask {
public:
  RowTask(const CheckedProblem &problem, const HostTensor &q, const HostTensor &k,
          const HostTensor &v, const Descales &descales, std::span<const float> sinks,
          const Decoder &decoder, const Kernels &kernels, AttentionReference &result)
      : p_(problem.problem), q_(q), k_(k), v_(v), descales_(descales), sinks_(sinks),
        decoder_(decoder), kernels_(kernels), result_(result), qkDim_(p_.headDimQk),
        vDim_(p_.headDimV) {
    constexpr std::size_t kRows = kTaskTiles * kTileRows;
    qTile_.resize(kRows * static_cast<std::size_t>(qkDim_));
    accumulator_.resize(kRows * static_cast<std::size_t>(vDim_));
    keys_.resize(static_cast<std::size_t>(kKeyBlock * qkDim_));
    values_.resize(static_cast<std::size_t>(kKeyBlock * vDim_));
    scores_.resize(static_cast<std::size_t>(kTileRows * kKeyBlock));
    maximum_.resize(kRows);
    sum_.resize(kRows);
  }

  void run(const SequenceLength &length, std::int64_t qBegin, std::int64_t kvBegin,
           std::int64_t head, std::int64_t firstRow) {
    length_ = length;
    rows_ = std::min(kTaskTiles * kTileRows, length.q - firstRow);
    firstRow_ = firstRow;
    const std::int64_t kvHead = head / (p_.heads / p_.kvHeads);
    valueScale_ = Descales::at(descales_.v, kvHead);
    loadQueries(qBegin + firstRow, head,
                *p_.scale * Descales::at(descales_.q, head) * Descales::at(descales_.k, kvHead));
    std::ranges::fill(accumulator_, 0.0);
    std::ranges::fill(sum_, 0.0);
    std::ranges::fill(maximum_, -std::numeric_limits<double>::infinity());
    // Neither end of what a row sees falls with the row.
    const std::int64_t begin = std::max<std::int64_t>(seenBy(0).begin, 0);
    for (std::int64_t key = begin / kKeyBlock * kKeyBlock; key < seenBy(rows_ - 1).end;
         key += kKeyBlock) {
      loadKeys(kvBegin, key, kvHead);
      for (std::int64_t row = 0; row < rows_; row += kTileRows)
        if (seenBy(std::min(row + kTileRows, rows_) - 1).end > key &&
            seenBy(row).begin < key + kKeyBlock)
          accumulate(row, key);
    }
    store(qBegin + firstRow, head);
  }

private:
  /// Keys that a row of the task sees.
  KeyRange seenBy(std::int64_t row) const { return visibleKeys(p_, length_, firstRow_ + row); }

  void loadQueries(std::int64_t begin, std::int64_t head, double scale) {
    std::ranges::fill(qTile_, 0.0);
    for (std::int64_t row = 0; row < rows_; ++row) {
      double *to = qTile_.data() + row * qkDim_;
      decoder_.decode(q_, begin + row, head,
                      [&](std::int64_t i, double value) { to[i] = value * scale; });
    }
  }

  // K as panels of 16 keys (depth = dim), V as panels of 16 dims (depth = key); keys past the end
  // are zero and never seen.
  void loadKeys(std::int64_t begin, std::int64_t key, std::int64_t head) {
    const std::int64_t count = std::min(kKeyBlock, length_.kv - key);
    std::ranges::fill(keys_, 0.0);
    std::ranges::fill(values_, 0.0);
    for (std::int64_t j = 0; j < count; ++j) {
      double *panel = keys_.data() + j / kPanel * kPanel * qkDim_ + j % kPanel;
      decoder_.decode(k_, begin + key + j, head,
                      [&](std::int64_t i, double value) { panel[i * kPanel] = value; });
      decoder_.decode(v_, begin + key + j, head, [&](std::int64_t i, double value) {
        values_[static_cast<std::size_t>(i / kPanel * kPanel * kKeyBlock + j * kPanel +
                                         i % kPanel)] = value * valueScale_;
      });
    }
  }

  void accumulate(std::int64_t tile, std::int64_t key) {
    std::ranges::fill(scores_, 0.0);
    kernels_.multiply(qTile_.data() + tile * qkDim_, qkDim_, keys_.data(), qkDim_, scores_.data(),
                      kKeyBlock);
    for (std::int64_t r = 0; r < kTileRows; ++r) {
      double *row = scores_.data() + r * kKeyBlock;
      const std::int64_t at = tile + r;
      const KeyRange keys = at < rows_ ? seenBy(at) : KeyRange{};
      const std::int64_t first = std::clamp<std::int64_t>(keys.begin - key, 0, kKeyBlock);
      const std::int64_t last = std::clamp<std::int64_t>(keys.end - key, 0, kKeyBlock);
      if (first >= last) {
        std::fill(row, row + kKeyBlock, 0.0);
        continue;
      }
      std::fill(row, row + first, -std::numeric_limits<double>::infinity());
      std::fill(row + last, row + kKeyBlock, -std::numeric_limits<double>::infinity());
      if (p_.softCap)
        for (double &score : std::span(row + first, row + last))
          score = *p_.softCap * std::tanh(score / *p_.softCap);
      double &maximum = maximum_[static_cast<std::size_t>(at)];
      double &sum = sum_[static_cast<std::size_t>(at)];
      const double block = *std::max_element(row + first, row + last);
      if (block > maximum) {
        const double factor = std::exp(maximum - block);
        double *out = accumulator_.data() + at * vDim_;
        for (std::int64_t i = 0; i < vDim_; ++i)
          out[i] *= factor;
        sum *= factor;
        maximum = block;
      }
      sum += kernels_.exponentials(row, kKeyBlock, maximum);
    }
    kernels_.multiply(scores_.data(), kKeyBlock, values_.data(), kKeyBlock,
                      accumulator_.data() + tile * vDim_, vDim_);
  }

  /// The logit of a head's sink; an infinite one leaves nothing defined.
  double sinkOf(std::int64_t head) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double sink =
        sinks_.empty() ? -kInfinity : double{sinks_[static_cast<std::size_t>(head)]};
    return sink == kInfinity ? std::numeric_limits<double>::quiet_NaN() : sink;
  }

  void store(std::int64_t begin, std::int64_t head) {
    for (std::int64_t row = 0; row < rows_; ++row) {
      const std::int64_t at = begin + row;
      double sum = sum_[static_cast<std::size_t>(row)];
      double maximum = maximum_[static_cast<std::size_t>(row)];
      const std::int64_t seen = seenBy(row).count();
      const bool live = seen > 0; // and not sum > 0: NaN must come out as NaN
      const double sink = sinkOf(head);
      double factor = 1;
      if (live && !sinks_.empty()) {
        const double reference = std::max(maximum, sink);
        factor = std::exp(maximum - reference);
        sum = sum * factor + std::exp(sink - reference);
        maximum = reference;
      }
      double *out = result_.out.data() + (at * result_.heads + head) * vDim_;
      for (std::int64_t i = 0; i < vDim_; ++i)
        out[i] = live ? accumulator_[static_cast<std::size_t>(row * vDim_ + i)] * factor / sum : 0;
      result_.lse[static_cast<std::size_t>(head * result_.rows + at)] =
          live ? maximum + std::log(sum) : sink;
      if (head == 0) // the same for every head, but a row has one writer
        result_.seen[static_cast<std::size_t>(at)] = seen;
    }
  }

  const AttentionProblem &p_;
  const HostTensor &q_, &k_, &v_;
  const Descales &descales_;
  const std::span<const float> sinks_;
  const Decoder &decoder_;
  const Kernels &kernels_;
  AttentionReference &result_;
  const std::int64_t qkDim_, vDim_;
  SequenceLength length_;
  std::int64_t rows_ = 0, firstRow_ = 0;
  double valueScale_ = 1;
  std::vector<double> qTile_, accumulator_, keys_, values_, scores_, maximum_, sum_;
};

struct Task {
  std::size_t sequence;
  std::int64_t qBegin, kvBegin, head, firstRow;
};

} // namespace

AttentionReference attentionReference(const CheckedProblem &problem, const HostTensor &q,
                                      const HostTensor &k, const HostTensor &v,
                                      const Descales &descales, int threads,
                                      std::span<const float> sinks) {
  const AttentionProblem &p = problem.problem;
  AttentionReference result;
  result.rows = problem.totalQ;
  result.heads = p.heads;
  result.dim = p.headDimV;
  result.out.resize(static_cast<std::size_t>(result.rows * result.heads * result.dim));
  result.lse.resize(static_cast<std::size_t>(result.rows * result.heads));
  result.seen.resize(static_cast<std::size_t>(result.rows));

  std::vector<Task> tasks;
  std::int64_t qBegin = 0, kvBegin = 0;
  for (std::size_t i = 0; i < p.lengths.size(); ++i) {
    for (std::int64_t head = 0; head < p.heads; ++head)
      for (std::int64_t row = 0; row < p.lengths[i].q; row += kTaskTiles * kTileRows)
        tasks.push_back({i, qBegin, kvBegin, head, row});
    qBegin += p.lengths[i].q;
    kvBegin += p.lengths[i].kv;
  }
  const Kernels kernels = chooseKernels();
  const Decoder decoder(problem);
  parallelFor(
      static_cast<std::int64_t>(tasks.size()),
      [&](std::int64_t i) {
        const Task &task = tasks[static_cast<std::size_t>(i)];
        RowTask(problem, q, k, v, descales, sinks, decoder, kernels, result)
            .run(p.lengths[task.sequence], task.qBegin, task.kvBegin, task.head, task.firstRow);
      },
      threads);
  return result;
}

} // namespace wavesmith
