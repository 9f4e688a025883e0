#pragma once
// What the model needs to know of an instruction, decided once: which unit issues it and for how
// long, which registers tie it to others. Plain values.

#include "emulator/cycles/Chips.h"
#include "emulator/isa/Inst.h"

namespace wavesmith::emulator::cycles {

/// One instruction per category, SIMD and turn; internal ones need no unit.
enum class Category : u8 { Vector, VectorMemory, Scalar, Lds, Branch, Internal };
inline constexpr int kCategories = 5; ///< without Internal

enum class Kind : u8 {
  Plain,
  PackedF32, ///< never beside a matrix instruction
  Matrix,
  Transcendental,
  Load,
  Store,  ///< vector memory without a result
  Atomic, ///< of vector memory
  LdsDma,
  LdsAccess,
  ScalarLoad,
  Wait,
  Barrier,
  Nop,
  Sleep,
  SetPriority,
  End,
};

struct OpInfo {
  Category category = Category::Internal;
  Kind kind = Kind::Plain;
  u64 pc = 0; ///< device address
  u8 size = 4;
  bool straddles = false;   ///< needs two fetch windows
  bool isFlat = false;      ///< counts on both counters
  u16 portClk = 4;          ///< VALU port; vector memory: address unit
  u16 issueClk = 4;         ///< until the wave's next instruction
  u8 passes = 0;            ///< matrix pipe, 4 clocks each
  u16 immediate = 0;        ///< wait counts, priority, nop and sleep lengths
  u16 accumulator = 0xffff; ///< matrix: first register of C; 0xffff for none
  u16 result = 0;           ///< first vector register written
  u8 resultCount = 0;
  u8 accessBytes = 0; ///< per lane, vector memory
  RegisterRange reads[5] = {};
  u8 readCount = 0; ///< vector registers that LDS and memory instructions read
  u16 ldsLatency = 0;
  u16 ldsPortClk = 0;
  u8 matrixType = 0; ///< 1 bf16, 2 8 bits and less, 3 others, 4 f16
};

OpInfo describe(const Inst &inst, const Architecture &architecture);

} // namespace wavesmith::emulator::cycles
