// quantize, quantize_concat and amax, bit for bit against a scalar model: every bf16 and f16 input,
// random shapes and strides, descales given and made, plain and rotated; and what the rotation is
// for: scores stay, outlier channels cost less.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "runtime/judge/QuantizeModel.h"
#include "runtime/judge/RowRun.h"
#include "runtime/verify/BFloat16.h"
#include "tests/e2e/RowDevice.h"

namespace wavesmith::testing {
namespace {

constexpr std::byte kCanary{0xa5}, kNan{0xff};
constexpr float kInf = std::numeric_limits<float>::infinity();

int bytesOf(const std::string &element) { return element == "f32" ? 4 : 2; }

using judge::load;

TensorShape padded(std::int64_t tokens, std::int64_t heads, std::int64_t dim, int bytes,
                   std::int64_t padding) {
  const std::int64_t head = dim + padding;
  return {tokens, heads, dim, heads * head + padding, head, bytes};
}

/// Normal values, some far larger, and of each kind of special value.
HostTensor drawInput(Draw &draw, const TensorShape &shape, const std::string &element) {
  HostTensor tensor(shape, kNan);
  for (std::int64_t row = 0; row < shape.rows; ++row)
    for (std::int64_t head = 0; head < shape.heads; ++head)
      for (std::int64_t i = 0; i < shape.dim; ++i) {
        float value = draw.normal() * (draw.oneIn(50) ? 300.0f : 1.0f);
        if (draw.oneIn(3000))
          value = draw.oneIn(2) ? kInf : std::nanf("");
        if (element == "f32")
          tensor.at<float>(row, head)[i] = value;
        else if (element == "bf16")
          tensor.at<std::uint16_t>(row, head)[i] = floatToBf16(value);
        else // any bits are a half
          tensor.at<std::uint16_t>(row, head)[i] = static_cast<std::uint16_t>(draw.bits());
      }
  return tensor;
}

struct Quantized {
  HostTensor y;
  std::vector<float> descale;
  std::vector<std::uint64_t> saturated;
};

/// What one head's row must become.
struct Expected8 {
  std::vector<std::uint8_t> codes;
  std::uint64_t saturated = 0;
};
Expected8 quantizeModel(const Fp8Model &model, std::span<const float> row, float descale) {
  Expected8 result;
  const float inverse = 1.0f / descale;
  for (const float value : row) {
    const float scaled = value * inverse;
    result.codes.push_back(model.encode(scaled));
    result.saturated += model.saturates(scaled);
  }
  return result;
}

float descaleModel(const Fp8Model &model, float amax) {
  return amax == 0 ? 1.0f : std::max(amax / model.largest(), 0x1p-126f);
}

/// One or two inputs (nope, rope), which make up the rows; the second may be shared by all heads.
struct Inputs {
  std::string element = "bf16";
  std::vector<HostTensor> parts;
  bool shared = false;

