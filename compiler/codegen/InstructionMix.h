#pragma once
// Counts of instructions by kind over a list of instructions, e.g. one iteration of a loop. Values.

#include <string>

#include <llvm/ADT/ArrayRef.h>

#include "compiler/codegen/Disassembly.h"

namespace wavesmith::compiler {

struct InstructionMix {
  int total = 0;
  int mfma = 0;
  int valu = 0; ///< every vector ALU instruction but MFMA; the next six are among them
  int exp = 0;
  int transcendental = 0;
  int select = 0;
  int packedF32 = 0;
  int accumulatorMove = 0;
  int laneMove = 0;
  int saveExec = 0;
  int salu = 0;
  int smem = 0;
  int branch = 0;
  int barrier = 0;
  int wait = 0;
  int vmcntZero = 0;   ///< waits with vmcnt(0)
  int lgkmcntZero = 0; ///< waits with lgkmcnt(0)
  int nop = 0;
  int nopStates = 0; ///< wait states of those
  int ldsRead = 0;
  int ldsWrite = 0;
  int ldsOther = 0;
  int ldsDma = 0;
  int vmemLoad = 0;
  int vmemStore = 0;
  int scratch = 0;

  void add(const Instruction &instruction);
  bool operator==(const InstructionMix &) const = default;
};

InstructionMix countInstructions(llvm::ArrayRef<Instruction> instructions);

/// Name and member of every count, for tables and JSON.
struct MixField {
  const char *name;
  int InstructionMix::*count;
};
llvm::ArrayRef<MixField> mixFields();
/// "mfma 40, valu 84, ..." of the counts that are not zero.
std::string mixText(const InstructionMix &mix);

} // namespace wavesmith::compiler
