#include "runtime/verify/HostTensor.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"
#include "runtime/verify/Parallel.h"
#include "runtime/verify/Random.h"

namespace wavesmith {

HostTensor::HostTensor(const TensorShape &shape, std::byte fill)
    : shape_(shape), fill_(fill),
      bytes_(static_cast<std::size_t>(shape.extentBytes() + 2 * kGuardBytes), fill) {}

template <typename Put>
void HostTensor::forNormals(std::uint64_t seed, std::uint64_t stream, const Put &put) const {
  const std::int64_t pairs = (shape_.dim + 1) / 2;
  parallelFor(shape_.rows, [&](std::int64_t row) {
    for (std::int64_t head = 0; head < shape_.heads; ++head) {
      // Head count and row stay in the counter's place, so a prefix of a batch keeps its data.
      const std::int64_t base = (row * shape_.heads + head) * pairs;
      for (std::int64_t i = 0; i < pairs; ++i) {
        const NormalPair pair = randomNormals(seed, stream, static_cast<std::uint64_t>(base + i));
        put(row, head, 2 * i, pair.first);
        if (2 * i + 1 < shape_.dim)
          put(row, head, 2 * i + 1, pair.second);
      }
    }
  });
}

void HostTensor::fillNormal(DType dtype, std::uint64_t seed, std::uint64_t stream) {
  forNormals(seed, stream,
             [&](std::int64_t row, std::int64_t head, std::int64_t element, double value) {
               at<std::uint16_t>(row, head)[element] = doubleToElement(dtype, value);
             });
}

std::vector<float> HostTensor::fillNormalFp8(Fp8Format format, bool shared, std::uint64_t seed,
                                             std::uint64_t stream) {
  // Drawn twice rather than kept: tensors may take most of the memory.
  const auto groupOf = [&](std::int64_t head) {
    return static_cast<std::size_t>(shared ? 0 : head);
  };
  std::vector<std::atomic<double>> largest(shared ? 1 : static_cast<std::size_t>(shape_.heads));
  forNormals(seed, stream, [&](std::int64_t, std::int64_t head, std::int64_t, double value) {
    std::atomic<double> &most = largest[groupOf(head)];
    const double magnitude = std::abs(value);
    for (double seen = most; magnitude > seen && !most.compare_exchange_weak(seen, magnitude);) {
    }
  });
  std::vector<float> descales;
  for (const std::atomic<double> &most : largest)
    descales.push_back(most > 0 ? static_cast<float>(most / fp8Largest(format)) : 1.0f);
  forNormals(seed, stream,
             [&](std::int64_t row, std::int64_t head, std::int64_t element, double value) {
               const double descale = descales[groupOf(head)];
               at<std::uint8_t>(row, head)[element] = doubleToFp8(format, value / descale);
             });
  return descales;
}

std::vector<std::byte> HostTensor::elements() const {
  const auto width = static_cast<std::size_t>(shape_.dim * shape_.elementBytes);
  std::vector<std::byte> packed;
  packed.reserve(width * static_cast<std::size_t>(shape_.rows * shape_.heads));
  for (std::int64_t row = 0; row < shape_.rows; ++row)
    for (std::int64_t head = 0; head < shape_.heads; ++head) {
      const std::byte *first = bytes_.data() + offsetOf(row, head);
      packed.insert(packed.end(), first, first + width);
    }
  return packed;
}

std::optional<std::string> HostTensor::findDamage(std::string_view name) const {
  // Paint the elements over in a copy; what is left must be the fill.
  std::vector<std::byte> copy = bytes_;
  const auto width = static_cast<std::size_t>(shape_.dim * shape_.elementBytes);
  for (std::int64_t row = 0; row < shape_.rows; ++row)
    for (std::int64_t head = 0; head < shape_.heads; ++head)
      std::memset(copy.data() + offsetOf(row, head), static_cast<int>(fill_), width);
  const auto bad = std::ranges::find_if(copy, [&](std::byte b) { return b != fill_; });
  if (bad == copy.end())
    return std::nullopt;
  const std::int64_t offset = bad - copy.begin() - kGuardBytes;
  const std::int64_t stride = shape_.rowStride * shape_.elementBytes;
  std::string where;
  if (offset < 0)
    where = fmt::format("{} bytes before the tensor", -offset);
  else if (offset >= shape_.extentBytes())
    where = fmt::format("{} bytes after the tensor", offset - shape_.extentBytes());
  else if (stride > 0)
    where = fmt::format("in the padding of row {}, byte {}", offset / stride, offset % stride);
  else
    where = fmt::format("in the padding at byte {}", offset);
  return fmt::format("{}: canary overwritten {} (0x{:02x} instead of 0x{:02x})", name, where,
                     static_cast<int>(*bad), static_cast<int>(fill_));
}

} // namespace wavesmith
