#pragma once
// Parameters of the modelled chips: one table (Chips.cpp), a source mark on each figure. Immutable.

#include <span>
#include <string_view>

#include "runtime/support/Status.h"

namespace wavesmith::emulator::cycles {

/// What the chips of one target share: clocks of one compute unit unless said otherwise.
struct Architecture {
  std::string_view target;
  int vectorClk = 4;                      ///< VALU port, one wave
  int transcendentalClk = 0;              ///< exp, log, rcp, rsq, sqrt, sin, cos
  int convertClk = 0;                     ///< FP8, integer and f16 conversions
  int wideIntegerClk = 0;                 ///< 32-bit multiplies, low and high half
  int swapClk = 0;                        ///< v_permlane*_swap
  int matrixClk = 0, sparseMatrixClk = 0; ///< VALU port that a matrix instruction holds
  int packedBubbleClk = 0; ///< between packed float32 and a matrix instruction of one wave
  int operandClk = 0; ///< VALU issue to the issue of an LDS or memory instruction that reads it
  int branchClk = 0, barrierClk = 0;
  int waveSlots = 8, vectorRegisters = 512, scalarRegisters = 800;
  int ldsBytes = 0, ldsGranule = 0;
  int ldsBanks = 0, ldsPortBytes = 64; ///< per clock and SIMD pair
  int ldsLatency32 = 0, ldsLatency64 = 0, ldsLatency128 = 0;
  int ldsConflictLatency = 0; ///< least latency of an access with conflicts
  int ldsQueue = 0;           ///< instructions waiting per SIMD pair
  int addressClk = 0;         ///< vector memory, per dword of a lane
  int ldsDmaClk = 0;          ///< LDS DMA of a dword
  int lineBytes = 128, l1Bytes = 32768, l2Bytes = 4 << 20;
  int l1Latency = 0, l2Latency = 0, mallLatency = 0, hbmLatency = 0, storeLatency = 0;
  int l1BytesPerClk = 0;   ///< hits, per compute unit
  int fillBytesPerClk = 0; ///< from L2, per compute unit
  int writeBytesPerClk = 0;
  int l2ReadBytesPerClk = 0, l2WriteBytesPerClk = 0; ///< per XCD, shared by its compute units
  int vectorQueue = 0;      ///< outstanding loads of a wave before its issue stalls
  int instructionBytes = 0; ///< instruction cache
  int scalarHit = 0, scalarL2 = 0, scalarMiss = 0; ///< latency by where it is found
};

struct Chip {
  std::string_view name;
  const Architecture *architecture = nullptr;
  int xcds = 0, cusPerXcd = 0;
  int clockMhz = 0;
  double hbmTbs = 0, mallTbs = 0; ///< peak; what streams reach
  double hbmEfficiency = 0;
  int sustainedBf16Mhz = 0, sustainedFp8Mhz = 0; ///< matrix work on every compute unit
  /// Relative gain of the sustained clock per idle share of the compute units.
  double sustainedSlope = 0;
  int cus() const { return xcds * cusPerXcd; }
};

std::span<const Chip> chips();
/// By name; an empty name is the target's default. Refuses a chip of another target.
Expected<const Chip *> findChip(std::string_view name, std::string_view target);

} // namespace wavesmith::emulator::cycles
