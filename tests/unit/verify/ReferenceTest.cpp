#include "runtime/verify/Reference.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"

namespace wavesmith {
namespace {

struct Inputs {
  CheckedProblem checked;
  HostTensor q, k, v;
  std::vector<float> sinks;
};

Inputs makeInputs(const AttentionProblem &problem, std::uint64_t seed = 1) {
  auto checked = checkProblem(problem);
  EXPECT_TRUE(checked) << checked.status().message();
  Inputs inputs{*checked,
                HostTensor(checked->q, std::byte{0xff}),
                HostTensor(checked->k, std::byte{0xff}),
                HostTensor(checked->v, std::byte{0xff}),
                {}};
  for (std::int64_t head = 0; problem.sink && head < problem.heads; ++head)
    inputs.sinks.push_back(static_cast<float>(3 * head - 4));
  inputs.q.fillNormal(problem.dtype, seed, 0);
  inputs.k.fillNormal(problem.dtype, seed, 1);
  inputs.v.fillNormal(problem.dtype, seed, 2);
  return inputs;
}

/// The formula, written down as plainly as possible, for one row and head.
void plainRow(const Inputs &in, const SequenceLength &length, std::int64_t qBegin,
              std::int64_t kvBegin, std::int64_t row, std::int64_t head, std::vector<double> &out,
              double &lse) {
  const AttentionProblem &p = in.checked.problem;
  const std::int64_t kvHead = head / (p.heads / p.kvHeads);
  std::vector<double> scores;
  for (std::int64_t key = 0; key < length.kv; ++key) {
    const std::int64_t own = row + length.kv - length.q;
    if (p.causal && key > own)
      break;
    if ((p.window.left >= 0 && key < own - p.window.left) ||
        (p.window.right >= 0 && key > own + p.window.right)) {
      scores.push_back(-std::numeric_limits<double>::infinity());
      continue;
    }
    double score = 0;
    for (int i = 0; i < p.headDimQk; ++i)
      score += static_cast<double>(
                   elementToFloat(p.dtype, in.q.at<std::uint16_t>(qBegin + row, head)[i])) *
               static_cast<double>(
                   elementToFloat(p.dtype, in.k.at<std::uint16_t>(kvBegin + key, kvHead)[i]));
    score *= *p.scale;
    scores.push_back(p.softCap ? *p.softCap * std::tanh(score / *p.softCap) : score);
  }
  // A key of its own, whose value is 0.
  if (p.sink)
    scores.push_back(double{in.sinks[static_cast<std::size_t>(head)]});
  out.assign(static_cast<std::size_t>(p.headDimV), 0);
  lse = -std::numeric_limits<double>::infinity();
  if (scores.empty())
    return;
  const double maximum = *std::max_element(scores.begin(), scores.end());
  if (std::isinf(maximum))
    return;
  double sum = 0;
  for (std::size_t key = 0; key < scores.size(); ++key) {
    const double weight = std::exp(scores[key] - maximum);
    sum += weight;
    if (p.sink && key + 1 == scores.size())
      break;
    for (int i = 0; i < p.headDimV; ++i)
      out[static_cast<std::size_t>(i)] +=
          weight * static_cast<double>(elementToFloat(
                       p.dtype, in.v.at<std::uint16_t>(kvBegin + static_cast<std::int64_t>(key),
                                                       kvHead)[i]));
  }
  for (double &value : out)
    value /= sum;
  lse = maximum + std::log(sum);
}

void expectAgreement(const AttentionProblem &problem) {
  const Inputs in = makeInputs(problem);
  const AttentionReference reference =
      attentionReference(in.checked, in.q, in.k, in.v, {}, 0, in.sinks);
  std::int64_t qBegin = 0, kvBegin = 0;
  std::vector<double> out;
  double lse = 0;
  for (const SequenceLength &length : problem.lengths) {
    for (std::int64_t row = 0; row < length.q; ++row)
      for (std::int64_t head = 0; head < problem.heads; ++head) {
        plainRow(in, length, qBegin, kvBegin, row, head, out, lse);
        const double got = reference.lseOf(qBegin + row, head);
        if (std::isinf(lse)) {
          EXPECT_EQ(got, lse);
        } else {
          ASSERT_NEAR(got, lse, 1e-12 * std::max(1.0, std::abs(lse))) << row << " " << head;
        }
        for (std::size_t i = 0; i < out.size(); ++i)
          ASSERT_NEAR(reference.outRow(qBegin + row, head)[i], out[i], 1e-13) << row << " " << head;
      }
    qBegin += length.q;
    kvBegin += length.kv;
  }
}

TEST(Reference, AgreesWithThePlainFormula) {
  AttentionProblem problem;
  problem.heads = 4;
  problem.kvHeads = 2;
  problem.lengths = {{1, 1}, {0, 9}, {5, 0}, {70, 130}, {130, 70}, {250, 257}, {33, 128}};
  for (bool causal : {false, true}) {
    problem.causal = causal;
    expectAgreement(problem);
  }
  problem.headDimQk = problem.headDimV = 64;
  problem.k.head = 72;
  problem.q = {.row = 4 * 80 + 8, .head = 80};
  problem.scale = 1.7; // peaked
  expectAgreement(problem);
  problem.dtype = DType::F16;
  expectAgreement(problem);
}

TEST(Reference, AgreesWithThePlainFormulaOfScoreFunctions) {
  AttentionProblem problem;
  problem.headDimQk = problem.headDimV = 64;
  problem.heads = 3;
  problem.lengths = {{1, 1}, {5, 0}, {70, 300}, {130, 70}, {150, 257}};
  for (const Window window :
       {Window{}, Window{0, 0}, Window{20, -1}, Window{-1, 3}, Window{150, 7}})
    for (int set = 0; set < 8; ++set) {
      problem.window = window;
      problem.causal = set & 1;
      problem.sink = set & 2;
      problem.softCap = set & 4 ? std::optional(0.8) : std::nullopt;
      expectAgreement(problem);
    }
}

/// FP8 codes and descales mean what bf16 copies of their values mean.
TEST(Reference, TakesFp8WithDescales) {
  AttentionProblem problem;
  problem.heads = 4;
  problem.kvHeads = 2;
  problem.causal = true;
  problem.lengths = {{40, 70}, {3, 1}};
  problem.dtype = DType::FP8;
  problem.sharedDescales.v = true;
  const auto checked = checkProblem(problem);
  ASSERT_TRUE(checked) << checked.status().message();
  problem.dtype = DType::BF16;
  problem.sharedDescales = {};
  const auto plain = checkProblem(problem);
  ASSERT_TRUE(plain);

  const std::byte nan{fp8Nan(checked->fp8)};
  HostTensor q(checked->q, nan), k(checked->k, nan), v(checked->v, nan);
  Descales descales;
  descales.q = q.fillNormalFp8(checked->fp8, false, 1, 0);
  descales.k = k.fillNormalFp8(checked->fp8, false, 1, 1);
  descales.v = v.fillNormalFp8(checked->fp8, true, 1, 2);
  // Powers of two, so that bf16 holds the products.
  for (std::vector<float> *some : {&descales.q, &descales.k, &descales.v})
    for (std::size_t head = 0; head < some->size(); ++head)
      (*some)[head] = std::ldexp(1.0f, -5 - static_cast<int>(head));
  const auto copy = [&](const HostTensor &codes, const TensorShape &shape,
                        const std::vector<float> &of) {
    HostTensor values(shape, std::byte{0xff});
    for (std::int64_t row = 0; row < shape.rows; ++row)
      for (std::int64_t head = 0; head < shape.heads; ++head)
        for (std::int64_t i = 0; i < shape.dim; ++i)
          values.at<std::uint16_t>(row, head)[i] =
              doubleToBf16(fp8ToDouble(checked->fp8, codes.at<std::uint8_t>(row, head)[i]) *
                           Descales::at(of, head));
    return values;
  };
  const AttentionReference fp8 = attentionReference(*checked, q, k, v, descales);
  const AttentionReference bf16 =
      attentionReference(*plain, copy(q, plain->q, descales.q), copy(k, plain->k, descales.k),
                         copy(v, plain->v, descales.v));
  ASSERT_EQ(fp8.out.size(), bf16.out.size());
  for (std::size_t i = 0; i < fp8.out.size(); ++i)
    ASSERT_NEAR(fp8.out[i], bf16.out[i], 1e-13);
  for (std::size_t i = 0; i < fp8.lse.size(); ++i)
    if (fp8.lse[i] != bf16.lse[i]) // as -inf is
      ASSERT_NEAR(fp8.lse[i], bf16.lse[i], 1e-12);
}

TEST(Reference, PeakedRowsSurviveRescaling) {
  // The maximum keeps rising along the keys, so every block rescales.
  AttentionProblem problem;
  problem.heads = 1;
  problem.lengths = {{30, 600}};
  problem.scale = 40.0;
  expectAgreement(problem);
}

TEST(Reference, PaddingAndMaskedKeysDoNotReachTheResult) {
  AttentionProblem problem;
  problem.heads = 1;
  problem.causal = true;
  problem.lengths = {{4, 4}, {3, 3}};
  Inputs in = makeInputs(problem);
  const AttentionReference before = attentionReference(in.checked, in.q, in.k, in.v);
  // The second sequence's last key is seen by its last row alone.
  in.k.at<std::uint16_t>(6, 0)[0] = 0x7fc0;
  const AttentionReference after = attentionReference(in.checked, in.q, in.k, in.v);
  for (std::int64_t row = 0; row < 6; ++row)
    EXPECT_EQ(before.lseOf(row, 0), after.lseOf(row, 0));
  EXPECT_TRUE(std::isnan(after.lseOf(6, 0)));
}

TEST(Reference, IsFastEnoughForGigaflops) {
  AttentionProblem problem;
  problem.heads = 12;
  problem.lengths = {{700, 700}};
  const Inputs in = makeInputs(problem);
  const auto start = std::chrono::steady_clock::now();
  const AttentionReference reference = attentionReference(in.checked, in.q, in.k, in.v, {}, 1);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(time.count()));
  std::printf("3.8 GFLOP on one core: %.3f s\n", time.count());
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(time.count(), 3.0) << "loose: other work may share the core";
#endif
}

} // namespace
} // namespace wavesmith
