// What must hold between two calls, bit for bit: results follow their sequence and head wherever
// these stand, and depend on nothing else of the batch.

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

struct Kernel {
  std::string target;
  DType dtype;
  int qk, v;
  bool scored = false; ///< with a window, a soft cap and sinks
};

/// Each target and dtype, with the small or the large head dims; half of them with score functions
/// too.
std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  for (const std::string &target : targetNames())
    for (const DType dtype : {DType::BF16, DType::FP8, DType::F16})
      all.push_back({target, dtype, all.size() % 2 ? 192 : 64, all.size() % 2 ? 128 : 64});
  all.push_back({"gfx942", DType::BF16, 192, 128, /*scored=*/true});
  all.push_back({"gfx950", DType::FP8, 64, 64, /*scored=*/true});
  return all;
}

/// A call whose inputs are given row by row and whose results come back so.
class Call {
public:
  explicit Call(const Kernel &kernel, std::vector<SequenceLength> lengths, std::int64_t heads) {
    request.problem.target = kernel.target;
    request.problem.dtype = kernel.dtype;
    request.problem.headDimQk = kernel.qk;
    request.problem.headDimV = kernel.v;
    request.problem.causal = true;
    request.problem.heads = heads;
    request.problem.lengths = std::move(lengths);
    if (kernel.scored) {
      request.problem.window = {200, -1};
      request.problem.softCap = 3;
      request.problem.sink = true;
    }
    request.splits = 2; // pinned: the automatic choice looks at the whole batch
  }

  /// The row and head of another call's inputs that stand at (row, head) of this one's. `tensor` is
  /// 0, 1 or 2 for q, k, v.
  using Source = std::function<std::pair<std::int64_t, std::int64_t>(int tensor, std::int64_t row,
                                                                     std::int64_t head)>;
  void takeInputs(const Call &from, const Source &source) {
    request.inputs = [&from, source](HostTensor &q, HostTensor &k, HostTensor &v,
                                     Descales &descales) {
      int index = 0;
      for (HostTensor *tensor : {&q, &k, &v}) {
        for (std::int64_t row = 0; row < tensor->shape().rows; ++row)
          for (std::int64_t head = 0; head < tensor->shape().heads; ++head) {
            const auto [oldRow, oldHead] = source(index, row, head);
            std::memcpy(tensor->at<std::byte>(row, head),
                        from.tensors_[index].at<std::byte>(oldRow, oldHead),
                        static_cast<std::size_t>(tensor->shape().dim) *
                            static_cast<std::size_t>(tensor->shape().elementBytes));
          }
        auto &scales = index == 0 ? descales.q : index == 1 ? descales.k : descales.v;
        const auto &old = from.descales_[index];
        for (std::size_t head = 0; head < scales.size(); ++head)
          scales[head] = old[static_cast<std::size_t>(
              source(index, 0, static_cast<std::int64_t>(head)).second)];
        ++index;
      }
    };
    request.sinks = [&from, source](std::vector<float> &sinks) {
      for (std::size_t head = 0; head < sinks.size(); ++head)
        sinks[head] = from.sinks_[static_cast<std::size_t>(
            source(0, 0, static_cast<std::int64_t>(head)).second)];
    };
  }

  void run() {
    auto change = std::move(request.inputs);
    request.inputs = [&](HostTensor &q, HostTensor &k, HostTensor &v, Descales &descales) {
      if (change)
        change(q, k, v, descales);
      tensors_ = {q, k, v};
      descales_ = {descales.q, descales.k, descales.v};
    };
    auto changeSinks = std::move(request.sinks);
    request.sinks = [&](std::vector<float> &sinks) {
      if (changeSinks)
        changeSinks(sinks);
      sinks_ = sinks;
    };
    request.outputs = [&](const HostTensor &out, const HostTensor &lse) {
      out_ = out;
      lse_ = lse;
    };
    const auto report = runCase(request);
    ASSERT_EQ(complaints(report), "") << commandLine(request);
  }

  /// Bits of a result row: out, then lse.
  std::vector<std::uint16_t> row(std::int64_t row, std::int64_t head) const {
    std::vector<std::uint16_t> bits(out_.at<std::uint16_t>(row, head),
                                    out_.at<std::uint16_t>(row, head) + out_.shape().dim);
    const auto *lse = lse_.at<std::uint16_t>(row, head);
    bits.insert(bits.end(), lse, lse + 2);
    return bits;
  }
  std::int64_t rows() const { return out_.shape().rows; }

  RunRequest request;

private:
  std::vector<HostTensor> tensors_;
  std::vector<std::vector<float>> descales_;
  std::vector<float> sinks_;
  HostTensor out_, lse_;
};