  std::vector<float> row(std::int64_t token, std::int64_t head, std::uint32_t seed) const {
    std::vector<float> row;
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (std::int64_t i = 0; i < parts[p].shape().dim; ++i)
        row.push_back(load(parts[p], element, token, p == 1 && shared ? 0 : head, i));
    if (seed != 0)
      rotateModel(row, seed);
    return row;
  }
  std::int64_t dim() const {
    std::int64_t sum = 0;
    for (const HostTensor &part : parts)
      sum += part.shape().dim;
    return sum;
  }
};

struct Call {
  std::string target;
  QuantizeOptions options;
  bool perTensor = false;
  std::vector<float> descale; ///< of each head, unless dynamic
  std::int64_t padding = 0;
};

/// Runs what the call needs: maxima first if it is dynamic.
Expected<Quantized> quantize(RowDevice &device, const Call &call, Inputs &inputs) {
  const std::int64_t tokens = inputs.parts[0].shape().rows, heads = inputs.parts[0].shape().heads;
  Quantized result{HostTensor(padded(tokens, heads, inputs.dim(), 1, call.padding), kCanary),
                   call.descale, std::vector<std::uint64_t>(static_cast<std::size_t>(heads), 7)};
  if (call.options.dynamic)
    result.descale.assign(static_cast<std::size_t>(heads), std::nanf(""));
  std::vector<DeviceBuffer> parts;
  for (HostTensor &part : inputs.parts) {
    WAVESMITH_ASSIGN(DeviceBuffer buffer, device.upload(part));
    parts.push_back(std::move(buffer));
  }
  WAVESMITH_ASSIGN(DeviceBuffer y, device.upload(result.y));
  WAVESMITH_ASSIGN(DeviceBuffer descale, device.upload(std::span<const float>(result.descale)));
  WAVESMITH_ASSIGN(DeviceBuffer saturated,
                   device.upload(std::span<const std::uint64_t>(result.saturated)));
  const std::vector<float> zeros(static_cast<std::size_t>(heads), 0.0f);
  WAVESMITH_ASSIGN(DeviceBuffer amax, device.upload(std::span<const float>(zeros)));
  const std::int64_t amaxStride = call.perTensor ? 0 : 4;
  const auto stridesOf = [&](std::size_t p, std::int64_t &row, std::int64_t &head) {
    const TensorShape &shape = inputs.parts[p].shape();
    row = shape.rowStride * shape.elementBytes;
    head = p == 1 && inputs.shared ? 0 : shape.headStride * shape.elementBytes;
    return parts[p].address() + HostTensor::originOffset();
  };
  std::int64_t column = 0;
  for (std::size_t p = 0; p < parts.size() && call.options.dynamic; ++p) {
    const TensorShape &shape = inputs.parts[p].shape();
    const KernelSpec spec =
        amaxSpec(call.target, static_cast<int>(shape.dim), call.options, static_cast<int>(column));
    column += shape.dim;
    WAVESMITH_ASSIGN(const LoadedKernel kernel, device.kernel(spec));
    AmaxArguments a{};
    a.x = stridesOf(p, a.xRowStride, a.xHeadStride);
    a.amax = amax.address();
    a.amaxHeadStride = amaxStride;
    a.tokens = static_cast<std::int32_t>(tokens);
    WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(spec, tokens, heads));
    WAVESMITH_TRY(device.run(kernel, grid, a));
  }
  const auto fill = [&](auto &a) {
    a.y = y.address() + HostTensor::originOffset();
    a.yRowStride = result.y.shape().rowStride;
    a.yHeadStride = result.y.shape().headStride;
    a.descale = descale.address();
    a.descaleHeadStride = 4;
    a.amax = call.options.dynamic ? amax.address() : 0;
    a.amaxHeadStride = amaxStride;
    a.saturated = saturated.address();
    a.saturatedHeadStride = 8;
    a.tokens = static_cast<std::int32_t>(tokens);
  };
  const KernelSpec spec =
      parts.size() == 1 ? quantizeSpec(call.target, static_cast<int>(inputs.dim()), call.options)
                        : quantizeConcatSpec(call.target, call.options);
  WAVESMITH_ASSIGN(const LoadedKernel kernel, device.kernel(spec));
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(spec, tokens, heads));
  if (parts.size() == 1) {
    QuantizeArguments a{};
    a.x = stridesOf(0, a.xRowStride, a.xHeadStride);
    fill(a);
    WAVESMITH_TRY(device.run(kernel, grid, a));
  } else {
    QuantizeConcatArguments a{};
    a.nope = stridesOf(0, a.nopeRowStride, a.nopeHeadStride);
    a.rope = stridesOf(1, a.ropeRowStride, a.ropeHeadStride);
    fill(a);
    WAVESMITH_TRY(device.run(kernel, grid, a));
  }
  WAVESMITH_TRY(y.download(result.y.bytes()));
  WAVESMITH_TRY(descale.download(std::as_writable_bytes(std::span(result.descale))));
  WAVESMITH_TRY(saturated.download(std::as_writable_bytes(std::span(result.saturated))));
  return result;
}

void expectExact(const Call &call, const Inputs &inputs, const Quantized &result) {
  const Fp8Model model(call.target);
  const std::int64_t tokens = inputs.parts[0].shape().rows, heads = inputs.parts[0].shape().heads;
  std::vector<float> amax(static_cast<std::size_t>(heads), 0.0f);
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t token = 0; token < tokens; ++token)
      for (const float value : inputs.row(token, head, call.options.rotation))
        if (std::isfinite(value)) {
          float &largest = amax[static_cast<std::size_t>(call.perTensor ? 0 : head)];
          largest = std::max(largest, std::abs(value));
        }
  for (std::int64_t head = 0; head < heads; ++head) {
    const auto h = static_cast<std::size_t>(head);
    const float descale =
        call.options.dynamic
            ? (tokens == 0 ? result.descale[h] : descaleModel(model, amax[call.perTensor ? 0 : h]))
            : call.descale[h];
    if (!(tokens == 0 && call.options.dynamic))
      ASSERT_EQ(result.descale[h], descale) << "head " << head;
    std::uint64_t saturated = 7;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const Expected8 expected =
          quantizeModel(model, inputs.row(token, head, call.options.rotation), descale);
      saturated += expected.saturated;
      for (std::size_t i = 0; i < expected.codes.size(); ++i)
        ASSERT_EQ(result.y.at<std::uint8_t>(token, head)[i], expected.codes[i])
            << "token " << token << " head " << head << " element " << i << " of "
            << inputs.row(token, head, call.options.rotation)[i] << " descale " << descale;
    }
    ASSERT_EQ(result.saturated[h], saturated) << "head " << head;
  }
  EXPECT_EQ(result.y.findDamage("y").value_or(""), "");
}

