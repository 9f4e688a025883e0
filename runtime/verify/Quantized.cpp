#include "runtime/verify/Quantized.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include "runtime/spec/Rotation.h"
#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"
#include "runtime/verify/Parallel.h"
#include "runtime/verify/Reference.h"

namespace wavesmith {
namespace {

std::vector<double> rotatedRow(const HostTensor &input, DType dtype, std::int64_t row,
                               std::int64_t head, std::uint32_t seed) {
  std::vector<double> values(static_cast<std::size_t>(input.shape().dim));
  const auto *bits = input.at<std::uint16_t>(row, head);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double{elementToFloat(dtype, bits[i])};
  rotateRow(values, seed);
  return values;
}

/// A sum of up to 128 terms of float32, each no larger than the row's largest, and two roundings.
constexpr double kArithmetic = 128 * 0x1p-24;

} // namespace

void rotateRow(std::span<double> row, std::uint32_t seed) {
  if (seed == 0)
    return;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (rotationNegates(seed, static_cast<std::uint32_t>(i)))
      row[i] = -row[i];
  for (std::span<double> rest = row; !rest.empty();) {
    const std::size_t size = std::bit_floor(rest.size());
    const std::span<double> block = rest.first(size);
    for (std::size_t half = 1; half < size; half *= 2)
      for (std::size_t i = 0; i < size; ++i)
        if ((i & half) == 0) {
          const double low = block[i], high = block[i + half];
          block[i] = low + high;
          block[i + half] = low - high;
        }
    for (double &value : block)
      value /= std::sqrt(static_cast<double>(size));
    rest = rest.subspan(size);
  }
}

std::vector<float> descalesOf(const HostTensor &input, DType dtype, std::uint32_t rotation,
                              bool shared, Fp8Format format) {
  const TensorShape &shape = input.shape();
  std::vector<std::atomic<double>> largest(shared ? 1 : static_cast<std::size_t>(shape.heads));
  parallelFor(shape.rows, [&](std::int64_t row) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      std::atomic<double> &most = largest[static_cast<std::size_t>(shared ? 0 : head)];
      for (const double value : rotatedRow(input, dtype, row, head, rotation)) {
        const double magnitude = std::abs(value);
        for (double seen = most;
             magnitude > seen && !most.compare_exchange_weak(seen, magnitude);) {
        }
      }
    }
  });
  std::vector<float> descales;
  for (const std::atomic<double> &most : largest)
    descales.push_back(most > 0 ? static_cast<float>(most / fp8Largest(format)) : 1.0f);
  return descales;
}

CodeReport compareCodes(const HostTensor &input, DType dtype, std::uint32_t rotation,
                        Fp8Format format, const HostTensor &codes,
                        const std::vector<float> &descales) {
  std::array<double, 256> valueOf{};
  for (std::size_t code = 0; code < valueOf.size(); ++code)
    valueOf[code] = fp8ToDouble(format, static_cast<std::uint8_t>(code));
  const TensorShape &shape = input.shape();
  CodeReport report;
  report.elements = shape.rows * shape.heads * shape.dim;
  /// Of each row, so that the sums do not depend on threads.
  struct Row {
    double errors = 0, squares = 0;
    std::int64_t wrong = 0, firstHead = 0;
  };
  std::vector<Row> rows(static_cast<std::size_t>(shape.rows));
  parallelFor(shape.rows, [&](std::int64_t index) {
    Row &row = rows[static_cast<std::size_t>(index)];
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      const std::vector<double> values = rotatedRow(input, dtype, index, head, rotation);
      const double descale = Descales::at(descales, head);
      const auto *made8 = codes.at<std::uint8_t>(index, head);
      double largest = 0;
      for (const double value : values)
        largest = std::max(largest, std::abs(value));
      const double slack = kArithmetic * largest / descale;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double exact = values[i] / descale;
        const double made = valueOf[made8[i]], nearest = valueOf[doubleToFp8(format, exact)];
        // Not "a > b": a NaN among the codes is wrong.
        if (!(std::abs(exact - made) <= std::abs(exact - nearest) + slack) && row.wrong++ == 0)
          row.firstHead = head;
        const double error = made * descale - values[i];
        row.errors += error * error;
        row.squares += values[i] * values[i];
      }
    }
  });
  double errors = 0, squares = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors += rows[i].errors;
    squares += rows[i].squares;
    if (rows[i].wrong > 0 && report.wrong == 0)
      report.first = {-1, static_cast<std::int64_t>(i), rows[i].firstHead};
    report.wrong += rows[i].wrong;
  }
  report.relRms = squares > 0 ? std::sqrt(errors / squares) : std::sqrt(errors);
  return report;
}

} // namespace wavesmith
