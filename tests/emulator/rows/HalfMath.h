#pragma once
// float16 operations that several families share. Plain functions.

#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {

/// A signalling NaN wins in IEEE mode, one quiet NaN loses, -0 is below +0.
Half lesser(Half a, Half b, bool ieee);
Half greater(Half a, Half b, bool ieee);
/// With the product rounded, and without.
Half multiplyAdd(Half a, Half b, Half c);
Half fused(Half a, Half b, Half c);

} // namespace wavesmith::emulator::rows
