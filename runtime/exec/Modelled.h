#pragma once
// The time that the emulator's cycle model gives for the kernels since the last reset, read from
// its report. Modelled, never measured. Plain values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct ModelledTime {
  std::string chip;
  std::uint64_t cycles = 0;
  double microseconds = 0;          ///< at the nominal clock
  double sustainedMicroseconds = 0; ///< at the clock that matrix work of its type sustains
  double mfmaUtilisation = 0, valuUtilisation = 0, ldsUtilisation = 0, memoryUtilisation = 0;
  double balance = 0; ///< share of the compute units' time with work
  std::string boundBy;
  double clockMhz = 0, sustainedMhz = 0; ///< of the longest launch
  std::string dtype;                     ///< of its matrix work: bf16, f16, fp8, other, or none
  std::uint64_t coldCycles = 0;          ///< more at a first launch: instruction caches
  /// One kernel's launches, in the order of the first.
  struct Kernel {
    std::string name;
    std::uint64_t launches = 0, cycles = 0;
    std::uint64_t workgroups = 0, executed = 0; ///< of the grids; fewer executed: sampled
    double mfmaUtilisation = 0, memoryUtilisation = 0;
    std::string boundBy;
  };
  std::vector<Kernel> kernels;
  struct Loop {
    std::uint64_t pc = 0, iterations = 0;
    double cycles = 0, mfmaOccupancy = 0;
  };
  std::vector<Loop> loops; ///< steady loops of the longest launch

  /// The "modelled" object of docs/schemas/run.json.
  std::string json() const;
  /// One line for people.
  std::string text() const;
};

/// None when the report says null: the model was off.
Expected<std::optional<ModelledTime>> readModelled(std::string_view emulatorReport);

} // namespace wavesmith
