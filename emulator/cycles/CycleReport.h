#pragma once
// What the cycle model says about one launch. Everything here is modelled, nothing is measured.
// Plain values.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wavesmith::emulator {

/// Why a wave could not issue its next instruction.
enum class Stall : std::uint8_t {
  Arbitration,  ///< another wave took the unit in this turn
  ValuPort,     ///< the vector port is held
  MatrixPipe,   ///< the matrix pipe is busy
  VectorMemory, ///< s_waitcnt vmcnt
  Lds,          ///< s_waitcnt lgkmcnt, LDS
  ScalarMemory, ///< s_waitcnt lgkmcnt, scalar loads
  Queue,        ///< a memory queue or counter is full
  Operand,      ///< a vector result on its way to an LDS or memory instruction
  Barrier,
  Fetch, ///< instruction fetch, taken branches
  Idle,  ///< s_nop, s_sleep
};
inline constexpr int kStalls = 11;
std::string_view stallName(Stall stall); ///< "matrix-pipe", ...

struct CycleReport {
  std::string chip;
  std::uint64_t cycles = 0; ///< first workgroup's start to the last one's end
  /// Clocks that a first launch takes longer, its code not being in the instruction caches; not
  /// part of `cycles`. Uncertain.
  std::uint64_t coldCycles = 0;
  double clockMhz = 0, sustainedMhz = 0;
  double microseconds = 0, sustainedMicroseconds = 0;

  /// Busy shares of all units of the chip over `cycles`.
  double mfmaUtilisation = 0, valuUtilisation = 0, ldsUtilisation = 0, memoryUtilisation = 0;
  std::string boundBy; ///< mfma, valu, lds, memory, latency or balance
  double balance = 0;  ///< share of the compute units' time with a workgroup on them

  std::string dtype; ///< of the matrix work: bf16, f16, fp8, other, or none
  int workgroupsPerCu = 0;
  int sampledWorkgroups = 0; ///< traced and replayed; the others are placed by their size
  std::uint64_t workgroups = 0, executed = 0; ///< of the grid, and those that were run
  std::uint64_t longestWorkgroup = 0;

  /// A loop in its steady state: all iterations but the first, over the waves that ran it.
  struct Loop {
    std::uint64_t pc = 0; ///< of its backward branch, relative to the kernel's entry
    std::uint64_t iterations = 0;
    double cyclesPerIteration = 0;
    double mfmaOccupancy = 0; ///< of the wave's SIMD in that time
  };
  std::vector<Loop> loops; ///< the most time first

  struct Line {
    std::uint64_t pc = 0; ///< relative to the kernel's entry
    std::uint64_t executed = 0;
    std::uint64_t issued = 0;                     ///< clocks of its waves' turns
    std::array<std::uint64_t, kStalls> stalled{}; ///< clocks by reason
    /// Of all waves: these add up to the waves' lives.
    std::uint64_t clocks() const;
  };
  std::vector<Line> lines; ///< of the largest sampled workgroup's compute unit, in address order
};

} // namespace wavesmith::emulator
