#pragma once
// Our attention kernels on the host's CPU, bit by bit: what a plan's launch writes, without
// simulating instructions, so that long contexts are affordable. The same inputs and
// plan give the bits of the emulated kernel (tests/e2e/NumericsTest.cpp) for finite inputs whose
// products and sums stay normal float32 numbers. The emulator adds in the order of k, as this does;
// hardware may group the terms of one matrix instruction.

#include <cstdint>
#include <vector>

#include "runtime/dispatch/AttentionPlan.h"
#include "runtime/verify/HostTensor.h"
#include "runtime/verify/Reference.h"

namespace wavesmith {

struct ModelledAttention {
  HostTensor out; ///< of the problem's type and shape
  HostTensor lse; ///< float32, [rows][heads], if the problem has it
};

/// Unsupported: plans with split keys (PlanOptions::splits = 1 makes none), soft caps, sinks and
/// schedules that are not the default. `threads` 0 = all cores.
Expected<ModelledAttention> modelAttention(const AttentionPlan &plan, const HostTensor &q,
                                           const HostTensor &k, const HostTensor &v,
                                           const Descales &descales = {}, int threads = 0);

} // namespace wavesmith
