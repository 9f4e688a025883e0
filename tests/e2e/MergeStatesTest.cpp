// merge_states against float64: random states, strides and emptiness, in place and not; and what
// merging must have in common with adding: one state is a copy, the order of three hardly matters.

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "runtime/judge/RowRun.h"
#include "tests/e2e/RowDevice.h"

namespace wavesmith::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::byte kCanary{0xa5};

/// Out and lse of one state, with gaps; elements are bf16, f16 or float32.
struct State {
  HostTensor out, lse;
};

struct Shape {
  std::string element = "bf16";
  std::int64_t tokens = 1, heads = 1, dim = 128, padding = 0;

  int bytes() const { return element == "f32" ? 4 : 2; }
  State state(std::byte fill) const {
    const std::int64_t head = dim + padding, row = heads * head + padding;
    return {HostTensor({tokens, heads, dim, row, head, bytes()}, fill),
            HostTensor({tokens, heads, 1, 1, tokens + padding, 4}, fill)};
  }
};

float load(const Shape &shape, const State &state, std::int64_t token, std::int64_t head,
           std::int64_t i) {
  return judge::load(state.out, shape.element, token, head, i);
}

State drawState(Draw &draw, const Shape &shape) {
  State state = shape.state(std::byte{0xff});
  for (std::int64_t token = 0; token < shape.tokens; ++token)
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      const bool empty = draw.oneIn(4);
      *state.lse.at<float>(token, head) =
          empty ? (draw.oneIn(2) ? kInf : -kInf) : 5 * draw.normal();
      // An empty state keeps the NaN that it was filled with.
      for (std::int64_t i = 0; i < shape.dim && !empty; ++i)
        judge::store(state.out, shape.element, token, head, i, draw.normal());
    }
  return state;
}

enum class Into { New, A, B };

Expected<State> merge(RowDevice &device, const std::string &target, const Shape &shape, State a,
                      State b, std::int64_t merged, Into into) {
  State result = shape.state(kCanary);
  const KernelSpec spec = mergeSpec(target, static_cast<int>(shape.dim), shape.element);
  WAVESMITH_ASSIGN(const LoadedKernel kernel, device.kernel(spec));
  std::vector<DeviceBuffer> buffers;
  for (State *state : {&a, &b, &result})
    for (HostTensor *tensor : {&state->out, &state->lse}) {
      WAVESMITH_ASSIGN(DeviceBuffer buffer, device.upload(*tensor));
      buffers.push_back(std::move(buffer));
    }
  const auto address = [&](std::size_t i) {
    return buffers[i].address() + HostTensor::originOffset();
  };
  const std::size_t to = into == Into::A ? 0 : into == Into::B ? 2 : 4;
  MergeArguments m{};
  m.a = address(0);
  m.lseA = address(1);
  m.b = address(2);
  m.lseB = address(3);
  m.out = address(to);
  m.lse = address(to + 1);
  m.aRowStride = m.bRowStride = m.outRowStride = result.out.shape().rowStride * shape.bytes();
  m.aHeadStride = m.bHeadStride = m.outHeadStride = result.out.shape().headStride * shape.bytes();
  m.lseAHeadStride = m.lseBHeadStride = m.lseHeadStride = result.lse.shape().headStride * 4;
  m.lseARowStride = m.lseBRowStride = m.lseRowStride = 4;
  m.tokens = static_cast<std::int32_t>(shape.tokens);
  m.merged = static_cast<std::int32_t>(merged);
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(spec, shape.tokens, shape.heads));
  WAVESMITH_TRY(device.run(kernel, grid, m));
  State &out = into == Into::A ? a : into == Into::B ? b : result;
  WAVESMITH_TRY(buffers[to].download(out.out.bytes()));
  WAVESMITH_TRY(buffers[to + 1].download(out.lse.bytes()));
  for (auto [name, tensor] : {std::pair{"out", &out.out}, {"lse", &out.lse}})
    if (const auto damage = tensor->findDamage(name))
      return Status(StatusCode::Internal, *damage);
  return std::move(out);
}

struct Weights {
  double lse = -kInf, a = 0, b = 0; ///< of a and b, adding up to 1 unless both are empty
};

Weights weights(float la, float lb) {
  const double a = la == kInf ? -kInf : la, b = lb == kInf ? -kInf : lb, m = std::max(a, b);
  if (m == -kInf)
    return {};
  const double wa = std::exp(a - m), wb = std::exp(b - m);
  return {m + std::log(wa + wb), wa / (wa + wb), wb / (wa + wb)};
}

