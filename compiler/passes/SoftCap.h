#pragma once
// Recognises the score function that bounds scores smoothly, cap * tanh(score / cap), which the
// emitters carry out with one exponential and one reciprocal.

#include <optional>

#include "dialects/tile/Tile.h"

namespace wavesmith::compiler {

/// Which of the values that tile.apply gives the function is the cap; none if it is another one.
std::optional<unsigned> matchSoftCap(tile::ScoreOp score);

} // namespace wavesmith::compiler
