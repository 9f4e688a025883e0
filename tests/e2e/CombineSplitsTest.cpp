// combine_splits against float64: random blocks, heads, slots and strides, empty partials of both
// kinds, rows and slots that nothing may touch.

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "runtime/judge/RowRun.h"
#include "runtime/verify/Element16.h"
#include "tests/e2e/RowDevice.h"

namespace wavesmith::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::byte kCanary{0xa5};

struct Problem {
  DType output = DType::BF16;
  int headDimV = 128;
  std::int64_t tokens = 0, heads = 1, slots = 0;
  std::int64_t padding = 0; ///< elements between heads and between rows of out
  std::vector<CombineUnit> units;
  std::vector<float> out, lse; ///< [slot][256][d_v], [slot][256]

  float *outRow(std::int64_t slot, std::int64_t row) {
    return out.data() + (slot * kAttentionBlockM + row) * headDimV;
  }
  float &lseAt(std::int64_t slot, std::int64_t row) {
    return lse[static_cast<std::size_t>(slot * kAttentionBlockM + row)];
  }
  /// NaN everywhere, until rows are set.
  void allocate() {
    out.assign(static_cast<std::size_t>(slots * kAttentionBlockM * headDimV), kNan);
    lse.assign(static_cast<std::size_t>(slots * kAttentionBlockM), kNan);
  }
};

struct Result {
  HostTensor out, lse;
};

Expected<Result> run(RowDevice &device, const std::string &target, Problem &p, bool writeLse) {
  const std::int64_t head = p.headDimV + p.padding, row = p.heads * head + p.padding;
  Result result{HostTensor({p.tokens, p.heads, p.headDimV, row, head, 2}, kCanary),
                HostTensor({p.tokens, p.heads, 1, 1, p.tokens + p.padding, 4}, kCanary)};
  WAVESMITH_ASSIGN(const LoadedKernel kernel,
                   device.kernel(combineSpec(target, p.headDimV, writeLse, p.output)));
  WAVESMITH_ASSIGN(const DeviceBuffer partialOut, device.upload(std::span<const float>(p.out)));
  WAVESMITH_ASSIGN(const DeviceBuffer partialLse, device.upload(std::span<const float>(p.lse)));
  WAVESMITH_ASSIGN(const DeviceBuffer units, device.upload(std::span<const CombineUnit>(p.units)));
  WAVESMITH_ASSIGN(const DeviceBuffer out, device.upload(result.out));
  WAVESMITH_ASSIGN(const DeviceBuffer lse, device.upload(result.lse));
  AttentionArguments attention{};
  attention.partialOut = partialOut.address();
  attention.partialLse = partialLse.address();
  attention.out = out.address() + HostTensor::originOffset();
  attention.outRowStride = row * 2;
  attention.outHeadStride = head * 2;
  attention.lse = writeLse ? lse.address() + HostTensor::originOffset() : 0;
  attention.lseHeadStride = (p.tokens + p.padding) * 4;
  WAVESMITH_TRY(device.run(kernel, combineGrid(p.units.size()),
                           combineArguments(attention, p.headDimV, units.address())));
  WAVESMITH_TRY(out.download(result.out.bytes()));
  WAVESMITH_TRY(lse.download(result.lse.bytes()));
  return result;
}

