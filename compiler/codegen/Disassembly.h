#pragma once
// One kernel of a code object as a list of instructions, decoded by LLVM's MC layer, with the
// little that the gates ask of each: what kind it is, where it branches, which registers it names.
// Immutable after decode; any thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace llvm {
class MCRegisterInfo;
}

namespace wavesmith::compiler {

enum class InstructionKind : std::uint8_t {
  Mfma,
  Exp,            ///< v_exp_f32
  Transcendental, ///< the other quarter-rate functions: log, rcp, rsq, sqrt, sin, cos
  PackedF32,      ///< v_pk_*_f32: does not overlap the partner's MFMAs
  Select,         ///< v_cndmask_b32
  AccumulatorMove,
  LaneMove, ///< v_readfirstlane, v_readlane, v_writelane
  Valu,     ///< every other vector ALU instruction
  SaveExec,
  Salu,
  Smem,
  Branch,
  Barrier,
  Wait,
  Nop,
  Control, ///< s_setprio, s_sleep, s_endpgm, ...
  LdsRead,
  LdsWrite,
  LdsOther, ///< ds_bpermute, ds_swizzle, atomics
  LdsDma,   ///< global memory straight into LDS
  VmemLoad,
  VmemStore,
  Scratch,
};

/// The kind, from an instruction's text as the disassembler prints it.
InstructionKind classify(llvm::StringRef text);
/// Runs on the vector ALU (MFMA not counted).
bool isValu(InstructionKind kind);

/// The counters of an s_waitcnt; a counter that is not waited for has its maximum.
struct WaitCounts {
  static constexpr unsigned kNoVmcnt = 63, kNoLgkmcnt = 15;
  unsigned vmcnt = kNoVmcnt, lgkmcnt = kNoLgkmcnt;
};

struct Instruction {
  std::uint64_t address = 0;
  unsigned size = 0;
  InstructionKind kind = InstructionKind::Valu;
  std::string text;                          ///< one blank after the mnemonic, no address
  std::optional<std::uint64_t> branchTarget; ///< of s_branch and s_cbranch_*
  bool fallsThrough = true;                  ///< false: s_branch, s_endpgm
  unsigned immediate = 0;                    ///< of s_nop and s_waitcnt
  llvm::SmallVector<unsigned, 4> registers;  ///< LLVM's register numbers, destination first

  WaitCounts waits() const; ///< only for kind Wait
  /// Wait states it takes by itself: 1, and n + 1 for s_nop n.
  unsigned waitStates() const { return kind == InstructionKind::Nop ? immediate + 1 : 1; }
};

class Disassembly {
public:
  /// Decodes the function `kernel`; an error names a missing symbol or the bytes that do not
  /// decode.
  static llvm::Expected<Disassembly> decode(llvm::ArrayRef<char> object, llvm::StringRef kernel);
  Disassembly(Disassembly &&) noexcept;
  Disassembly &operator=(Disassembly &&) noexcept;
  ~Disassembly();

  const std::vector<Instruction> &instructions() const { return instructions_; }
  const std::string &target() const { return target_; } ///< "gfx942"
  /// Does `user` name a register of `producer`'s destination?
  bool touchesResult(const Instruction &user, const Instruction &producer) const;

private:
  Disassembly();
  std::string target_;
  std::vector<Instruction> instructions_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
};

} // namespace wavesmith::compiler
