#pragma once
// Cuts a failing program down to what still fails.

#include <functional>

#include "tests/differential/Program.h"

namespace wavesmith::differential {

/// `fails` must hold for `program`; it holds for the result. It is asked for every cut, so it
/// should look for the same failure, not for any.
Program reduce(Program program, const std::function<bool(const Program &)> &fails);

/// Statements of all blocks, those that stay included: the size that a reader sees.
int countStatements(const Program &program);

} // namespace wavesmith::differential