/// Compares every row of every unit, and that nothing else was written.
void expectRight(Problem &p, const Result &result, bool writeLse) {
  std::vector<bool> written(static_cast<std::size_t>(p.tokens * p.heads));
  for (const CombineUnit &unit : p.units) {
    for (std::int64_t row = 0; row < unit.rows; ++row) {
      const std::int64_t token = unit.firstRow + row;
      written[static_cast<std::size_t>(token * p.heads + unit.head)] = true;
      double m = -kInf, sum = 0;
      std::vector<double> weighted(p.headDimV), magnitude(p.headDimV);
      for (int s = unit.slot; s < unit.slot + unit.slots; ++s)
        if (p.lseAt(s, row) != kInf)
          m = std::max<double>(m, p.lseAt(s, row));
      for (int s = unit.slot; s < unit.slot + unit.slots; ++s) {
        if (!std::isfinite(p.lseAt(s, row)))
          continue;
        const double w = std::exp(p.lseAt(s, row) - m);
        sum += w;
        for (int i = 0; i < p.headDimV; ++i) {
          weighted[i] += w * p.outRow(s, row)[i];
          magnitude[i] += std::abs(w * p.outRow(s, row)[i]);
        }
      }
      const float lse = *result.lse.at<float>(token, unit.head);
      const std::uint16_t *out = result.out.at<std::uint16_t>(token, unit.head);
      if (sum == 0) {
        if (writeLse)
          EXPECT_EQ(lse, -kInf) << "row " << token << " head " << unit.head;
        for (int i = 0; i < p.headDimV; ++i)
          EXPECT_EQ(out[i], 0) << "row " << token << " head " << unit.head << " element " << i;
        continue;
      }
      // The last rounding, half a step; weights: the argument of exp is up to 100 with 24
      // bits, then 64 sums of 24 bits.
      for (int i = 0; i < p.headDimV; ++i) {
        const double expected = weighted[i] / sum;
        ASSERT_NEAR(elementToFloat(p.output, out[i]), expected,
                    judge::halfStep(dtypeName(p.output), expected) + magnitude[i] / sum * 3e-5)
            << "row " << token << " head " << unit.head << " element " << i;
      }
      if (writeLse)
        ASSERT_NEAR(lse, m + std::log(sum), 1e-5 * std::max(1.0, std::abs(m + std::log(sum))));
    }
  }
  HostTensor out = result.out, lse = result.lse;
  for (std::int64_t token = 0; token < p.tokens; ++token)
    for (std::int64_t head = 0; head < p.heads; ++head) {
      const bool mine = written[static_cast<std::size_t>(token * p.heads + head)];
      if (!mine)
        for (int i = 0; i < p.headDimV; ++i)
          ASSERT_EQ(out.at<std::uint16_t>(token, head)[i], 0xa5a5) << "row " << token;
      if (!mine || !writeLse) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, lse.at<float>(token, head), 4);
        ASSERT_EQ(bits, 0xa5a5a5a5) << "row " << token;
      }
    }
  EXPECT_EQ(out.findDamage("out").value_or(""), "");
  EXPECT_EQ(lse.findDamage("lse").value_or(""), "");
}

Problem drawProblem(Draw &draw, int headDimV) {
  Problem p;
  p.headDimV = headDimV;
  p.heads = draw.oneIn(4) ? 128 : draw.between(1, 12);
  p.padding = draw.oneIn(2) ? 8 * draw.between(1, 3) : 0;
  const int blocks = static_cast<int>(draw.between(1, 4));
  for (int i = 0; i < blocks; ++i) {
    CombineUnit unit{};
    unit.firstRow = static_cast<std::int32_t>(p.tokens);
    unit.rows = static_cast<std::int32_t>(draw.oneIn(3) ? kAttentionBlockM : draw.between(0, 256));
    unit.head = static_cast<std::int32_t>(draw.below(p.heads));
    unit.slots = static_cast<std::int32_t>(draw.oneIn(4) ? 0 : draw.between(1, 5));
    unit.slot = static_cast<std::int32_t>(p.slots);
    p.slots += unit.slots + draw.below(2); // slots that belong to nobody
    p.tokens += unit.rows + draw.below(3); // rows too
    p.units.push_back(unit);
  }
  p.slots = std::max<std::int64_t>(p.slots, 1);
  p.tokens = std::max<std::int64_t>(p.tokens, 1);
  p.allocate();
  for (const CombineUnit &unit : p.units)
    for (int s = unit.slot; s < unit.slot + unit.slots; ++s)
      for (int row = 0; row < unit.rows; ++row) {
        const bool empty = draw.oneIn(6);
        // An empty partial leaves NaN in its out, as some producers do.
        p.lseAt(s, row) = empty ? (draw.oneIn(2) ? kInf : -kInf) : 20 * draw.normal();
        for (int i = 0; i < headDimV && !empty; ++i)
          p.outRow(s, row)[i] = draw.normal();
      }
  return p;
}