class Quantize : public ::testing::TestWithParam<const char *> {
protected:
  Expected<std::unique_ptr<RowDevice>> device = RowDevice::open(GetParam(), "vmem-late,poison");
};

/// All 65536 values of both 16-bit formats, at descales that saturate, underflow and do nothing.
TEST_P(Quantize, EveryInputOfSixteenBits) {
  ASSERT_TRUE(device) << device.status().message();
  for (const char *element : {"bf16", "f16"}) {
    Call call{.target = GetParam(), .options = {.input = element}};
    call.descale = {1.0f, 0.37f, 3e30f, 1e-30f};
    Inputs inputs{.element = element, .parts = {}};
    inputs.parts.emplace_back(padded(512, 4, 128, 2, 0), kNan);
    for (int head = 0; head < 4; ++head)
      for (int i = 0; i < 65536; ++i)
        inputs.parts[0].at<std::uint16_t>(i / 128, head)[i % 128] = static_cast<std::uint16_t>(i);
    const auto result = quantize(**device, call, inputs);
    ASSERT_TRUE(result) << result.status().message();
    expectExact(call, inputs, *result);
  }
}

TEST_P(Quantize, RandomShapesAndStridesAreExact) {
  ASSERT_TRUE(device) << device.status().message();
  constexpr std::int64_t kDims[] = {64, 128, 192, 256};
  constexpr const char *kElements[] = {"bf16", "f32", "f16"};
  for (int number = 0; number < 24; ++number) {
    SCOPED_TRACE(fmt::format("case {}", number));
    Draw draw(300 + static_cast<std::uint64_t>(number));
    const std::string element = kElements[number % 3];
    Call call{.target = GetParam(), .options = {.input = element}};
    call.options.dynamic = number % 2 != 0;
    // Halves are any bits, also infinite: rotated they would all be NaN.
    call.options.rotation = number % 4 < 2 || element == "f16"
                                ? 0
                                : static_cast<std::uint32_t>(draw.between(1, 0x7fffffff));
    call.perTensor = draw.oneIn(3);
    call.padding = draw.oneIn(2) ? 16 * draw.between(1, 2) : 0;
    const std::int64_t heads = draw.oneIn(6) ? 128 : draw.between(1, 8);
    const std::int64_t tokens = draw.oneIn(8) ? 0
                                              : draw.between(1, heads == 128      ? 3
                                                                : number % 5 == 0 ? 150
                                                                                  : 40);
    for (std::int64_t head = 0; head < heads; ++head)
      call.descale.push_back(std::ldexp(0.5f + 0.4f * static_cast<float>(draw.below(1000)) / 1000,
                                        static_cast<int>(draw.between(-8, 3))));
    Inputs inputs{.element = element, .parts = {}};
    inputs.parts.push_back(
        drawInput(draw, padded(tokens, heads, kDims[draw.below(4)], bytesOf(element), call.padding),
                  element));
    const auto result = quantize(**device, call, inputs);
    ASSERT_TRUE(result) << result.status().message();
    expectExact(call, inputs, *result);
  }
}

