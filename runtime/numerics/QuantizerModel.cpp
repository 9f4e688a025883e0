#include "runtime/numerics/QuantizerModel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "runtime/numerics/Rounding.h"
#include "runtime/spec/Rotation.h"
#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"
#include "runtime/verify/Parallel.h"

namespace wavesmith {
namespace {

constexpr std::int64_t kMostElements = 256;
/// Rows that one task takes, so that its results are worth collecting.
constexpr std::int64_t kTaskRows = 256;

/// Signs, then an orthonormal Hadamard transform over each power of two that makes up the row, the
/// largest first, butterflies from neighbours to halves.
class Rotator {
public:
  Rotator(DType element, std::uint32_t seed, std::int64_t size)
      : element_(element), rotates_(seed != 0), size_(size) {
    assert(element != DType::FP8);
    for (std::int64_t i = 0; i < size; ++i)
      signs_[static_cast<std::size_t>(i)] =
          rotationNegates(seed, static_cast<std::uint32_t>(i)) ? 0x80000000 : 0;
  }

  void load(const std::uint16_t *bits, float *to) const {
    const auto unpack = [&](auto toFloat) {
      for (std::int64_t i = 0; i < size_; ++i)
        to[i] = toFloat(bits[i]);
    };
    if (element_ == DType::F16)
      unpack(halfToFloat);
    else
      unpack(bf16ToFloat);
    if (!rotates_)
      return;
    for (std::int64_t i = 0; i < size_; ++i)
      to[i] = hardware::floatOf(hardware::bitsOf(to[i]) ^ signs_[static_cast<std::size_t>(i)]);
    for (std::int64_t first = 0; first < size_;) {
      const auto block =
          static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size_ - first)));
      transform(to + first, block);
      first += block;
    }
  }

private:
  static void transform(float *x, std::int64_t size) {
    for (std::int64_t distance = 1; distance < size; distance *= 2)
      for (std::int64_t first = 0; first < size; first += 2 * distance)
        for (std::int64_t i = first; i < first + distance; ++i) {
          const float low = x[i], high = x[i + distance];
          x[i] = low + high;
          x[i + distance] = low - high;
        }
    const float scale = 1.0f / std::sqrt(static_cast<float>(size));
    for (std::int64_t i = 0; i < size; ++i)
      x[i] = x[i] * scale + 0.0f;
  }

  DType element_;
  bool rotates_;
  std::int64_t size_;
  std::array<std::uint32_t, kMostElements> signs_{};
};

/// Calls body(head, begin, end, rotator) for all rows [begin, end) of every head.
template <typename Body>
void forBlocks(const HostTensor &input, DType element, std::uint32_t rotation, const Body &body) {
  const TensorShape &shape = input.shape();
  const Rotator rotator(element, rotation, shape.dim);
  const std::int64_t blocks = (shape.rows + kTaskRows - 1) / kTaskRows;
  parallelFor(blocks * shape.heads, [&](std::int64_t task) {
    const std::int64_t begin = task / shape.heads * kTaskRows;
    body(task % shape.heads, begin, std::min(begin + kTaskRows, shape.rows), rotator);
  });
}

using Row = std::array<float, kMostElements>;

WAVESMITH_INLINE std::uint8_t codeOf(float value, Fp8Format format) {
  const int bias = fp8Bias(format);
  const auto largest = static_cast<float>(fp8Largest(format));
  const float leastNormal = format == Fp8Format::E4M3Fnuz ? 0x1p-7f : 0x1p-6f;
  const std::uint32_t bits = hardware::bitsOf(value);
  const float size = hardware::floatOf(bits & 0x7fffffff);
  const float rounded = numerics::roundedToFp8(size < largest ? size : largest, leastNormal);
  const std::uint32_t code =
      rounded < leastNormal
          ? static_cast<std::uint32_t>(rounded * (8 / leastNormal))
          : (hardware::bitsOf(rounded) >> 20) - (static_cast<std::uint32_t>(127 - bias) << 3);
  const bool fnuz = format == Fp8Format::E4M3Fnuz;
  const std::uint32_t sign = fnuz && code == 0 ? 0 : (bits >> 24) & 0x80;
  const std::uint32_t nan = fnuz ? 0x80 : 0x7f; // quantisers make one NaN of all
  return static_cast<std::uint8_t>(hardware::isNan(value) ? nan : code | sign);
}

} // namespace