/// The first, the last and some other head of that many, each with a number of slots of its own, up
/// to 64; the other heads' rows are canaries.
void expectHeads(const char *target, int dim, std::int64_t heads) {
  SCOPED_TRACE(fmt::format("{} heads of {}", heads, dim));
  auto device = RowDevice::open(target);
  ASSERT_TRUE(device) << device.status().message();
  Draw draw(static_cast<std::uint64_t>(1000 * dim + heads));
  Problem p;
  p.headDimV = dim;
  p.heads = heads;
  p.tokens = 1;
  for (const std::int64_t head : std::set<std::int64_t>{0, draw.below(heads), heads - 1}) {
    CombineUnit unit{};
    unit.rows = 1;
    unit.head = static_cast<std::int32_t>(head);
    unit.slot = static_cast<std::int32_t>(p.slots);
    unit.slots = static_cast<std::int32_t>((head + heads) % 64 + 1);
    p.slots += unit.slots;
    p.units.push_back(unit);
  }
  p.allocate();
  for (std::int64_t s = 0; s < p.slots; ++s) {
    p.lseAt(s, 0) = draw.oneIn(6) ? -kInf : 5 * draw.normal();
    for (int i = 0; i < dim; ++i)
      p.outRow(s, 0)[i] = draw.normal();
  }
  const auto result = run(**device, target, p, true);
  ASSERT_TRUE(result) << result.status().message();
  expectRight(p, *result, true);
}

class CombineSplits : public ::testing::TestWithParam<const char *> {};

TEST_P(CombineSplits, AgreesWithFloat64) {
  for (int number = 0; number < 12; ++number) {
    SCOPED_TRACE(fmt::format("case {}", number));
    Draw draw(100 + static_cast<std::uint64_t>(number));
    constexpr int kDims[] = {64, 128, 256};
    Problem p = drawProblem(draw, kDims[number % 3]);
    p.output = number % 2 ? DType::F16 : DType::BF16;
    auto device = RowDevice::open(GetParam(), number % 2 ? "vmem-late,poison" : "vmem-early");
    ASSERT_TRUE(device) << device.status().message();
    const bool writeLse = number % 5 != 3;
    const auto result = run(**device, GetParam(), p, writeLse);
    ASSERT_TRUE(result) << result.status().message();
    expectRight(p, *result, writeLse);
  }
}

TEST_P(CombineSplits, TakesSixtyFourSlots) {
  Draw draw(7);
  Problem p;
  p.tokens = 3;
  p.slots = 64;
  p.units = {{.firstRow = 0, .rows = 3, .head = 0, .slot = 0, .slots = 64, .reserved = {}}};
  p.allocate();
  for (int s = 0; s < 64; ++s)
    for (int row = 0; row < 3; ++row) {
      p.lseAt(s, row) = draw.normal();
      for (int i = 0; i < p.headDimV; ++i)
        p.outRow(s, row)[i] = draw.normal();
    }
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  const auto result = run(**device, GetParam(), p, true);
  ASSERT_TRUE(result) << result.status().message();
  expectRight(p, *result, true);
}

TEST_P(CombineSplits, TakesEveryHeadCount) {
  for (std::int64_t heads = 1; heads <= kMaxHeads; ++heads)
    ASSERT_NO_FATAL_FAILURE(expectHeads(GetParam(), 64 << heads % 3, heads));
}

class EveryHeadCount : public ::testing::TestWithParam<const char *> {};
TEST_P(EveryHeadCount, OfEveryValueDim) {
  for (const int dim : {64, 128, 256})
    for (std::int64_t heads = 1; heads <= kMaxHeads; ++heads)
      ASSERT_NO_FATAL_FAILURE(expectHeads(GetParam(), dim, heads));
}

/// With one partial, out is its rounding, to nothing too and to the largest of float16, and lse its
/// bits, whatever the others' emptiness.
TEST_P(CombineSplits, OneSplitIsACopy) {
  Draw draw(8);
  Problem p;
  p.tokens = 256;
  p.slots = 3;
  p.units = {{.firstRow = 0, .rows = 256, .head = 0, .slot = 0, .slots = 3, .reserved = {}}};
  p.allocate();
  for (int row = 0; row < 256; ++row) {
    for (int s = 0; s < 3; ++s)
      p.lseAt(s, row) = s == row % 3 ? 1e3f * draw.normal() : draw.oneIn(2) ? kInf : -kInf;
    for (int i = 0; i < p.headDimV; ++i)
      p.outRow(row % 3, row)[i] =
          draw.oneIn(50)
              ? (draw.oneIn(2) ? kInf : -kInf)
              : draw.normal() * std::ldexp(1.0f, int(draw.oneIn(2) ? draw.between(-120, 120)
                                                                   : draw.between(-30, 20)));
  }
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  for (const DType output : {DType::BF16, DType::F16}) {
    p.output = output;
    const auto result = run(**device, GetParam(), p, true);
    ASSERT_TRUE(result) << result.status().message();
    for (int row = 0; row < 256; ++row) {
      EXPECT_EQ(*result->lse.at<float>(row, 0), p.lseAt(row % 3, row)) << row;
      for (int i = 0; i < p.headDimV; ++i)
        ASSERT_EQ(result->out.at<std::uint16_t>(row, 0)[i],
                  resultToElement(output, p.outRow(row % 3, row)[i]))
            << dtypeName(output) << " " << row << ", " << i;
    }
  }
}

