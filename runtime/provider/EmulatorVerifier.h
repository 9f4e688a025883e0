#pragma once
// Verification of a compiled kernel before anybody uses it: the program wavesmith-verify runs it on
// the emulator, in a process of its own, because the emulator's settings are a process's and
// because what is judged may not be trusted. Any thread; several at a time.

#include <chrono>
#include <string>
#include <vector>

#include "runtime/provider/Provider.h"

namespace wavesmith {

struct VerifierOptions {
  std::string program; ///< "" = beside our own library or executable
  std::chrono::milliseconds timeout{300'000};
};

/// The verification record. VerificationFailed with what was wrong; Unsupported without the
/// program; Timeout; Internal when it dies.
Expected<std::string> verifyOnEmulator(const KernelSpec &spec, const SharedCodeObject &object,
                                       const VerifierOptions &options);

/// Where the program is looked for, in order.
std::vector<std::string> verifierCandidates();

} // namespace wavesmith
