#pragma once
// Inputs, launch and float64 reference of the attention kernels that take the compact argument
// block of tests/emulator/kernels: one launch, many work items. Test code, one thread.

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/Emulator.h"

namespace wavesmith::emulator::test {

struct Problem {
  std::string target = "gfx942";
  bool fp8 = false;
  int heads = 1, lenQ = 256, lenKv = 256;
  int dQk = 192, dV = 128;
  int tile = 32; ///< keys of one KV tile, the unit of splits
  int splits = 1;
  std::uint64_t seed = 7;
};

struct Outcome {
  RunReport report;
  double outRelativeRms = 0, lseMaxAbs = 0;
  double flops = 0; ///< of the matrix products asked for
};

/// Uploads inputs, runs, compares. The Status is for what could not be tried.
Expected<Outcome> runAttention(const CodeObject &object, const Problem &problem,
                               const RunOptions &options);

float bf16ToFloat(std::uint16_t bits);
std::uint16_t floatToBf16(float value);
/// E4M3: OCP (bias 7) or FNUZ (bias 8).
float fp8ToFloat(std::uint8_t bits, bool ocp);
std::uint8_t floatToFp8(float value, bool ocp);

} // namespace wavesmith::emulator::test
