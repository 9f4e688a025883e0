// quantize, quantize_concat, amax and histogram, bit for bit against the scalar model.

#include <algorithm>
#include <bit>
#include <charconv>

#include "runtime/judge/QuantizeModel.h"
#include "runtime/judge/RowRun.h"
#include "runtime/spec/MagnitudeClasses.h"

namespace wavesmith::judge {
namespace {

std::uint32_t number(const std::string &text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The inputs of one call; the second part of a concatenated row is shared by all heads.
struct Inputs {
  std::string element;
  std::vector<HostTensor> parts;
  std::vector<DeviceBuffer> buffers;
  std::int64_t tokens, heads;

  Inputs(std::string elementName, std::vector<std::int64_t> dims, int variant)
      : element(std::move(elementName)), tokens(variant == 0 ? 1 : 67),
        heads(variant == 0 ? 1 : 3) {
    const int bytes = element == "f32" ? 4 : 2;
    Draw draw(31 + static_cast<std::uint64_t>(variant));
    for (const std::int64_t dim : dims) {
      const std::int64_t own = parts.empty() ? heads : 1;
      HostTensor &part =
          parts.emplace_back(paddedShape(tokens, own, dim, bytes, variant == 0 ? 0 : 16), kNan);
      for (std::int64_t token = 0; token < tokens; ++token)
        for (std::int64_t head = 0; head < own; ++head)
          for (std::int64_t i = 0; i < dim; ++i)
            store(part, element, token, head, i, draw.normal() * (draw.oneIn(50) ? 300.0f : 1.0f));
    }
  }

  float get(std::size_t part, std::int64_t token, std::int64_t head, std::int64_t i) const {
    return load(parts[part], element, token, part == 0 ? head : 0, i);
  }
  std::vector<float> row(std::int64_t token, std::int64_t head, std::uint32_t seed,
                         int firstColumn) const {
    std::vector<float> values;
    for (std::size_t part = 0; part < parts.size(); ++part)
      for (std::int64_t i = 0; i < parts[part].shape().dim; ++i)
        values.push_back(get(part, token, head, i));
    if (seed != 0)
      rotateModel(values, seed, firstColumn);
    return values;
  }
  std::int64_t dim() const {
    std::int64_t sum = 0;
    for (const HostTensor &part : parts)
      sum += part.shape().dim;
    return sum;
  }
  Status upload(const RowRun &run) {
    for (HostTensor &part : parts) {
      WAVESMITH_ASSIGN(DeviceBuffer buffer, run.upload(part.bytes()));
      buffers.push_back(std::move(buffer));
    }
    return Status::ok();
  }
  std::int64_t rowBytes(std::size_t part) const {
    return parts[part].shape().rowStride * parts[part].shape().elementBytes;
  }
  std::int64_t headBytes(std::size_t part) const {
    return part == 0 ? parts[part].shape().headStride * parts[part].shape().elementBytes : 0;
  }
};

std::vector<float> largestOf(const Inputs &inputs, std::uint32_t seed, int firstColumn) {
  std::vector<float> largest(static_cast<std::size_t>(inputs.heads), 0.0f);
  for (std::int64_t head = 0; head < inputs.heads; ++head)
    for (std::int64_t token = 0; token < inputs.tokens; ++token)
      for (const float value : inputs.row(token, head, seed, firstColumn))
        largest[static_cast<std::size_t>(head)] =
            std::max(largest[static_cast<std::size_t>(head)], std::abs(value));
  return largest;
}

} // namespace

Status verifyAmax(RowRun &run, int variant) {
  const std::uint32_t seed = number(run.parameter("rotation"));
  const int firstColumn = static_cast<int>(number(run.parameter("first_column")));
  Inputs inputs(run.parameter("input"), {number(run.parameter("head_dim"))}, variant);
  WAVESMITH_TRY(inputs.upload(run));
  std::vector<float> amax(static_cast<std::size_t>(inputs.heads), 0.0f);
  const std::vector<float> expected = largestOf(inputs, seed, firstColumn);
  WAVESMITH_ASSIGN(const DeviceBuffer dAmax, run.upload(amax));
  AmaxArguments a{};
  a.x = originOf(inputs.buffers[0]);
  a.xRowStride = inputs.rowBytes(0);
  a.xHeadStride = inputs.headBytes(0);
  a.amax = dAmax.address();
  a.amaxHeadStride = sizeof(float);
  a.tokens = static_cast<std::int32_t>(inputs.tokens);
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(run.spec(), inputs.tokens, inputs.heads));
  WAVESMITH_TRY(run.run(grid, a));
  WAVESMITH_TRY(dAmax.download(std::as_writable_bytes(std::span(amax))));
  for (std::size_t head = 0; head < amax.size(); ++head)
    if (amax[head] != expected[head])
      return wrong("amax of head {} is {}, want {}", head, amax[head], expected[head]);
  return Status::ok();
}

Status verifyHistogram(RowRun &run, int variant) {
  const std::uint32_t seed = number(run.parameter("rotation"));
  const int firstColumn = static_cast<int>(number(run.parameter("first_column")));
  Inputs inputs(run.parameter("input"), {number(run.parameter("head_dim"))}, variant);
  if (seed == 0) // Classes' ends, and what does not count.
    for (std::int64_t i = 0;
         const float value : {0.0f, -0x1p-21f, 0x1p-20f, -0x1.2p-20f, 0x1p-30f, -1.0f, 0x1.cp11f,
                              0x1.ep11f, -0x1p15f, kInf, -kInf, std::nanf("")})
      store(inputs.parts[0], inputs.element, 0, 0, i++, value);
  WAVESMITH_TRY(inputs.upload(run));
  // What is there grows.
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(inputs.heads * kMagnitudeClasses), 3);
  std::vector<std::uint64_t> expected = counts;
  for (std::int64_t head = 0; head < inputs.heads; ++head)
    for (std::int64_t token = 0; token < inputs.tokens; ++token)
      for (const float value : inputs.row(token, head, seed, firstColumn))
        if (std::isfinite(value))
          ++expected[static_cast<std::size_t>(head * kMagnitudeClasses + magnitudeClass(value))];
  WAVESMITH_ASSIGN(const DeviceBuffer dCounts, run.upload(counts));
  HistogramArguments a{};
  a.x = originOf(inputs.buffers[0]);
  a.xRowStride = inputs.rowBytes(0);
  a.xHeadStride = inputs.headBytes(0);
  a.counts = dCounts.address();
  a.countsHeadStride = kMagnitudeClasses * sizeof(std::uint64_t);
  a.tokens = static_cast<std::int32_t>(inputs.tokens);
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(run.spec(), inputs.tokens, inputs.heads));
  WAVESMITH_TRY(run.run(grid, a));
  WAVESMITH_TRY(dCounts.download(std::as_writable_bytes(std::span(counts))));
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != expected[i])
      return wrong("class {} of head {} counts {}, want {}", i % kMagnitudeClasses,
                   i / kMagnitudeClasses, counts[i], expected[i]);
  return Status::ok();
}

