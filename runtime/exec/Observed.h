#pragma once
// What the emulator saw of a run besides its result, read from its report: executions per
// instruction, the model's clocks per instruction, the trace file. Plain values.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct ExecCoverage {
  std::string kernel;
  std::uint64_t pc = 0; ///< relative to the kernel's entry
  std::string text;
  std::uint64_t count = 0;
};
/// Adds the report's rows: one per instruction, however often its kernel was launched.
Status addCoverage(std::string_view emulatorReport, std::vector<ExecCoverage> &rows);
std::string coverageJson(const std::vector<ExecCoverage> &rows);
/// A table for people.
std::string coverageText(const std::vector<ExecCoverage> &rows);

/// Modelled clocks of one instruction on the compute unit that was replayed.
struct ModelledLine {
  std::uint64_t executed = 0, cycles = 0;      ///< of all its waves
  std::map<std::string, std::uint64_t> stalls; ///< clocks by reason; part of `cycles`
};
/// By kernel and pc; empty without coverage and the cycle model.
using ModelledLines = std::map<std::pair<std::string, std::uint64_t>, ModelledLine>;
Expected<ModelledLines> readModelledLines(std::string_view emulatorReport);

struct TraceResult {
  std::string file;
  std::uint64_t events = 0, bytes = 0;
  bool complete = true; ///< false: the size bound left something out
  std::string problem;  ///< why the file could not be written, or empty
  std::string json() const;
  std::string text() const; ///< one line for people
};
/// None when the report says null.
Expected<std::optional<TraceResult>> readTrace(std::string_view emulatorReport);

} // namespace wavesmith
