// combine_splits and merge_states against float64.

#include <algorithm>
#include <charconv>

#include "runtime/judge/RowRun.h"

namespace wavesmith::judge {
namespace {

std::int64_t number(const std::string &text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// States of one row: what each contributes, weighted by exp of its LSE. Empty ones (an infinite
/// LSE of either sign) may hold anything.
struct Merge {
  std::vector<double> out, magnitude;
  double lse = -std::numeric_limits<double>::infinity();

  explicit Merge(std::int64_t dim)
      : out(static_cast<std::size_t>(dim)), magnitude(static_cast<std::size_t>(dim)) {}

  struct State {
    float lse;
    std::vector<float> out;
  };
  void of(std::span<const State> states) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const State &state : states)
      if (std::isfinite(state.lse))
        largest = std::max<double>(largest, state.lse);
    for (const State &state : states)
      if (std::isfinite(state.lse))
        sum += std::exp(state.lse - largest);
    if (sum == 0)
      return;
    lse = largest + std::log(sum);
    for (const State &state : states)
      for (std::size_t i = 0; std::isfinite(state.lse) && i < out.size(); ++i) {
        const double part = std::exp(state.lse - lse) * state.out[i];
        out[i] += part;
        magnitude[i] += std::abs(part);
      }
  }
  bool empty() const { return std::isinf(lse); }

  /// Half a step for the last rounding; the weights: an argument of exp up to 100 with 24 bits,
  /// then sums of 24 bits.
  Status check(std::size_t i, float got, std::string_view element) const {
    const double bound = halfStep(element, out[i]) + magnitude[i] * 3e-5;
    if (empty() ? got == 0 : std::abs(got - out[i]) <= bound)
      return Status::ok();
    return wrong("element {} is {}, want {} within {:.1e}", i, got, out[i], bound);
  }
  Status checkLse(float got) const {
    if (empty() ? got == -kInf : std::abs(got - lse) <= 1e-5 * std::max(1.0, std::abs(lse)))
      return Status::ok();
    return wrong("lse is {}, want {}", got, lse);
  }
};

} // namespace

Status verifyCombine(RowRun &run, int variant) {
  const std::int64_t dim = number(run.parameter("head_dim_v"));
  const bool writeLse = run.parameter("write_lse") == "true";
  const std::string element = run.parameter("output");
  Draw draw(11 + static_cast<std::uint64_t>(variant));
  const std::int64_t heads = variant == 0 ? 1 : 3, padding = variant == 0 ? 0 : 8;
  // A full block, a ragged one, one of no slot, one whose slots are all empty.
  const std::vector<CombineUnit> units = variant == 0
                                             ? std::vector<CombineUnit>{{0, 1, 0, 0, 2, {}}}
                                             : std::vector<CombineUnit>{{0, 256, 0, 0, 2, {}},
                                                                        {256, 37, 2, 2, 5, {}},
                                                                        {293, 5, 1, 7, 0, {}},
                                                                        {298, 16, 1, 7, 1, {}}};
  const std::int64_t tokens = units.back().firstRow + units.back().rows, slots = 9;
  std::vector<float> partialOut(static_cast<std::size_t>(slots * kAttentionBlockM * dim),
                                std::nanf(""));
  std::vector<float> partialLse(static_cast<std::size_t>(slots * kAttentionBlockM), std::nanf(""));
  const auto at = [](std::int64_t slot, std::int64_t row) {
    return static_cast<std::size_t>(slot * kAttentionBlockM + row);
  };
  for (const CombineUnit &unit : units)
    for (int slot = unit.slot; slot < unit.slot + unit.slots; ++slot)
      for (int row = 0; row < unit.rows; ++row) {
        const bool empty = slot == 7 || draw.oneIn(4);
        partialLse[at(slot, row)] = empty ? (draw.oneIn(2) ? kInf : -kInf) : 5 * draw.normal();
        for (std::int64_t i = 0; !empty && i < dim; ++i)
          partialOut[at(slot, row) * static_cast<std::size_t>(dim) + static_cast<std::size_t>(i)] =
              draw.normal() * (draw.oneIn(16) ? 0x1p-18f : 1.0f); // f16 underflows
      }
  HostTensor out(paddedShape(tokens, heads, dim, 2, padding), kCanary);
  HostTensor lse({tokens, heads, 1, 1, tokens + padding, 4}, kCanary);
  WAVESMITH_ASSIGN(const DeviceBuffer dOut, run.upload(partialOut));
  WAVESMITH_ASSIGN(const DeviceBuffer dLse, run.upload(partialLse));
  WAVESMITH_ASSIGN(const DeviceBuffer dUnits, run.upload(units));
  WAVESMITH_ASSIGN(const DeviceBuffer rOut, run.upload(out.bytes()));
  WAVESMITH_ASSIGN(const DeviceBuffer rLse, run.upload(lse.bytes()));
  AttentionArguments attention{};
  attention.partialOut = dOut.address();
  attention.partialLse = dLse.address();
  attention.out = originOf(rOut);
  attention.outRowStride = out.shape().rowStride * 2;
  attention.outHeadStride = out.shape().headStride * 2;
  attention.lse = writeLse ? originOf(rLse) : 0;
  attention.lseHeadStride = lse.shape().headStride * 4;
  WAVESMITH_TRY(run.run(combineGrid(units.size()),
                        combineArguments(attention, static_cast<int>(dim), dUnits.address())));
  WAVESMITH_TRY(rOut.download(out.bytes()));
  WAVESMITH_TRY(rLse.download(lse.bytes()));
  for (const CombineUnit &unit : units)
    for (int row = 0; row < unit.rows; ++row) {
      std::vector<Merge::State> states;
      for (int slot = unit.slot; slot < unit.slot + unit.slots; ++slot) {
        const float *values = partialOut.data() + at(slot, row) * static_cast<std::size_t>(dim);
        states.push_back({partialLse[at(slot, row)], {values, values + dim}});
      }
      Merge expected(dim);
      expected.of(states);
      const std::int64_t token = unit.firstRow + row;
      const std::string where = fmt::format("token {} head {}", token, unit.head);
      for (std::int64_t i = 0; i < dim; ++i)
        WAVESMITH_TRY(expected
                          .check(static_cast<std::size_t>(i),
                                 load(out, element, token, unit.head, i), element)
                          .withContext(where));
      if (writeLse)
        WAVESMITH_TRY(expected.checkLse(*lse.at<float>(token, unit.head)).withContext(where));
    }
  for (auto [name, tensor] : {std::pair{"out", &out}, {"lse", &lse}})
    if (const auto damage = tensor->findDamage(name))
      return wrong("{}", *damage);
  return Status::ok();
}