class Properties : public ::testing::TestWithParam<Kernel> {};

TEST_P(Properties, PermutedHeadsGivePermutedResults) {
  constexpr std::int64_t kHeads = 5;
  const std::vector<SequenceLength> lengths = {{300, 420}, {33, 70}};
  Call first(GetParam(), lengths, kHeads), second(GetParam(), lengths, kHeads);
  ASSERT_NO_FATAL_FAILURE(first.run());
  std::vector<std::int64_t> order(kHeads);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  second.takeInputs(first, [&](int, std::int64_t row, std::int64_t head) {
    return std::pair(row, order[static_cast<std::size_t>(head)]);
  });
  ASSERT_NO_FATAL_FAILURE(second.run());
  for (std::int64_t row = 0; row < first.rows(); ++row)
    for (std::int64_t head = 0; head < kHeads; ++head)
      ASSERT_EQ(second.row(row, head), first.row(row, order[static_cast<std::size_t>(head)]))
          << "row " << row << " head " << head;
}

TEST_P(Properties, ASequenceGivesTheSameBitsAloneAndAnywhereInABatch) {
  const std::vector<SequenceLength> lengths = {{300, 420}, {70, 70}, {1, 500}, {260, 129}};
  Call batch(GetParam(), lengths, 2);
  ASSERT_NO_FATAL_FAILURE(batch.run());
  std::int64_t qBegin = 0, kvBegin = 0;
  for (const SequenceLength &length : lengths) {
    // Alone, and behind a neighbour that the first batch did not have.
    for (const std::int64_t before : {0, 90}) {
      Call other(GetParam(),
                 before ? std::vector<SequenceLength>{{before, before}, length}
                        : std::vector<SequenceLength>{length},
                 2);
      other.takeInputs(batch, [&](int tensor, std::int64_t row, std::int64_t head) {
        const std::int64_t begin = tensor == 0 ? qBegin : kvBegin;
        return std::pair(row < before ? row : begin + row - before, head);
      });
      ASSERT_NO_FATAL_FAILURE(other.run());
      for (std::int64_t row = 0; row < length.q; ++row)
        for (std::int64_t head = 0; head < 2; ++head)
          ASSERT_EQ(other.row(before + row, head), batch.row(qBegin + row, head))
              << length.q << ":" << length.kv << " row " << row << " head " << head;
    }
    qBegin += length.q;
    kvBegin += length.kv;
  }
}

TEST_P(Properties, LogarithmsOnOrOffLeaveTheOutputAlone) {
  RunRequest request = Call(GetParam(), {{300, 420}, {70, 70}}, 2).request;
  const auto with = runCase(request);
  request.problem.writeLse = false;
  const auto without = runCase(request);
  ASSERT_EQ(complaints(with) + complaints(without), "");
  EXPECT_EQ(with->outDigest, without->outDigest);
}

/// KV lengths around a tile, in every combination of four; `step` takes each step-th.
void runTileEdges(const Kernel &kernel, std::int64_t step) {
  for (const std::int64_t tile : {32, 64, 128}) {
    const std::array<std::int64_t, 5> edges{0, 1, tile - 1, tile, tile + 1};
    for (std::int64_t number = 0; number < 625; number += step) {
      std::vector<SequenceLength> lengths;
      for (std::int64_t rest = number, i = 0; i < 4; ++i, rest /= 5)
        lengths.push_back({i + 1, edges[static_cast<std::size_t>(rest % 5)]});
      Call call(kernel, lengths, 1);
      call.request.splits = 1;
      call.request.problem.causal = number % 2;
      const auto report = runCase(call.request);
      ASSERT_EQ(complaints(report), "") << commandLine(call.request);
    }
  }
}

TEST_P(Properties, KeysAroundATileInEveryCombination) { runTileEdges(GetParam(), 37); }

class EveryCombination : public Properties {};
TEST_P(EveryCombination, KeysAroundATileInEveryCombination) { runTileEdges(GetParam(), 1); }

std::string nameOf(const ::testing::TestParamInfo<Kernel> &info) {
  const Kernel &kernel = info.param;
  return fmt::format("{}_{}_{}x{}{}", kernel.target, dtypeName(kernel.dtype), kernel.qk, kernel.v,
                     kernel.scored ? "_scored" : "");
}
INSTANTIATE_TEST_SUITE_P(Default, Properties, ::testing::ValuesIn(kernels()), nameOf);
INSTANTIATE_TEST_SUITE_P(Long, EveryCombination, ::testing::ValuesIn(kernels()), nameOf);

} // namespace
} // namespace wavesmith::testing
