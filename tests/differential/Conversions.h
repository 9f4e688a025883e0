#pragma once
// gfx950's scaled conversions and transposing LDS reads, each as an exchange that one wave does
// (prelude/Convert.h). Not drawn by random programs.

#include "tests/differential/Exchanges.h"

namespace wavesmith::differential {

/// Each instruction with a builtin, at every place of a word that it can name.
std::vector<Exchange> everyConversion();
/// From 4, 6, 8 and 16 bits.
std::vector<Exchange> everyTransposingRead();

} // namespace wavesmith::differential
