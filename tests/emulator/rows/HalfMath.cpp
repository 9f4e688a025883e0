#include "tests/emulator/rows/HalfMath.h"

#include <cmath>

namespace wavesmith::emulator::rows {
namespace {

using Wide = unsigned __int128;

bool signalling(Half x) { return isNanBits(Type::F16, x.bits) && !(x.bits & 0x200); }
Half pick(Half a, Half b, bool ieee, bool less) {
  if (ieee && (signalling(a) || signalling(b)))
    return {0x7e00};
  double x = number(a), y = number(b);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) ? b : a;
  if (x == y)
    return std::signbit(x) == less ? a : b;
  return (x < y) == less ? a : b;
}
/// The magnitude of a finite float16 in units of 2^-24.
u64 units(Half x) { return static_cast<u64>(std::ldexp(std::fabs(number(x)), 24)); }

} // namespace

Half lesser(Half a, Half b, bool ieee) { return pick(a, b, ieee, true); }
Half greater(Half a, Half b, bool ieee) { return pick(a, b, ieee, false); }

Half multiplyAdd(Half a, Half b, Half c) {
  return half(number(half(number(a) * number(b))) + number(c));
}

Half fused(Half a, Half b, Half c) {
  double x = number(a), y = number(b), z = number(c);
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z) || x * y == 0)
    return half(x * y + z);
  // The exact sum in units of 2^-48, as sign and magnitude.
  bool productNegative = (x < 0) != (y < 0), addendNegative = z < 0;
  Wide p = Wide{units(a)} * units(b), q = Wide{units(c)} << 24;
  bool negative = p >= q ? productNegative : addendNegative;
  Wide sum = productNegative == addendNegative ? p + q : (p >= q ? p - q : q - p);
  // 53 bits of it; those cut off show in the lowest one, which decides no tie of float16.
  int exponent = -48;
  for (; sum >> 53; ++exponent)
    sum = (sum >> 1) | (sum & 1);
  double value = std::ldexp(static_cast<double>(static_cast<u64>(sum)), exponent);
  return half(negative && sum ? -value : value);
}

} // namespace wavesmith::emulator::rows
