#include "tests/emulator/conversion/ScalarModel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wavesmith::emulator::model {
namespace {

struct Shape {
  int exponent, mantissa, bias;
  bool fnuz, infinity;
  bool finite = false; ///< neither infinity nor NaN: what overflows is the largest number
};
Shape shapeOf(Format format) {
  switch (format) {
  case Format::F16:
    return {5, 10, 15, false, true};
  case Format::Bf16:
    return {8, 7, 127, false, true};
  case Format::Fp8Fnuz:
    return {4, 3, 8, true, false};
  case Format::Bf8Fnuz:
    return {5, 2, 16, true, false};
  case Format::Fp8Ocp:
    return {4, 3, 7, false, false};
  case Format::Fp6:
    return {2, 3, 1, false, false, true};
  case Format::Bf6:
    return {3, 2, 3, false, false, true};
  case Format::Fp4:
    return {2, 1, 1, false, false, true};
  default:
    return {5, 2, 15, false, true};
  }
}

/// The finite values without sign, by code.
const std::vector<double> &magnitudes(Format format) {
  static std::vector<double> tables[9];
  std::vector<double> &table = tables[static_cast<int>(format)];
  for (std::uint32_t code = static_cast<std::uint32_t>(table.size());; ++code) {
    if (code >= 1u << (bitsOf(format) - 1) || isNanCode(format, code) ||
        std::isinf(decode(format, code)))
      return table;
    table.push_back(decode(format, code));
  }
}

} // namespace

int bitsOf(Format format) {
  Shape shape = shapeOf(format);
  return 1 + shape.exponent + shape.mantissa;
}

bool isNanCode(Format format, std::uint32_t code) {
  Shape shape = shapeOf(format);
  std::uint32_t body = code & ((1u << (shape.exponent + shape.mantissa)) - 1);
  if (shape.finite)
    return false;
  if (shape.fnuz)
    return body == 0 && code != 0;
  std::uint32_t top = ((1u << shape.exponent) - 1) << shape.mantissa;
  return shape.infinity ? body > top : body == top + (1u << shape.mantissa) - 1;
}

double decode(Format format, std::uint32_t code) {
  Shape shape = shapeOf(format);
  if (isNanCode(format, code))
    return std::numeric_limits<double>::quiet_NaN();
  int exponent = static_cast<int>(code >> shape.mantissa) & ((1 << shape.exponent) - 1);
  int mantissa = static_cast<int>(code) & ((1 << shape.mantissa) - 1);
  double value;
  if (shape.infinity && exponent == (1 << shape.exponent) - 1)
    value = std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - shape.bias - shape.mantissa);
  else
    value = std::ldexp(mantissa + (1 << shape.mantissa), exponent - shape.bias - shape.mantissa);
  return (code >> (shape.exponent + shape.mantissa)) & 1 ? -value : value;
}

namespace {

/// What overflow and NaN give.
std::uint32_t special(Format format, bool negative, bool isNan, bool saturate) {
  Shape shape = shapeOf(format);
  int bits = shape.exponent + shape.mantissa;
  std::uint32_t sign = negative ? 1u << bits : 0;
  auto largest = static_cast<std::uint32_t>(magnitudes(format).size() - 1);
  if (shape.finite || (saturate && !isNan))
    return sign | largest;
  std::uint32_t nan = shape.fnuz ? 1u << bits : sign | ((1u << bits) - 1);
  return shape.infinity && !isNan ? sign | (largest + 1) : nan;
}

} // namespace

std::uint32_t encodeNoisy(Format format, double value, std::uint32_t noise, bool saturate) {
  Shape shape = shapeOf(format);
  const std::vector<double> &table = magnitudes(format);
  bool negative = std::signbit(value);
  double x = std::fabs(value), last = table.back() - table[table.size() - 2];
  if (std::isnan(value) || x >= table.back() + last)
    return special(format, negative, std::isnan(value), saturate);
  auto code = static_cast<std::uint32_t>(std::upper_bound(table.begin(), table.end(), x) -
                                         table.begin() - 1);
  double step = code + 1 < table.size() ? table[code + 1] - table[code] : last;
  // Both sides are exact.
  code += (x - table[code]) / step >= 1 - std::ldexp(noise, -32);
  if (code >= table.size())
    return special(format, negative, false, saturate);
  std::uint32_t sign = negative ? 1u << (shape.exponent + shape.mantissa) : 0;
  return shape.fnuz && code == 0 ? 0 : sign | code;
}

std::uint32_t encode(Format format, double value, Rounding rounding, bool saturate) {
  Shape shape = shapeOf(format);
  const std::vector<double> &table = magnitudes(format);
  std::uint32_t sign = std::signbit(value) ? 1u << (shape.exponent + shape.mantissa) : 0;
  auto largest = static_cast<std::uint32_t>(table.size() - 1);
  if (std::isnan(value))
    return special(format, sign != 0, true, saturate);
  double x = std::fabs(value);
  // What comes after the largest would be half a step further.
  double limit = table[largest] + (table[largest] - table[largest - 1]) / 2;
  bool tieUp = largest % 2 == 1;
  bool away = rounding == (sign ? Rounding::Down : Rounding::Up);
  bool overflows = rounding == Rounding::Nearest ? x > limit || (x == limit && tieUp)
                                                 : away && x > table[largest];
  if (overflows || std::isinf(x))
    return special(format, sign != 0, false, saturate);
  auto above =
      static_cast<std::uint32_t>(std::upper_bound(table.begin(), table.end(), x) - table.begin());
  std::uint32_t code = above - 1;
  if (rounding == Rounding::Nearest && above < table.size()) {
    double down = x - table[code], up = table[above] - x;
    if (up < down || (up == down && code % 2 == 1))
      code = above;
  }
  if (away && above < table.size() && x > table[code])
    code = above;
  // FNUZ has one zero.
  return shape.fnuz && code == 0 ? 0 : sign | code;
}

std::vector<float> boundaries(Format format) {
  std::vector<float> points;
  const std::vector<double> &table = magnitudes(format);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  auto add = [&](double x) {
    auto point = static_cast<float>(x);
    for (float y : {point, std::nextafter(point, 0.0f), std::nextafter(point, kInfinity)}) {
      points.push_back(y);
      points.push_back(-y);
    }
  };
  for (std::size_t i = 0; i < table.size(); ++i) {
    add(table[i]);
    double step = i ? table[i] - table[i - 1] : table[1];
    add((i + 1 < table.size() ? table[i] + table[i + 1] : 2 * table[i] + step) / 2);
  }
  for (float x : {kInfinity, 1e-45f, 1e-38f, 1.17549435e-38f, 3.4e38f, 65504.0f, 65520.0f, 4.3e9f,
                  2147483648.0f, 4294967296.0f, 0.5f, 1.5f, 2.5f})
    add(x);
  return points;
}

} // namespace wavesmith::emulator::model
