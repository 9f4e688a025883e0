#pragma once
// One row per mnemonic: what the decoder, the disassembler, the drivers and the reports know about
// an instruction. The rows come from isa/rows/*.def and never change; any thread.

#include <span>

#include "emulator/isa/Types.h"

namespace wavesmith::emulator {

struct Inst;
struct Wave;
class Machine;
using Handler = void (*)(Machine &machine, Wave &wave, const Inst &inst);

enum class Format : u8 {
  Sop1,
  Sop2,
  Sopc,
  Sopk,
  Sopp,
  Smem,
  Vop1,
  Vop2,
  Vopc,
  Vop3,
  Vop3p,
  Ds,
  Flat,
  Scratch,
  Global,
  Mubuf,
  Mtbuf,
};
inline constexpr int kFormats = 17;

/// How a row uses its format's fields.
enum class Use : u8 {
  Plain,
  // Scalar
  Branch,       ///< simm16 is a displacement
  SaveExec,     ///< reads and writes EXEC
  WriteOnly,    ///< no source (s_getpc)
  ReadOnly,     ///< no destination (s_setpc)
  ReadWriteDst, ///< the destination is a source too
  Immediate,    ///< SOPP with an operand; SOPK with simm16
  NoOperands,
  IndexMode,   ///< changes M0's fields for VGPR indexing
  SkipMode,    ///< s_setvskip
  Fork,        ///< forks and joins of the branch stack
  AddressOnly, ///< SMEM: no data
  Probe,       ///< SMEM: a number in the place of the data
  // Vector
  Literal,     ///< VOP2 with a constant K
  VccIn,       ///< VCC is an implicit source
  Bitop,       ///< VOP3 whose modifier bits are a truth table
  HalfResult,  ///< VOP3: op_sel[3] picks the half that is written
  ByteOperand, ///< VOP3: op_sel[1:0] picks the byte of source 0
  ByteResult,  ///< VOP3: op_sel[3:2] picks the byte that is written
  ByteToHalf,  ///< VOP3: op_sel[1:0] picks source 0's byte, op_sel[3] the half that is written
  ToScalar,    ///< the destination is an SGPR (readlane)
  WriteExec,   ///< VOPC: the mask goes to EXEC too
  Swap,        ///< both operands are written
  AccumRead,   ///< the source is an AGPR
  AccumWrite,  ///< the destination is an AGPR
  AccumMove,   ///< both are
  Packed16,
  Packed32,
  PackedMove,
  Mix,
  Dot,
  Matrix,
  SparseMatrix,
  // Memory
  Load,
  Store,
  Atomic,
  LdsDma,
  Exchange, ///< DS lane exchange (permute, swizzle)
  Transpose,
  Cache, ///< cache maintenance: nothing to do
};

enum : u8 { kGfx942 = 1, kGfx950 = 2, kAllTargets = 3 };

/// Memory rows: what moves.
struct Access {
  u8 bytes = 0; ///< per lane and element
  u8 count = 1; ///< 2 for read2/write2
  bool isSigned = false;
  bool half = false;    ///< d16: the other half of the register stays
  bool high = false;    ///< d16_hi
  u16 stride = 0;       ///< read2/write2, scalar scratch: bytes per unit of the offset
  u8 atomic = 0;        ///< AtomicKind
  bool returns = false; ///< DS atomics
  bool second = false;  ///< DS: a second data operand
  // DS: no address register.
  bool laneAddress = false; ///< M0 and the lane number are the address
  bool counter = false;     ///< one dword at M0, to which the number of active lanes is added
  bool addressFromM0() const { return laneAddress || counter; }
  u8 components = 0; ///< typed buffers: 1 to 4; `bytes` is then what the registers hold
};

inline bool isVectorMemory(Format format) {
  return format == Format::Mubuf || format == Format::Mtbuf || format == Format::Flat ||
         format == Format::Global || format == Format::Scratch;
}

/// Vector rows: which modifier bits the encodings have.
struct VectorFields {
  u8 signs = 0;      ///< sources with neg and abs
  u8 signsUsed = 0;  ///< those where they mean something
  u8 opSel = 0xf;    ///< bits that may be set
  u8 opSelShown = 0; ///< how many of them mean something; 0: none
  bool clamp = false, omod = false;
  u8 sdwaSigns = 0, sdwaExtends = 0, dppSigns = 0;
  bool sdwaOmod = false;
  bool rounds = false; ///< follows MODE's rounding
};

struct Row {
  const char *name;
  Format format;
  u16 opcode;
  u8 targets = kAllTargets;
  Use use = Use::Plain;
  Signature signature;
  Handler handler = nullptr;
  u16 laneIndex = 0; ///< into the LaneSet table of its format
  Access access;
  u8 matrixRow = 0xff; ///< into matrixRows()
  VectorFields fields;
};

} // namespace wavesmith::emulator
