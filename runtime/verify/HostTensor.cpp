#include "runtime/verify/HostTensor.h"

#include <algorithm>
#include <cstring>

#include "runtime/verify/BFloat16.h"
#include "runtime/verify/Parallel.h"
#include "runtime/verify/Random.h"

namespace wavesmith {

HostTensor::HostTensor(const TensorShape &shape, std::byte fill)
    : shape_(shape), fill_(fill),
      bytes_(static_cast<std::size_t>(shape.extentBytes() + 2 * kGuardBytes), fill) {}

void HostTensor::fillNormalBf16(std::uint64_t seed, std::uint64_t stream) {
  const std::int64_t pairs = (shape_.dim + 1) / 2;
  parallelFor(shape_.rows, [&](std::int64_t row) {
    for (std::int64_t head = 0; head < shape_.heads; ++head) {
      auto *to = at<std::uint16_t>(row, head);
      // Head count and row stay in the counter's place, so a prefix of a batch keeps its data.
      const std::int64_t base = (row * shape_.heads + head) * pairs;
      for (std::int64_t i = 0; i < pairs; ++i) {
        const NormalPair pair = randomNormals(seed, stream, static_cast<std::uint64_t>(base + i));
        to[2 * i] = doubleToBf16(pair.first);
        if (2 * i + 1 < shape_.dim)
          to[2 * i + 1] = doubleToBf16(pair.second);
      }
    }
  });
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
