#pragma once
// One attention call from problem to verified result: plan, kernel from the store, device memory
// with NaN and canaries around every tensor, launch, comparison with float64. What the command line
// and the end-to-end tests use. One thread at a time: the emulator's settings are the process's.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cache/KernelStore.h"
#include "runtime/dispatch/LoadedLaunchList.h"
#include "runtime/dispatch/QuantizedPlan.h"
#include "runtime/session/RunReport.h"
#include "runtime/verify/Distribution.h"

namespace wavesmith {

struct RunRequest {
  AttentionProblem problem;
  int splits = 0;         ///< of each row block's keys, as PlanOptions has it
  std::uint64_t seed = 1; ///< of the inputs, and of the emulator's orders
  /// Elements (a multiple of 8, FP8: of 16) between heads and between rows of every tensor whose
  /// strides the problem leaves open.
  std::int64_t padding = 0;
  /// FP8 only: inputs are of its 16-bit type and quantised on the device, and out is of that type
  /// too. The result is held against float64 on what the quantisers made; the distance from float64
  /// on the inputs is reported beside it.
  std::optional<Quantization> quantization;
  Distribution distribution = Distribution::Normal; ///< of 16-bit inputs
  // For the emulator, as its settings spell them; ignored on a real device.
  std::string chip;
  std::string order = "default";
  std::string checks = "all";
  bool modelCycles = false;
  /// Runs a few of attention's workgroups only, for the modelled time of a call that takes too long
  /// to emulate. There is no result to verify then; only the emulator can.
  bool sample = false;
  bool coverage = false;
  std::string trace; ///< file for Perfetto; turns the cycle model on
  bool verify = true;
  SharedCodeObject object;                     ///< the kernel to run; null: from the store
  std::optional<AttentionTolerance> tolerance; ///< none: the problem's
  /// Changes the inputs after they were filled, before they go to the device: tests.
  std::function<void(HostTensor &q, HostTensor &k, HostTensor &v, Descales &descales)> inputs;
  /// Changes the sinks likewise, if the problem has them.
  std::function<void(std::vector<float> &sinks)> sinks;
  /// Given the results after a verified run; lse is empty when the spec has none.
  std::function<void(const HostTensor &out, const HostTensor &lse)> outputs;
  /// Told what is going on: "compile", "upload", "run", "reference", "compare".
  std::function<void(std::string_view stage)> progress;
};

struct SessionOptions {
  DeviceChoice device = DeviceChoice::Auto;
  std::optional<KernelStoreOptions> store; ///< none: as the environment says
};

class Session {
public:
  static Expected<std::unique_ptr<Session>> create(SessionOptions options);
  /// With a device and a store of the caller's: tests.
  Session(HipTablePtr table, std::shared_ptr<KernelStore> store);

  /// The Status is for requests that could not be run; what the kernel did wrong is in the report.
  Expected<RunReport> run(const RunRequest &request);

  const HipTable &table() const { return *table_; }
  KernelStore &store() { return *store_; }

private:
  Status configureEmulator(const RunRequest &request);

  HipTablePtr table_;
  std::shared_ptr<KernelStore> store_;
};

/// The problem with `padding` put into every stride that it leaves open.
AttentionProblem withPadding(AttentionProblem problem, std::int64_t padding);

} // namespace wavesmith
