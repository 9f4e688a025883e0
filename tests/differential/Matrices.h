#pragma once
// The matrix instructions that a program may draw (prelude/Matrix.h has what they mean).

#include "tests/differential/Exchanges.h"

namespace wavesmith::differential {

/// Any of both targets' dense and sparse forms, with broadcasts, lane permutations and sets of the
/// index, and gfx950's block-scaled ones in all pairs of formats.
Exchange drawMatrix(Random &random);

/// All of them, each with parameters that `random` draws.
std::vector<Exchange> everyMatrix(Random &random);

} // namespace wavesmith::differential
