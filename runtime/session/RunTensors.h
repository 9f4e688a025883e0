#pragma once
// The tensors of one run on host and device, and what quantisers left in a workspace. Session's
// own; one thread at a time.

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/dispatch/LoadedLaunchList.h"
#include "runtime/dispatch/QuantizedPlan.h"
#include "runtime/verify/HostTensor.h"
#include "runtime/verify/Reference.h"

namespace wavesmith {

class RunTensors {
public:
  /// Inputs of standard-normal elements, outputs of canaries. `inputs` describes the caller's
  /// tensors: of a quantised call the 16-bit ones.
  RunTensors(const CheckedProblem &inputs, std::uint64_t seed);

  HostTensor q, k, v, out, lse;
  Descales descales;        ///< that the call is given; empty when there are none
  std::vector<float> sinks; ///< of each head, if the problem has them

  struct Pair {
    HostTensor *host;
    DeviceBuffer *device;
  };
  std::array<Pair, 5> pairs() {
    return {{{&q, &dq_}, {&k, &dk_}, {&v, &dv_}, {&out, &dout_}, {&lse, &dlse_}}};
  }
  Status upload(const HipTablePtr &table, std::uint64_t workspaceBytes);
  Status download();
  const DeviceBuffer &workspace() const { return workspace_; }
  AttentionBuffers addresses() const;

private:
  DeviceBuffer dq_, dk_, dv_, dout_, dlse_, workspace_, ddescales_, dsinks_;
};

/// Codes, descales and counts of saturated elements as the last launch left them.
struct QuantizedInputs {
  HostTensor q, k, v;
  Descales descales;
  std::array<std::vector<std::uint64_t>, 3> saturated; ///< of q, k, v: for each head
};
/// `given`: the descales of scales Given.
Expected<QuantizedInputs> readQuantized(const QuantizedPlan &plan, const DeviceBuffer &workspace,
                                        const Descales &given);

} // namespace wavesmith
