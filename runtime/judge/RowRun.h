#pragma once
// Launching a row kernel on the emulator: what its verification calls share. One thread.

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/dispatch/RowKernel.h"
#include "runtime/verify/HostTensor.h"

namespace wavesmith::judge {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr std::byte kCanary{0xa5}, kNan{0xff};

/// Draws the same on every host.
class Draw {
public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  float normal();
  bool oneIn(std::uint64_t n);

private:
  std::uint64_t seed_, next_ = 0;
};

class RowRun {
public:
  static Expected<std::unique_ptr<RowRun>>
  open(const KernelSpec &spec, const SharedCodeObject &object, const std::string &order);

  const KernelSpec &spec() const { return kernel_->spec(); }
  /// The value of a parameter of the spec.
  std::string parameter(std::string_view name) const;

  Expected<DeviceBuffer> upload(std::span<const std::byte> bytes) const;
  template <typename T> Expected<DeviceBuffer> upload(const std::vector<T> &values) const {
    return upload(std::as_bytes(std::span(values)));
  }
  /// Launches, waits, and gives the faults of all checks as an error.
  template <typename Arguments> Status run(const KernelGrid &grid, const Arguments &arguments) {
    WAVESMITH_TRY(kernel_->launch(grid, arguments, stream_.get()));
    return finish();
  }

private:
  Status finish();

  HipTablePtr table_;
  Stream stream_;
  std::optional<LoadedKernel> kernel_;
};

/// A shape with gaps of `padding` elements between heads and rows.
TensorShape paddedShape(std::int64_t tokens, std::int64_t heads, std::int64_t dim, int bytes,
                        std::int64_t padding);
/// An element of a tensor of bf16, f16 or f32.
float load(const HostTensor &from, std::string_view element, std::int64_t token, std::int64_t head,
           std::int64_t i);
void store(HostTensor &to, std::string_view element, std::int64_t token, std::int64_t head,
           std::int64_t i, float value);
/// Half a step of such an element at a value, of which only f16 has subnormal ones that matter.
double halfStep(std::string_view element, double value);
/// Where a tensor's first element is on the device.
inline std::uint64_t originOf(const DeviceBuffer &buffer) {
  return buffer.address() + static_cast<std::uint64_t>(HostTensor::originOffset());
}
/// A VerificationFailed that says where.
template <typename... Args> Status wrong(fmt::format_string<Args...> format, Args &&...args) {
  return Status(StatusCode::VerificationFailed, fmt::format(format, std::forward<Args>(args)...));
}

/// One call of each kind of kernel: `variant` 0 is a single token, 1 has ragged tails and gaps.
Status verifyCombine(RowRun &run, int variant);
Status verifyMerge(RowRun &run, int variant);
Status verifyQuantizer(RowRun &run, int variant); ///< quantize and quantize_concat
Status verifyAmax(RowRun &run, int variant);
Status verifyHistogram(RowRun &run, int variant);
Status verifyWorkList(RowRun &run, int variant);

} // namespace wavesmith::judge
