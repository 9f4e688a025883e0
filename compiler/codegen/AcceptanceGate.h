#pragma once
// Reads the machine code of a kernel's pipelined loops and says whether it is what the schedule
// meant: exact counts, nothing that stalls the two-group rhythm, every wait where it was placed.
// A pipelined loop is an innermost loop whose every iteration runs MFMAs; only what every iteration
// runs is counted. Stateless, any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/codegen/InstructionMix.h"

namespace wavesmith::compiler {

/// What a schedule promises of each of its loops. Figures that are not given are not checked.
struct LoopExpectation {
  std::optional<int> loops;      ///< pipelined loops in the kernel
  std::optional<int> mfma, exp;  ///< exactly, per iteration
  int expsOfScore = 1;           ///< 2 with a soft cap
  std::optional<int> ldsReads;   ///< exactly
  std::optional<int> ldsWrites;  ///< exactly, in the loops that write LDS at all
  std::optional<int> valuBudget; ///< vector ALU instructions of a full tile, without staging
  int valuSlack = 6;             ///< allowed above the budget
  int stagingValu = 0; ///< extra budget of loops that write LDS (transposing V in registers)
  int maskedValu = 0;  ///< extra budget of loops that mask (a select per element)
  int barriers = 2;
  int vmcntZero = 1; ///< waits for all vector memory, at most; none of them among the MFMAs
  int barrierToFirstMfma = 2; ///< instructions between, at most
  int lastMfmaToBarrier = 0;  ///< instructions between, at most
  /// Wait states from the last MFMA along the back edge to the first instruction that touches its
  /// result: 11 for an 8-pass MFMA on gfx942, 12 on gfx950, 20 for 16 passes.
  int resultWaitStates = 11;
};

struct LoopReport {
  std::uint64_t address = 0; ///< of the loop's first instruction
  InstructionMix mix;        ///< of one iteration
  InstructionMix coldMix;    ///< of the blocks that not every iteration runs
  bool masked = false;       ///< at least one select per score
  bool staging = false;      ///< writes LDS from registers
  int barrierToFirstMfma = 0, lastMfmaToBarrier = 0;
  int resultWaitStates = 0; ///< as above; counting stops at 64
  /// The M phase in one line: | barrier, M MFMA, r LDS read, w LDS write, g LDS DMA, v vector
  /// memory, s scalar, a vector ALU, <vN> and <lN> waits. Empty without two barriers.
  std::string phase;
};

struct GateReport {
  std::string target;
  std::vector<LoopReport> loops;
  std::vector<std::string> violations; ///< with loop address, figure and expectation
};

llvm::Expected<GateReport> inspectLoops(llvm::ArrayRef<char> object, llvm::StringRef kernel,
                                        const LoopExpectation &expected);
/// CompileFailed with the report's violations, if it has any.
llvm::Error toError(const GateReport &report);

} // namespace wavesmith::compiler
