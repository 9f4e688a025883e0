#include "tests/emulator/rows/Cases.h"

namespace wavesmith::emulator::rows {

const std::vector<Family> &families() {
  static const std::vector<Family> all = {
      {"Scalar", scalarCases},
      {"ScalarControl", scalarControlCases},
      {"ScalarMemory", scalarMemoryCases},
      {"Compare", compareCases},
      {"Integer", integerCases},
      {"Float", floatCases},
      {"Half", halfCases},
      {"Packed", packedCases},
      {"Constants", constantCases},
      {"Division", divisionCases},
      {"Lanes", laneCases},
      {"Scale", scaleCases},
      {"VectorMemory", vectorMemoryCases},
      {"Atomic", atomicCases},
      {"Lds", ldsCases},
      {"Matrix", matrixCases},
  };
  return all;
}

std::vector<Case> allCases() {
  std::vector<Case> all;
  for (const Family &family : families())
    for (Case &test : family.cases())
      all.push_back(std::move(test));
  return all;
}

} // namespace wavesmith::emulator::rows
