#pragma once
// A tensor in host memory with everything around its elements: gaps between heads and rows, guard
// bytes before and after. Inputs get NaN there, outputs canaries, which are checked afterwards.
// Owns its bytes; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/dispatch/AttentionProblem.h"

namespace wavesmith {

/// Guard bytes on both sides; a multiple of every alignment that kernels want.
inline constexpr std::int64_t kGuardBytes = 256;

class HostTensor {
public:
  HostTensor() = default;
  /// Every byte outside elements (and, until written, the elements) has the value `fill`; 0xff is
  /// a NaN in bf16, f16, float32 and OCP e4m3 (in e4m3 fnuz only 0x80 is).
  HostTensor(const TensorShape &shape, std::byte fill);

  const TensorShape &shape() const { return shape_; }
  /// The allocation as it goes to the device: guard, tensor, guard.
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Where element (0, 0, 0) is in bytes().
  static constexpr std::int64_t originOffset() { return kGuardBytes; }

  template <typename T> T *at(std::int64_t row, std::int64_t head) {
    return reinterpret_cast<T *>(bytes_.data() + offsetOf(row, head));
  }
  template <typename T> const T *at(std::int64_t row, std::int64_t head) const {
    return reinterpret_cast<const T *>(bytes_.data() + offsetOf(row, head));
  }

  /// Standard-normal bf16 or f16 elements; the same for a (row, head, element) whatever the strides
  /// are.
  void fillNormal(DType dtype, std::uint64_t seed, std::uint64_t stream);
  /// Standard-normal values divided by a descale and rounded to FP8. The descale of a head, or of
  /// all if shared, puts its largest value at the format's largest. Returns the descales.
  std::vector<float> fillNormalFp8(Fp8Format format, bool shared, std::uint64_t seed,
                                   std::uint64_t stream);
  /// The elements, row by row and head by head, without what lies between them.
  std::vector<std::byte> elements() const;
  /// The first byte outside of the elements that differs from the fill, as a sentence.
  std::optional<std::string> findDamage(std::string_view name) const;

private:
  /// Calls put(row, head, element, value) for every element, rows in parallel.
  template <typename Put>
  void forNormals(std::uint64_t seed, std::uint64_t stream, const Put &put) const;
  std::size_t offsetOf(std::int64_t row, std::int64_t head) const {
    return static_cast<std::size_t>(
        kGuardBytes + (row * shape_.rowStride + head * shape_.headStride) * shape_.elementBytes);
  }

  TensorShape shape_;
  std::byte fill_{};
  std::vector<std::byte> bytes_;
};

} // namespace wavesmith