Status verifyQuantizer(RowRun &run, int variant) {
  const bool concat = run.spec().row.kernel == "quantize_concat";
  const bool dynamic = run.parameter("dynamic") == "true";
  const std::uint32_t seed = number(run.parameter("rotation"));
  const Fp8Model model(run.spec().target);
  Inputs inputs(run.parameter("input"),
                concat ? std::vector<std::int64_t>{128, 64}
                       : std::vector<std::int64_t>{number(run.parameter("head_dim"))},
                variant);
  WAVESMITH_TRY(inputs.upload(run));
  // Given ones saturate now and then; dynamic ones are written from the maxima.
  const std::vector<float> largest = largestOf(inputs, seed, 0);
  std::vector<float> descale, expectedDescale;
  for (const float value : largest) {
    descale.push_back(dynamic ? std::nanf("") : value / model.largest() * 0.37f);
    expectedDescale.push_back(dynamic ? std::max(value / model.largest(), 0x1p-126f)
                                      : descale.back());
  }
  std::vector<std::uint64_t> saturated(descale.size(), 7);
  HostTensor y(paddedShape(inputs.tokens, inputs.heads, inputs.dim(), 1, variant == 0 ? 0 : 16),
               kCanary);
  WAVESMITH_ASSIGN(const DeviceBuffer dY, run.upload(y.bytes()));
  WAVESMITH_ASSIGN(const DeviceBuffer dDescale, run.upload(descale));
  WAVESMITH_ASSIGN(const DeviceBuffer dAmax, run.upload(largest));
  WAVESMITH_ASSIGN(const DeviceBuffer dSaturated, run.upload(saturated));
  const auto fill = [&](auto &a) {
    a.y = originOf(dY);
    a.yRowStride = y.shape().rowStride;
    a.yHeadStride = y.shape().headStride;
    a.descale = dDescale.address();
    a.descaleHeadStride = sizeof(float);
    a.amax = dynamic ? dAmax.address() : 0;
    a.amaxHeadStride = sizeof(float);
    a.saturated = dSaturated.address();
    a.saturatedHeadStride = sizeof(std::uint64_t);
    a.tokens = static_cast<std::int32_t>(inputs.tokens);
  };
  WAVESMITH_ASSIGN(const KernelGrid grid, rowGrid(run.spec(), inputs.tokens, inputs.heads));
  if (concat) {
    QuantizeConcatArguments a{};
    a.nope = originOf(inputs.buffers[0]);
    a.nopeRowStride = inputs.rowBytes(0);
    a.nopeHeadStride = inputs.headBytes(0);
    a.rope = originOf(inputs.buffers[1]);
    a.ropeRowStride = inputs.rowBytes(1);
    a.ropeHeadStride = inputs.headBytes(1);
    fill(a);
    WAVESMITH_TRY(run.run(grid, a));
  } else {
    QuantizeArguments a{};
    a.x = originOf(inputs.buffers[0]);
    a.xRowStride = inputs.rowBytes(0);
    a.xHeadStride = inputs.headBytes(0);
    fill(a);
    WAVESMITH_TRY(run.run(grid, a));
  }
  WAVESMITH_TRY(dY.download(y.bytes()));
  WAVESMITH_TRY(dDescale.download(std::as_writable_bytes(std::span(descale))));
  WAVESMITH_TRY(dSaturated.download(std::as_writable_bytes(std::span(saturated))));
  for (std::int64_t head = 0; head < inputs.heads; ++head) {
    const auto h = static_cast<std::size_t>(head);
    if (descale[h] != expectedDescale[h])
      return wrong("descale of head {} is {}, want {}", head, descale[h], expectedDescale[h]);
    std::uint64_t expectedSaturated = 7;
    const float inverse = 1.0f / expectedDescale[h];
    for (std::int64_t token = 0; token < inputs.tokens; ++token) {
      const std::vector<float> row = inputs.row(token, head, seed, 0);
      for (std::size_t i = 0; i < row.size(); ++i) {
        const float scaled = row[i] * inverse;
        expectedSaturated += model.saturates(scaled);
        const std::uint8_t code = y.at<std::uint8_t>(token, head)[i];
        if (code != model.encode(scaled))
          return wrong("token {} head {} element {} is {:#04x}, want {:#04x}", token, head, i, code,
                       model.encode(scaled));
      }
    }
    if (saturated[h] != expectedSaturated)
      return wrong("head {} counts {} saturated elements, want {}", head, saturated[h],
                   expectedSaturated);
  }
  if (const auto damage = y.findDamage("y"))
    return wrong("{}", *damage);
  return Status::ok();
}

} // namespace wavesmith::judge