void expectMerged(const Shape &shape, const State &a, const State &b, std::int64_t merged,
                  const State &result) {
  for (std::int64_t token = 0; token < shape.tokens; ++token)
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      const float la = token < merged ? *a.lse.at<float>(token, head) : -kInf;
      const Weights w = weights(la, *b.lse.at<float>(token, head));
      const float lse = *result.lse.at<float>(token, head);
      if (w.lse == -kInf)
        ASSERT_EQ(lse, -kInf) << "token " << token << " head " << head;
      else
        ASSERT_NEAR(lse, w.lse, 1e-5 * std::max(1.0, std::abs(w.lse)));
      for (std::int64_t i = 0; i < shape.dim; ++i) {
        const double xa = w.a > 0 ? w.a * load(shape, a, token, head, i) : 0;
        const double xb = w.b > 0 ? w.b * load(shape, b, token, head, i) : 0;
        const float got = load(shape, result, token, head, i);
        if (w.lse == -kInf)
          ASSERT_EQ(got, 0.0f);
        else
          // Half a step; weights with 24 bits and an argument of exp up to 50.
          ASSERT_NEAR(got, xa + xb,
                      judge::halfStep(shape.element, xa + xb) +
                          (std::abs(xa) + std::abs(xb)) * 1e-5)
              << "token " << token << " head " << head << " element " << i;
      }
    }
}

class MergeStates : public ::testing::TestWithParam<const char *> {
protected:
  Expected<std::unique_ptr<RowDevice>> device = RowDevice::open(GetParam(), "vmem-late,poison");
};

TEST_P(MergeStates, AgreesWithFloat64InPlaceAndNot) {
  ASSERT_TRUE(device) << device.status().message();
  for (int number = 0; number < 18; ++number) {
    SCOPED_TRACE(fmt::format("case {}", number));
    Draw draw(200 + static_cast<std::uint64_t>(number));
    Shape shape;
    constexpr const char *kElements[] = {"bf16", "f16", "f32"};
    shape.element = kElements[number / 3 % 3];
    shape.dim = std::int64_t{64} << number % 3;
    shape.heads = draw.oneIn(4) ? 128 : draw.between(1, 9);
    shape.tokens = draw.oneIn(6) ? 0 : draw.between(1, shape.heads == 128 ? 3 : 150);
    shape.padding = draw.oneIn(2) ? 8 * draw.between(1, 3) : 0;
    const State a = drawState(draw, shape), b = drawState(draw, shape);
    const std::int64_t merged = draw.oneIn(2) ? shape.tokens : draw.between(0, shape.tokens);
    std::vector<std::byte> first;
    for (const Into into : {Into::New, Into::A, Into::B}) {
      const auto result = merge(**device, GetParam(), shape, a, b, merged, into);
      ASSERT_TRUE(result) << result.status().message();
      expectMerged(shape, a, b, merged, *result);
      const std::vector<std::byte> elements = result->out.elements();
      if (into == Into::New)
        first = elements;
      EXPECT_TRUE(elements == first) << "in place gives other bits";
    }
  }
}

TEST_P(MergeStates, OneStateIsACopy) {
  ASSERT_TRUE(device) << device.status().message();
  for (const char *element : {"bf16", "f16", "f32"}) {
    Draw draw(3);
    Shape shape{.element = element, .tokens = 70, .heads = 3, .dim = 128, .padding = 8};
    State a = drawState(draw, shape), b = drawState(draw, shape);
    for (std::int64_t token = 0; token < shape.tokens; ++token)
      for (std::int64_t head = 0; head < shape.heads; ++head)
        *(token % 2 ? a : b).lse.at<float>(token, head) = token % 4 < 2 ? kInf : -kInf;
    const auto result = merge(**device, GetParam(), shape, a, b, shape.tokens, Into::New);
    ASSERT_TRUE(result) << result.status().message();
    for (std::int64_t token = 0; token < shape.tokens; ++token)
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        const State &full = token % 2 ? b : a;
        if (!std::isfinite(*full.lse.at<float>(token, head)))
          continue;
        EXPECT_EQ(*result->lse.at<float>(token, head), *full.lse.at<float>(token, head));
        EXPECT_EQ(std::memcmp(result->out.at<std::byte>(token, head),
                              full.out.at<std::byte>(token, head),
                              static_cast<std::size_t>(shape.dim * shape.bytes())),
                  0)
            << token << ", " << head;
      }
  }
}

TEST_P(MergeStates, IsAssociativeWithinRounding) {
  ASSERT_TRUE(device) << device.status().message();
  Draw draw(4);
  const Shape shape{.element = "f32", .tokens = 100, .heads = 2, .dim = 64};
  const State a = drawState(draw, shape), b = drawState(draw, shape), c = drawState(draw, shape);
  const auto both = [&](const State &x, const State &y) {
    return merge(**device, GetParam(), shape, x, y, shape.tokens, Into::New);
  };
  const auto ab = both(a, b), bc = both(b, c);
  ASSERT_TRUE(ab && bc);
  const auto left = both(*ab, c), right = both(a, *bc);
  ASSERT_TRUE(left && right);
  for (std::int64_t token = 0; token < shape.tokens; ++token)
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      const float l = *left->lse.at<float>(token, head), r = *right->lse.at<float>(token, head);
      if (l == -kInf || r == -kInf) {
        ASSERT_EQ(l, r);
        continue;
      }
      ASSERT_NEAR(l, r, 2e-5);
      // Two merges on each side, each within 1e-5 of values below 6.
      for (std::int64_t i = 0; i < shape.dim; ++i)
        ASSERT_NEAR(load(shape, *left, token, head, i), load(shape, *right, token, head, i), 2e-4);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, MergeStates, ::testing::Values("gfx942", "gfx950"));

} // namespace
} // namespace wavesmith::testing
