#pragma once
// The tensors of one call on the emulator, for tests of launch lists.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/e2e/RowDevice.h"

namespace wavesmith::testing {

/// The caller's tensors of a call, on the device.
struct CallBuffers {
  DeviceBuffer q, k, v, out, lse, workspace, kRope, sinks;

  AttentionBuffers addresses() const;
  /// The bytes of out and lse with what surrounds them.
  Expected<std::vector<std::byte>> results() const;
};

/// Standard-normal bf16 elements, NaN around them.
HostTensor normal(const TensorShape &shape, std::uint64_t seed, std::uint64_t stream);

/// Inputs that are normal(), outputs of canaries.
Expected<CallBuffers> buffersOf(RowDevice &device, const CheckedProblem &inputs,
                                std::uint64_t workspaceBytes, std::uint64_t seed);

/// The call with bf16 inputs.
CheckedProblem bf16Of(AttentionProblem problem);

/// Uploads the work and launches once.
Expected<std::vector<std::byte>> runOnce(RowDevice &device, const LoadedLaunchList &list,
                                         const CallBuffers &buffers);

} // namespace wavesmith::testing
