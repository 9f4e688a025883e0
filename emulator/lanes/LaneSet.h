#pragma once
// The vectorised work: functions over all 64 lanes, compiled once per host instruction set
// (baseline, AVX2+FMA, AVX-512) from the same sources and chosen at start-up. They see pointers to
// lane arrays and nothing of the machine. Immutable tables; any thread.

#include "emulator/isa/Types.h"

namespace wavesmith::emulator {

/// A register is 64 words, one per lane; the words of a wide operand follow one another.
struct LaneIo {
  const u32 *source[4];
  const u32 *old; ///< destination before the instruction
  u32 *result;    ///< never aliases a register
  u64 maskIn = 0;
  u64 maskOut = 0;
  Mode mode;
};
using LaneFunction = void (*)(LaneIo &);

enum class MatrixType : u8 { F16, Bf16, Fp8, Bf8, Fp6, Bf6, Fp4, I8, F32, Xf32, F64 };

/// One dense matrix instruction: everything that its register maps follow from.
struct MatrixShape {
  u16 m, n, k;
  u8 blocks;
  MatrixType a, b;
  bool integer; ///< i32 accumulation
};

struct MatrixIo {
  const u32 *a, *b, *c;
  u32 *d; ///< may alias c exactly; otherwise the driver separates them
  MatrixShape shape;
  bool ocp;
  bool splitA = false, splitB = false;     ///< K is stored as two halves per lane (8-bit f8f6f4)
  u8 broadcastSize, broadcastId, permuteB; ///< cbsz, abid, blgp
  const u32 *sparseIndex = nullptr;        ///< 4:2 sparse A: two bits per stored item
  u8 indexShift = 0;
  const u32 *scaleA = nullptr, *scaleB = nullptr; ///< E8M0 bytes, one per lane, or null
  bool grouped = false; ///< sums as in CDNA3's matrix cores, else float32 in order of k
};

struct LaneSet {
  const char *name;
  // By row order of the .def files.
  const LaneFunction *vop1, *vop2, *vop3, *vopc, *vop3p, *wide;
  void (*matrix)(const MatrixIo &io);
  void (*splat)(u32 *to, u32 value);
  /// Lanes of `mask` take `from`.
  void (*blend)(u32 *to, const u32 *from, u64 mask);
  void (*copy)(u32 *to, const u32 *from);
  /// Denormals become signed zeros.
  void (*flushF32)(u32 *values);
  void (*flushF16)(u32 *values);
  void (*flushF64)(u32 *values);
  /// (value & andMask) ^ xorMask, which is abs and neg.
  void (*signs)(u32 *to, const u32 *from, u32 andMask, u32 xorMask);
  void (*clampF32)(u32 *values, bool nanToZero);
  /// base + offset for every lane (64-bit), offsets zero-extended.
  void (*addresses)(u64 *to, u64 base, const u32 *offsets);
};

const LaneSet &laneSet();

} // namespace wavesmith::emulator
