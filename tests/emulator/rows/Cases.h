#pragma once
// The lists of cases by family. What a list names is executed and compared, on both targets unless
// a case says otherwise.

#include "tests/emulator/rows/Bench.h"

namespace wavesmith::emulator::rows {

std::vector<Case> scalarCases();
std::vector<Case> scalarControlCases();
std::vector<Case> scalarMemoryCases();
std::vector<Case> compareCases();
std::vector<Case> integerCases();
std::vector<Case> floatCases();
std::vector<Case> halfCases();
std::vector<Case> packedCases();
std::vector<Case> constantCases();
std::vector<Case> divisionCases();
std::vector<Case> laneCases();
std::vector<Case> scaleCases();
std::vector<Case> vectorMemoryCases();
std::vector<Case> atomicCases();
std::vector<Case> ldsCases();
std::vector<Case> matrixCases();

struct Family {
  const char *name;
  std::vector<Case> (*cases)();
};
const std::vector<Family> &families();
std::vector<Case> allCases();

} // namespace wavesmith::emulator::rows