/// An error of a producer must not look like an empty partial.
TEST_P(CombineSplits, NanInLseShows) {
  Problem p;
  p.tokens = 2;
  p.slots = 2;
  p.units = {{.firstRow = 0, .rows = 2, .head = 0, .slot = 0, .slots = 2, .reserved = {}}};
  p.allocate();
  for (int row = 0; row < 2; ++row) {
    p.lseAt(0, row) = kNan;
    p.lseAt(1, row) = row == 0 ? 1.0f : -kInf;
    for (int s = 0; s < 2; ++s)
      std::fill_n(p.outRow(s, row), p.headDimV, 1.0f);
  }
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  const auto result = run(**device, GetParam(), p, true);
  ASSERT_TRUE(result) << result.status().message();
  for (int row = 0; row < 2; ++row) {
    EXPECT_TRUE(std::isnan(*result->lse.at<float>(row, 0)));
    for (int i = 0; i < p.headDimV; ++i)
      ASSERT_TRUE(std::isnan(bf16ToFloat(result->out.at<std::uint16_t>(row, 0)[i])));
  }
}

/// Out past 2^32 bytes: heads far apart, and rows as wide as they may be.
TEST_P(CombineSplits, FarApartGivesTheSameBits) {
  Draw draw(9);
  Problem p = drawProblem(draw, 64);
  p.heads = 2;
  for (CombineUnit &unit : p.units)
    unit.head &= 1;
  auto device = RowDevice::open(GetParam());
  ASSERT_TRUE(device) << device.status().message();
  const auto near = run(**device, GetParam(), p, true);
  ASSERT_TRUE(near) << near.status().message();
  expectRight(p, *near, true);

  const auto kernel = (*device)->kernel(combineSpec(GetParam(), p.headDimV, true, p.output));
  ASSERT_TRUE(kernel) << kernel.status().message();
  const auto partialOut = (*device)->upload(std::span<const float>(p.out));
  const auto partialLse = (*device)->upload(std::span<const float>(p.lse));
  const auto units = (*device)->upload(std::span<const CombineUnit>(p.units));
  const std::int64_t row = (std::int64_t{4} << 20) - 16, head = std::int64_t{1} << 32;
  const auto out = (*device)->allocate(static_cast<std::uint64_t>(head + p.tokens * row));
  const auto lse = (*device)->allocate(static_cast<std::uint64_t>(head + p.tokens * 4));
  ASSERT_TRUE(out && lse && partialOut && partialLse && units);
  AttentionArguments attention{};
  attention.partialOut = partialOut->address();
  attention.partialLse = partialLse->address();
  attention.out = out->address();
  attention.outRowStride = row;
  attention.outHeadStride = head;
  attention.lse = lse->address();
  attention.lseHeadStride = head;
  const Status ran = (*device)->run(*kernel, combineGrid(p.units.size()),
                                    combineArguments(attention, p.headDimV, units->address()));
  ASSERT_TRUE(ran.isOk()) << ran.message();
  for (const CombineUnit &unit : p.units)
    for (std::int64_t token = unit.firstRow; token < unit.firstRow + unit.rows; ++token) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(p.headDimV) * 2);
      ASSERT_TRUE(out->download(bytes, std::uint64_t(token * row + unit.head * head)).isOk());
      EXPECT_EQ(std::memcmp(bytes.data(), near->out.at<std::byte>(token, unit.head), bytes.size()),
                0)
          << token;
      ASSERT_TRUE(
          lse->download(std::span(bytes).first(4), std::uint64_t(token * 4 + unit.head * head))
              .isOk());
      EXPECT_EQ(std::memcmp(bytes.data(), near->lse.at<std::byte>(token, unit.head), 4), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, CombineSplits, ::testing::Values("gfx942", "gfx950"));
INSTANTIATE_TEST_SUITE_P(Long, EveryHeadCount, ::testing::Values("gfx942", "gfx950"));

} // namespace
} // namespace wavesmith::testing
