#pragma once
// Small calls that a kernel must get right before it is trusted: on the emulator, in two execution
// orders, with every check on, compared with float64 or bit for bit with a scalar model. They are
// the calls in which kernels break: ragged tails, empty sequences, rows without keys, shared heads,
// gaps between rows, one token. One thread at a time: the emulator's settings are the process's.

#include "runtime/codeobject/Verification.h"
#include "runtime/provider/Provider.h"

namespace wavesmith {

/// What the object passed. VerificationFailed names the call and what was wrong in it; Unsupported
/// when there are no calls for such a kernel.
Expected<VerificationRecord> verifyKernel(const KernelSpec &spec, const SharedCodeObject &object);

} // namespace wavesmith