std::vector<float> modelMaxima(const HostTensor &input, DType element, std::uint32_t rotation,
                               bool shared) {
  std::vector<std::atomic<std::uint32_t>> largest(
      static_cast<std::size_t>(shared ? 1 : input.shape().heads));
  forBlocks(input, element, rotation,
            [&](std::int64_t head, std::int64_t begin, std::int64_t end, const Rotator &rotator) {
              Row elements;
              std::uint32_t mine = 0; // magnitudes order like their bits
              for (std::int64_t row = begin; row < end; ++row) {
                rotator.load(input.at<std::uint16_t>(row, head), elements.data());
                for (std::int64_t i = 0; i < input.shape().dim; ++i) {
                  const std::uint32_t size =
                      hardware::bitsOf(elements[static_cast<std::size_t>(i)]) & 0x7fffffff;
                  mine = std::max(mine, size < 0x7f800000 ? size : 0);
                }
              }
              auto &all = largest[static_cast<std::size_t>(shared ? 0 : head)];
              std::uint32_t before = all;
              while (before < mine && !all.compare_exchange_weak(before, mine)) {
              }
            });
  std::vector<float> maxima;
  for (const std::atomic<std::uint32_t> &bits : largest)
    maxima.push_back(hardware::floatOf(bits));
  return maxima;
}

std::vector<float> modelDescales(std::span<const float> maxima, Fp8Format format) {
  std::vector<float> descales;
  for (const float maximum : maxima)
    descales.push_back(maximum == 0 ? 1.0f
                                    : std::max(maximum / static_cast<float>(fp8Largest(format)),
                                               std::numeric_limits<float>::min()));
  return descales;
}

ModelledCodes modelCodes(const HostTensor &input, DType element, std::uint32_t rotation,
                         Fp8Format format, std::span<const float> descales) {
  TensorShape shape = input.shape();
  shape.headStride = shape.dim;
  shape.rowStride = shape.dim * shape.heads;
  shape.elementBytes = 1;
  ModelledCodes result{.codes = HostTensor(shape, std::byte{fp8Nan(format)}),
                       .saturated =
                           std::vector<std::uint64_t>(static_cast<std::size_t>(shape.heads))};
  std::vector<std::atomic<std::uint64_t>> beyond(static_cast<std::size_t>(shape.heads));
  const auto largest = static_cast<float>(fp8Largest(format));
  const float most = largest * (1 + 0x1p-21f); // as templates/quantize.mlir says
  forBlocks(input, element, rotation,
            [&](std::int64_t head, std::int64_t begin, std::int64_t end, const Rotator &rotator) {
              const float inverse =
                  1.0f / descales[descales.size() == 1 ? 0 : static_cast<std::size_t>(head)];
              Row elements;
              std::uint64_t over = 0;
              for (std::int64_t row = begin; row < end; ++row) {
                rotator.load(input.at<std::uint16_t>(row, head), elements.data());
                auto *codes = result.codes.at<std::uint8_t>(row, head);
                for (std::int64_t i = 0; i < shape.dim; ++i) {
                  const float scaled = elements[static_cast<std::size_t>(i)] * inverse;
                  over += std::abs(scaled) > most;
                  codes[i] = codeOf(scaled, format);
                }
              }
              beyond[static_cast<std::size_t>(head)] += over;
            });
  std::ranges::copy(beyond, result.saturated.begin());
  return result;
}

} // namespace wavesmith
