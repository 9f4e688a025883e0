#pragma once
// A decoded instruction: operands resolved to register numbers and constants, modifiers unpacked,
// successors linked. Made once per kernel by the decoder, read-only afterwards.

#include "emulator/isa/Row.h"

namespace wavesmith::emulator {

enum class OperandKind : u8 { None, Vector, Scalar, Constant, Special };
/// Special operands are computed when read.
enum class SpecialOperand : u8 {
  Vccz,
  Execz,
  Scc,
  SharedBase,
  SharedLimit,
  PrivateBase,
  PrivateLimit,
  Invalid, ///< an encoding that names nothing
};

// Scalar registers with names, by their operand codes.
enum : u8 {
  kFlatScratch = 102,
  kXnackMask = 104,
  kVcc = 106,
  kTtmp0 = 108,
  kM0 = 124,
  kNull = 125, ///< reads zero
  kExec = 126
};
inline constexpr int kScalarRegisters = 128;

struct Operand {
  OperandKind kind = OperandKind::None;
  Type type = Type::None;
  u8 words = 0;
  bool accumulator = false; ///< names an AGPR (for the disassembler)
  bool literal = false;
  u16 code = 0;  ///< as encoded
  u16 index = 0; ///< vector: row in the register file; scalar: operand code; special: which
  u64 value = 0; ///< constants
  const u32 *lanes = nullptr; ///< constants: `words` arrays of 64
};

/// A range of registers that an instruction reads or writes, for the checks.
struct RegisterRange {
  u16 first;
  u8 count;
  u8 operand; ///< which source; for messages and hazards
};

enum class Variant : u8 { Normal, Long, Sdwa, Dpp }; ///< e32, e64, ...

struct Inst {
  const Row *row = nullptr; ///< null: not an instruction
  Handler handler = nullptr;
  const Inst *next = nullptr;
  const Inst *target = nullptr;
  u64 pc = 0; ///< device address
  u32 words[4] = {};
  u8 size = 4;    ///< bytes
  u32 number = 0; ///< in its program
  Variant variant = Variant::Normal;

  Operand destination, scalarDestination;
  Operand source[4];
  u8 sourceCount = 0;
  i32 immediate = 0; ///< simm16, memory offset, bitop table

  // Vector modifiers.
  u8 neg = 0, abs = 0, negHi = 0, opSel = 0, opSelHi = 0, omod = 0;
  bool clamp = false;
  bool modified = false; ///< any of neg, abs, omod, clamp, op_sel that the fast path must not skip
  u8 cbsz = 0, abid = 0, blgp = 0;
  // SDWA: selects as encoded; DPP control.
  u8 dstSel = 6, dstUnused = 0, srcSel[2] = {6, 6};
  bool srcSext[2] = {};
  u16 dppControl = 0;
  u8 rowMask = 0xf, bankMask = 0xf;
  bool boundControl = false;

  // Memory modifiers.
  bool offen = false, idxen = false, lds = false, sc0 = false, sc1 = false, nt = false;
  u8 offset1 = 0;
  u8 dataFormat = 0, numberFormat = 0; ///< MTBUF
  const u32 *scaleWords = nullptr;     ///< unused unless a scale prefix was decoded
  Operand scale[2];                    ///< v_mfma_scale_*: scale operands
  u8 scaleSel[2] = {};

  // For the checks.
  RegisterRange vectorReads[5], vectorWrites[2];
  RegisterRange scalarReads[5], scalarWrites[3];
  u8 vectorReadCount = 0, vectorWriteCount = 0, scalarReadCount = 0, scalarWriteCount = 0;
  bool readsScc = false, writesScc = false, readsExec = false;
  bool isVector = false; ///< VALU, matrix ops included
  bool isMatrix = false, isNop = false;
  u16 produces = 0, consumes = 0;   ///< Hazard bits, for the wait-state check
  u8 hazardWindow = 0;              ///< how many turns back this instruction's hazards reach
  bool exceedsAllocation = false;   ///< names a register that the kernel did not ask for
  u16 maxVector = 0, maxScalar = 0; ///< one past the highest register named

  // A copy that stands for an instruction while MODE redirects registers or skips (Redirect.cpp).
  const Inst *original = nullptr; ///< the program's own; null in the program's own
  u16 outsideIndex = 0;           ///< VGPR that M0's index reaches although the wave has none, or 0
  bool nullified = false;         ///< not executed
};

} // namespace wavesmith::emulator
