#pragma once
// Assembles the micro-kernels and runs them with the cycle model on. Test code, one thread.

#include <memory>
#include <span>
#include <string>

#include "emulator/Emulator.h"

namespace wavesmith::emulator::test {

bool haveAssembler();
/// kernels/<name>.s with REPEAT and VALUE defined.
Expected<CodeObject> assemble(const std::string &name, const std::string &target, int repeat,
                              int value);
/// An input and an output buffer of 96 MiB each, written; checks off.
Expected<RunReport> runMicro(const CodeObject &code, const std::string &chip, std::uint32_t block,
                             std::uint32_t grid, int threads = 0,
                             std::shared_ptr<TraceFile> trace = nullptr, bool replayAll = false,
                             std::span<const double> weights = {});

} // namespace wavesmith::emulator::test