Status verifyMerge(RowRun &run, int variant) {
  const std::string element = run.parameter("element");
  const std::int64_t dim = number(run.parameter("head_dim_v")), heads = variant == 0 ? 1 : 3;
  const std::int64_t tokens = variant == 0 ? 1 : 67, merged = variant == 0 ? 1 : 40;
  const std::int64_t padding = variant == 0 ? 0 : 8;
  const int bytes = element == "f32" ? 4 : 2;
  struct Side {
    HostTensor out, lse;
  };
  const auto side = [&](std::byte fill) {
    return Side{HostTensor(paddedShape(tokens, heads, dim, bytes, padding), fill),
                HostTensor({tokens, heads, 1, 1, tokens + padding, 4}, fill)};
  };
  Draw draw(21 + static_cast<std::uint64_t>(variant));
  std::vector<Side> sides;
  for (int number = 0; number < 2; ++number) {
    Side &filled = sides.emplace_back(side(kNan));
    for (std::int64_t token = 0; token < tokens; ++token)
      for (std::int64_t head = 0; head < heads; ++head) {
        const bool empty = variant != 0 && draw.oneIn(4);
        *filled.lse.at<float>(token, head) =
            empty ? (draw.oneIn(2) ? kInf : -kInf) : 5 * draw.normal();
        for (std::int64_t i = 0; !empty && i < dim; ++i)
          // Some are so small that f16 underflows.
          store(filled.out, element, token, head, i,
                draw.normal() * (draw.oneIn(16) ? 0x1p-18f : 1.0f));
      }
  }
  sides.push_back(side(kCanary));
  std::vector<DeviceBuffer> buffers;
  for (Side &each : sides)
    for (HostTensor *tensor : {&each.out, &each.lse}) {
      WAVESMITH_ASSIGN(DeviceBuffer buffer, run.upload(tensor->bytes()));
      buffers.push_back(std::move(buffer));
    }
  Side &result = sides[2];
  MergeArguments m{};
  m.a = originOf(buffers[0]);
  m.lseA = originOf(buffers[1]);
  m.b = originOf(buffers[2]);
  m.lseB = originOf(buffers[3]);
  m.out = originOf(buffers[4]);
  m.lse = originOf(buffers[5]);
  m.aRowStride = m.bRowStride = m.outRowStride = result.out.shape().rowStride * bytes;
  m.aHeadStride = m.bHeadStride = m.outHeadStride = result.out.shape().headStride * bytes;
  m.lseAHeadStride = m.lseBHeadStride = m.lseHeadStride = result.lse.shape().headStride * 4;
  m.lseARowStride = m.lseBRowStride = m.lseRowStride = 4;
  m.tokens = static_cast<std::int32_t>(tokens);
  m.merged = static_cast<std::int32_t>(merged);
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(run.spec(), tokens, heads));
  WAVESMITH_TRY(run.run(grid, m));
  WAVESMITH_TRY(buffers[4].download(result.out.bytes()));
  WAVESMITH_TRY(buffers[5].download(result.lse.bytes()));
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t head = 0; head < heads; ++head) {
      std::vector<Merge::State> states;
      for (std::size_t s = token < merged ? 0 : 1; s < 2; ++s) {
        Merge::State &state = states.emplace_back();
        state.lse = *sides[s].lse.at<float>(token, head);
        for (std::int64_t i = 0; i < dim; ++i)
          state.out.push_back(load(sides[s].out, element, token, head, i));
      }
      Merge expected(dim);
      expected.of(states);
      const std::string where = fmt::format("token {} head {}", token, head);
      for (std::int64_t i = 0; i < dim; ++i)
        WAVESMITH_TRY(expected
                          .check(static_cast<std::size_t>(i),
                                 load(result.out, element, token, head, i), element)
                          .withContext(where));
      WAVESMITH_TRY(expected.checkLse(*result.lse.at<float>(token, head)).withContext(where));
    }
  for (auto [name, tensor] : {std::pair{"out", &result.out}, {"lse", &result.lse}})
    if (const auto damage = tensor->findDamage(name))
      return wrong("{}", *damage);
  return Status::ok();
}

} // namespace wavesmith::judge
