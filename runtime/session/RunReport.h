#pragma once
// What one run of an attention call did, in the form that `run --json` prints. Plain values.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/exec/Modelled.h"
#include "runtime/exec/Observed.h"
#include "runtime/verify/ErrorReport.h"

namespace wavesmith {

/// Faults of one of the emulator's checks; none = it did not run.
struct CheckCount {
  std::string name;
  std::optional<std::uint64_t> faults;
};

struct EmulatedCost {
  std::uint64_t instructions = 0;
  double seconds = 0;
};

struct RunKernel {
  KernelInfo info;
  bool attention = false; ///< and not one around it
  std::string key;        ///< of its spec
  std::string provider;   ///< "memory", "disk", "jit"
  double compileMs = 0;   ///< 0 when the object was not compiled now
  double lookupMs = 0;    ///< to get the object, whoever had it
};

/// What the quantisers of an FP8 call with bf16 inputs did.
struct QuantizationReport {
  std::string scales;         ///< "static", "dynamic", "unit"
  std::uint32_t rotation = 0; ///< seed; 0: none
  struct Tensor {
    std::vector<std::uint64_t> saturated; ///< elements beyond the largest code, for each head
    std::optional<double> relRms;         ///< of codes against inputs; none without verify
  };
  std::array<Tensor, 3> tensors;     ///< q, k, v
  std::optional<ErrorReport> errors; ///< against float64 on the inputs; none without verify
};

struct RunReport {
  std::string target;
  std::string device;   ///< its name, "AMD Instinct MI325X (emulated)"
  std::string provider; ///< of the attention kernel; "" when there was nothing to run
  double compileMs = 0; ///< of all kernels; 0 when none was compiled now
  double lookupMs = 0;  ///< to get the objects, whoever had them
  double launchMs = 0;  ///< from launch to the end of the last kernel, as the host sees it
  std::uint64_t workUnits = 0;
  std::uint64_t partials = 0; ///< that the split blocks' units wrote; 0 without splits
  double flops = 0;           ///< that the masks leave
  std::vector<RunKernel> kernels;

  Descales descales;                 ///< of the FP8 inputs; empty for bf16
  AttentionTolerance tolerance;      ///< that the errors are held against
  std::optional<ErrorReport> errors; ///< none without verify, or when the run faulted
  std::string outDigest;             ///< SHA-256 over the elements of out alone; "" without verify
  std::string outputDigest; ///< SHA-256 over the elements of out, then lse; "" without verify
  std::vector<std::string> failures;                 ///< why `ok` is false, one line each
  std::vector<CheckCount> checks;                    ///< all eight, in the emulator's order
  std::vector<std::string> faults;                   ///< the first, one line each
  std::optional<EmulatedCost> emulated;              ///< none on a real device
  std::optional<ModelledTime> modelled;              ///< none without the cycle model
  std::optional<std::vector<ExecCoverage>> coverage; ///< none when not asked for
  ModelledLines lines;                               ///< with coverage and the cycle model
  std::optional<TraceResult> trace;                  ///< none without a trace file
  std::optional<QuantizationReport> quantization;    ///< none unless the call quantises
  double referenceSeconds = 0;

  bool ok() const { return failures.empty(); }
  /// The object of docs/schemas/run.json; numbers that are no numbers become null.
  std::string json(int indent = -1) const;
};

/// The checks' names, in the order in which reports list them.
const std::vector<std::string> &checkNames();

/// Fills checks, faults and cost from the emulator's report (its JSON text).
Status readEmulatorReport(std::string_view text, RunReport &report);

} // namespace wavesmith
