#pragma once
// The operations between lanes that a program may draw (prelude/Waves.h has what they mean).

#include "tests/differential/Program.h"
#include "tests/differential/Random.h"

namespace wavesmith::differential {

struct Exchange {
  std::string name; ///< of the prelude's struct, with its parameters
  std::vector<Type> arguments;
  Type result;
  bool needsAllLanes = false; ///< what lanes give that are off is not defined
  bool needsFullWaves = false;
  std::string only = {}; ///< the one target that has it; empty: both
  int ldsBytes = 0;      ///< of the workgroup, whose address is the last argument; 0: none
};

Exchange drawExchange(Random &random);

} // namespace wavesmith::differential