TEST_P(Quantize, ConcatIsExact) {
  ASSERT_TRUE(device) << device.status().message();
  for (int number = 0; number < 8; ++number) {
    SCOPED_TRACE(fmt::format("case {}", number));
    Draw draw(400 + static_cast<std::uint64_t>(number));
    const std::string element = number % 3 == 0 ? "f32" : "bf16";
    Call call{.target = GetParam(), .options = {.input = element}};
    call.options.dynamic = number % 2 != 0;
    call.options.rotation = number % 4 < 2 ? 0 : 77u + static_cast<std::uint32_t>(number);
    call.padding = 16 * draw.below(2);
    const std::int64_t heads = draw.between(1, 6), tokens = draw.between(1, 40);
    call.descale.assign(static_cast<std::size_t>(heads), 0.25f);
    Inputs inputs{.element = element, .parts = {}, .shared = draw.oneIn(2)};
    inputs.parts.push_back(
        drawInput(draw, padded(tokens, heads, 128, bytesOf(element), call.padding), element));
    inputs.parts.push_back(drawInput(
        draw, padded(tokens, inputs.shared ? 1 : heads, 64, bytesOf(element), 0), element));
    const auto result = quantize(**device, call, inputs);
    ASSERT_TRUE(result) << result.status().message();
    expectExact(call, inputs, *result);
  }
}

TEST_P(Quantize, AllZeroHasADescaleOfOne) {
  ASSERT_TRUE(device) << device.status().message();
  Call call{.target = GetParam(), .options = {.dynamic = true}};
  Inputs inputs{.parts = {HostTensor(padded(5, 2, 64, 2, 0), std::byte{0})}};
  const auto result = quantize(**device, call, inputs);
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->descale, std::vector<float>(2, 1.0f));
  expectExact(call, inputs, *result);
}

/// Inputs and outputs past 2^32 bytes: heads far apart and the widest rows.
TEST_P(Quantize, FarApartGivesTheSameBits) {
  ASSERT_TRUE(device) << device.status().message();
  const std::int64_t tokens = 5, dim = 192, row = (4 << 20) - 16, head = std::int64_t{1} << 32;
  const KernelSpec spec = quantizeSpec(GetParam(), dim, {.rotation = 5});
  const auto kernel = (*device)->kernel(spec);
  ASSERT_TRUE(kernel) << kernel.status().message();
  Call call{.target = GetParam(), .options = {.rotation = 5}, .descale = {0.5f, 0.25f}};
  Draw draw(500);
  Inputs inputs{.parts = {drawInput(draw, padded(tokens, 2, dim, 2, 0), "bf16")}};
  const auto near = quantize(**device, call, inputs);
  ASSERT_TRUE(near) << near.status().message();
  expectExact(call, inputs, *near);

  auto x = (*device)->allocate(static_cast<std::uint64_t>(head + tokens * row));
  auto y = (*device)->allocate(static_cast<std::uint64_t>(head + tokens * row));
  auto descale = (*device)->upload(std::span<const float>(call.descale));
  const std::vector<std::uint64_t> counts(2, 0);
  auto saturated = (*device)->upload(std::span<const std::uint64_t>(counts));
  ASSERT_TRUE(x && y && descale && saturated);
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t h : {0, 1})
      ASSERT_TRUE(x->upload({inputs.parts[0].at<std::byte>(token, h), std::size_t(dim) * 2},
                            std::uint64_t(token * row + h * head))
                      .isOk());
  QuantizeArguments a{};
  a.x = x->address();
  a.y = y->address();
  a.xRowStride = a.yRowStride = row;
  a.xHeadStride = a.yHeadStride = head;
  a.descale = descale->address();
  a.descaleHeadStride = 4;
  a.saturated = saturated->address();
  a.saturatedHeadStride = 8;
  a.tokens = static_cast<std::int32_t>(tokens);
  const Status ran = (*device)->run(*kernel, *rowGrid(spec, tokens, 2), a);
  ASSERT_TRUE(ran.isOk()) << ran.message();
  std::vector<std::byte> codes(static_cast<std::size_t>(dim));
  for (std::int64_t token = 0; token < tokens; ++token)
    for (std::int64_t h : {0, 1}) {
      ASSERT_TRUE(y->download(codes, std::uint64_t(token * row + h * head)).isOk());
      EXPECT_EQ(std::memcmp(codes.data(), near->y.at<std::byte>(token, h), codes.size()), 0);
    }
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(Saturation, AMaximumThatMadeItsScaleIsNone) {
  for (const std::string target : {"gfx942", "gfx950"}) {
    const Fp8Model model(target);
    for (int exponent = -30; exponent <= 30; exponent += 5)
      for (int mantissa = 0; mantissa < 128; ++mantissa) { // every bf16
        const float amax = std::ldexp(1 + static_cast<float>(mantissa) / 128, exponent);
        const float inverse = 1.0f / descaleModel(model, amax);
        EXPECT_FALSE(model.saturates(amax * inverse)) << target << " " << amax;
        EXPECT_TRUE(model.saturates(std::nextafter(amax, 1e38f) * inverse * 1.000001f));
      }
  }
}

