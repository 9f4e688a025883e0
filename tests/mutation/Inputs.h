#pragma once
// Tensors and expected results of one problem, made once and then shared by every run of it.

#include <string>

#include "emulator/Emulator.h"

#include "runtime/verify/ErrorReport.h"
#include "runtime/verify/HostTensor.h"
#include "runtime/verify/Reference.h"

namespace wavesmith::testing {

struct Inputs {
  CheckedProblem checked;
  HostTensor q, k, v; ///< bf16, NaN around the elements
  AttentionReference reference;
  AttentionTolerance tolerance;

  /// Standard-normal q, k, v; each sequence's keys grow by `growth` from first to last.
  void draw(std::uint64_t seed, float growth);
  void computeReference() { reference = attentionReference(checked, q, k, v, {}, 1); }
  HostTensor emptyOut() const;
  HostTensor emptyLse() const;
  /// Empty, or everything that is wrong; the relative RMS of out goes to `relativeRms`.
  std::string compare(const HostTensor &out, const HostTensor &lse, double &relativeRms) const;
};

/// The first fault of a run, or nothing.
std::string firstFault(const emulator::RunReport &report);

} // namespace wavesmith::testing
