#pragma once
// The builtins of one lane that a program may call (prelude/Builtins.h has what they mean).

#include <span>

#include "tests/differential/Program.h"

namespace wavesmith::differential {

struct Builtin {
  const char *name; ///< in namespace amd, with its parameters
  Type result;
  std::vector<Type> arguments;
};

std::span<const Builtin> builtins();

} // namespace wavesmith::differential