/// The model is the kernel's arithmetic (the tests above), so its rotated rows are the kernel's.
TEST(Rotation, KeepsScores) {
  Draw draw(600);
  for (const std::size_t dim : {64, 128, 192, 256})
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<float> q(dim), k(dim);
      for (std::size_t i = 0; i < dim; ++i) {
        q[i] = draw.normal();
        k[i] = draw.normal() * (i % 50 == 7 ? 20.0f : 1.0f);
      }
      const double before = dot(q, k), size = std::sqrt(dot(q, q) * dot(k, k));
      const auto seed = static_cast<std::uint32_t>(repeat + 1);
      rotateModel(q, seed);
      rotateModel(k, seed);
      // Eight sums and a product in each direction, 24 bits each, at random.
      EXPECT_NEAR(dot(q, k), before, size * 0x1p-20) << dim;
      std::vector<float> other(k);
      rotateModel(other, seed);
      EXPECT_GT(std::abs(dot(q, other) - before), size * 0x1p-20) << "another rotation would do";
    }
}

/// Three channels 20 times the others: rotated, the quantised scores are at least twice as good.
TEST_P(Quantize, RotationSavesOutlierChannels) {
  ASSERT_TRUE(device) << device.status().message();
  const std::int64_t rows = 40, dim = 192;
  Draw draw(700);
  std::vector<Inputs> sides;
  for (int side = 0; side < 2; ++side) {
    HostTensor tensor(padded(rows, 1, dim, 2, 0), kNan);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < dim; ++i)
        tensor.at<std::uint16_t>(row, 0)[i] =
            floatToBf16(draw.normal() * (i == 5 || i == 80 || i == 150 ? 20.0f : 1.0f));
    sides.push_back({.parts = {std::move(tensor)}});
  }
  const Fp8Model model(GetParam());
  double errors[2] = {};
  for (const bool rotated : {false, true}) {
    std::vector<std::vector<float>> values[2];
    for (int side = 0; side < 2; ++side) {
      Call call{.target = GetParam(), .options = {.dynamic = true, .rotation = rotated ? 9u : 0u}};
      const auto result = quantize(**device, call, sides[side]);
      ASSERT_TRUE(result) << result.status().message();
      for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<float> &made = values[side].emplace_back();
        for (std::int64_t i = 0; i < dim; ++i)
          made.push_back(static_cast<float>(model.decode(result->y.at<std::uint8_t>(row, 0)[i])) *
                         result->descale[0]);
      }
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < rows; ++j) {
        const double error =
            dot(values[0][i], values[1][j]) - dot(sides[0].row(i, 0, 0), sides[1].row(j, 0, 0));
        errors[rotated] += error * error;
      }
  }
  EXPECT_LT(std::sqrt(errors[1]) * 2, std::sqrt(errors[0]));
}

INSTANTIATE_TEST_SUITE_P(Targets, Quantize, ::testing::Values("gfx942", "gfx950"));

TEST(Rotation, OfQueriesAndKeysMustAgree) {
  const QuantizeOptions one{.rotation = 1}, two{.rotation = 2}, none{};
  const KernelSpec q = quantizeSpec("gfx942", 192, one);
  EXPECT_TRUE(checkSameRotation(q, quantizeConcatSpec("gfx942", one)).isOk());
  for (const QuantizeOptions &other : {two, none}) {
    const Status refused = checkSameRotation(q, quantizeConcatSpec("gfx942", other));
    EXPECT_EQ(refused.code(), StatusCode::InvalidArgument);
    EXPECT_NE(refused.message().find("rotation=1"), std::string::npos);
    EXPECT_NE(refused.message().find(fmt::format("rotation={}", other.rotation)),
              std::string::npos);
  }
}

TEST(KernelGrid, RefusesWhatIsOutOfBounds) {
  const KernelSpec spec = quantizeSpec("gfx942", 192, {});
  EXPECT_EQ(rowGrid(spec, 65, 3)->x, 3u);
  EXPECT_EQ(rowGrid(spec, 65, 3)->y, 3u);
  EXPECT_FALSE(rowGrid(spec, -1, 3));
  EXPECT_FALSE(rowGrid(spec, (std::int64_t{1} << 24) + 1, 3));
  EXPECT_FALSE(rowGrid(spec, 1, 129));
}

} // namespace
} // namespace wavesmith::testing
