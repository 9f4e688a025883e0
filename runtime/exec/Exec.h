#pragma once
// Runs a launch file on a device through the HIP table: what `wavesmith exec` does, as a library.
// What the kernels did wrong is in the report; the Status is for everything else. On the emulator
// the settings are the process's, so one run at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/exec/LaunchFile.h"
#include "runtime/exec/Modelled.h"
#include "runtime/exec/Observed.h"
#include "runtime/hip/HipTable.h"

namespace wavesmith {

struct ExecOptions {
  DeviceChoice device = DeviceChoice::Auto;
  // For the emulator, as its settings spell them; ignored on a real device.
  std::string checks = "all";
  std::string order = "default";
  std::uint64_t seed = 1;
  std::string chip; ///< empty: the default one of the object's target
  bool coverage = false;
  bool modelCycles = false;
  std::string trace; ///< file for Perfetto; turns the cycle model on
};

struct ExecLaunch {
  KernelInfo kernel; ///< with its resources
  std::uint64_t workgroups = 0;
  std::uint64_t instructions = 0;       ///< wave instructions; 0 on a real device
  double seconds = 0;                   ///< as the host saw it; the emulator's own on the emulator
  std::optional<ModelledTime> modelled; ///< none without the cycle model
};

struct ExecReport {
  std::string target, device;
  std::vector<ExecLaunch> launches; ///< those that ran; a fault ends the list
  /// Faults per check, all eight; none = the check did not run.
  std::vector<std::pair<std::string, std::optional<std::uint64_t>>> checks;
  std::vector<std::string> faults;   ///< the first, one line each
  std::vector<std::string> warnings; ///< hazards of foreign code; no faults
  std::vector<std::string> outputs;  ///< paths written
  std::optional<std::vector<ExecCoverage>> coverage;
  ModelledLines lines;              ///< with coverage and the cycle model
  std::optional<TraceResult> trace; ///< none without a trace file

  bool ok() const { return faults.empty(); }
  /// The object of docs/schemas/exec.json.
  std::string json(int indent = -1) const;
};

Expected<ExecReport> runLaunchFile(const std::string &path, const ExecOptions &options);
/// The same with a file that was read and a device that was opened.
Expected<ExecReport> runLaunches(const LaunchFile &file, const ExecOptions &options,
                                 const std::shared_ptr<const HipTable> &table);

} // namespace wavesmith
