// Rows of the vector ALU and the matrix core.

#include <vector>

#include "emulator/isa/Table.h"
#include "emulator/machine/Handlers.h"

// The signatures come from the row functions themselves; their bodies are compiled here as well,
// but never run.
#include "emulator/lanes/LaneSet.h"

namespace wavesmith::emulator {
namespace {

#include "emulator/lanes/Float.h"
#include "emulator/lanes/Helpers.h"
#include "emulator/lanes/SmallFloat.h"

std::vector<Row> makeRows() {
  std::vector<Row> rows;
  u16 index = 0;
  auto add = [&](const char *name, Format format, u16 opcode, u8 targets, Use use,
                 Signature signature, Handler handler) {
    Row row{name, format, opcode, targets, use, signature, handler};
    row.laneIndex = index++;
    rows.push_back(row);
  };

#define ROW(name, format, opcode, targets, use, handler, ...)                                      \
  add(#name, Format::format, opcode, targets, Use::use, signatureOf([] __VA_ARGS__), handler);

#define VOP1(name, op, ...) ROW(name, Vop1, op, kAllTargets, Plain, runVector, __VA_ARGS__)
#define VOP1_950(name, op, ...) ROW(name, Vop1, op, kGfx950, Plain, runVector, __VA_ARGS__)
#include "emulator/isa/rows/Vop1.def"
  index = 0;
#define VOP2(name, op, ...) ROW(name, Vop2, op, kAllTargets, Plain, runVector, __VA_ARGS__)
#define VOP2_950(name, op, ...) ROW(name, Vop2, op, kGfx950, Plain, runVector, __VA_ARGS__)
#define VOP2_K(name, op, ...) ROW(name, Vop2, op, kAllTargets, Literal, runVector, __VA_ARGS__)
#include "emulator/isa/rows/Vop2.def"
  index = 0;
#define VOPC(name, op, ...) ROW(name, Vopc, op, kAllTargets, Plain, runVector, __VA_ARGS__)
#define VOPCX(name, op, ...) ROW(name, Vopc, op, kAllTargets, WriteExec, runVector, __VA_ARGS__)
#include "emulator/isa/rows/Vopc.def"
  index = 0;
#define VOP3(name, op, ...) ROW(name, Vop3, op, kAllTargets, Plain, runVector, __VA_ARGS__)
#define VOP3_950(name, op, ...) ROW(name, Vop3, op, kGfx950, Plain, runVector, __VA_ARGS__)
#define VOP3_VCC(name, op, ...) ROW(name, Vop3, op, kAllTargets, VccIn, runVector, __VA_ARGS__)
#define VOP3_BITOP(name, op, ...) ROW(name, Vop3, op, kGfx950, Bitop, runVector, __VA_ARGS__)
#define VOP3_HALF(name, op, ...)                                                                   \
  ROW(name, Vop3, op, kAllTargets, HalfResult, runVector, __VA_ARGS__)
#define VOP3_BYTE(name, op, ...)                                                                   \
  ROW(name, Vop3, op, kAllTargets, ByteResult, runVector, __VA_ARGS__)
#define SCALE(name, op, ...) ROW(name, Vop3, op, kGfx950, Plain, runVector, __VA_ARGS__)
#define SCALE_TO_HALF(name, op, ...)                                                               \
  ROW(name, Vop3, op, kGfx950, HalfResult, runVector, __VA_ARGS__)
#define SCALE_TO_BYTE(name, op, ...)                                                               \
  ROW(name, Vop3, op, kGfx950, ByteResult, runVector, __VA_ARGS__)
#define SCALE_FROM_BYTE(name, op, ...)                                                             \
  ROW(name, Vop3, op, kGfx950, ByteOperand, runVector, __VA_ARGS__)
#define SCALE_BYTE_TO_HALF(name, op, ...)                                                          \
  ROW(name, Vop3, op, kGfx950, ByteToHalf, runVector, __VA_ARGS__)
#include "emulator/isa/rows/Vop3.def"
  index = 0;
#define PK16(name, op, ...) ROW(name, Vop3p, op, kAllTargets, Packed16, runPacked16, __VA_ARGS__)
#define PK16_950(name, op, ...) ROW(name, Vop3p, op, kGfx950, Packed16, runPacked16, __VA_ARGS__)
#define PK32(name, op, ...) ROW(name, Vop3p, op, kAllTargets, Packed32, runPacked32, __VA_ARGS__)
#define PK32_MOV(name, op, ...)                                                                    \
  ROW(name, Vop3p, op, kAllTargets, PackedMove, runPackedMove, __VA_ARGS__)
#define MIX(name, op, ...) ROW(name, Vop3p, op, kAllTargets, Mix, runMix, __VA_ARGS__)
#define DOT(name, op, ...) ROW(name, Vop3p, op, kAllTargets, Dot, runVector, __VA_ARGS__)
#define DOT_950(name, op, ...) ROW(name, Vop3p, op, kGfx950, Dot, runVector, __VA_ARGS__)
#include "emulator/isa/rows/Vop3p.def"

#define VALU(name, format, opcode, use, targets, handler)                                          \
  rows.push_back(                                                                                  \
      {#name, Format::format, opcode, targets, Use::use, makeSignature<u32, u32>(), handler});
#include "emulator/isa/rows/Special.def"
  // The second source of the lane accessors is the lane.
  for (Row &row : rows)
    if (row.handler == readLane || row.handler == writeLane)
      row.signature = makeSignature<u32, u32, u32>();
    else if (row.use == Use::NoOperands)
      row.signature = Signature();

  index = 0;
#define WIDE(name, op, targets, result, s0, s1, s2, ...)                                           \
  {                                                                                                \
    Signature signature{Type::result, {Type::s0, Type::s1, Type::s2}};                             \
    signature.sourceCount = Type::s2 == Type::None ? 2 : 3;                                        \
    add(#name, Format::Vop3, op, targets, Use::Plain, signature, runWide);                         \
  }
#include "emulator/isa/rows/Wide.def"

  u8 matrix = 0;
#define MFMA(name, op, a, b, m, n, k, blocks, passes, targets)                                     \
  {                                                                                                \
    Row row{#name, Format::Vop3p, op, targets, Use::Matrix};                                       \
    row.handler = runMatrix;                                                                       \
    row.matrixRow = matrix++;                                                                      \
    rows.push_back(row);                                                                           \
  }
#define SMFMAC(name, op, a, b, m, n, k, blocks, passes, targets)                                   \
  MFMA(name, op, a, b, m, n, k, blocks, passes, targets)                                           \
  rows.back().use = Use::SparseMatrix;
#include "emulator/isa/rows/Matrix.def"
  return rows;
}

} // namespace

std::span<const Row> vectorRows() {
  static const std::vector<Row> rows = makeRows();
  return rows;
}

const MatrixRow &matrixRow(const Row &row) {
#undef SMFMAC
#undef MFMA
#define MFMA(name, op, a, b, m, n, k, blocks, passes, targets)                                     \
  {{m, n, k, blocks, MatrixType::a, MatrixType::b, MatrixType::a == MatrixType::I8}, passes},
#define SMFMAC MFMA
  static const MatrixRow rows[] = {
#include "emulator/isa/rows/Matrix.def"
  };
  return rows[row.matrixRow];
}

} // namespace wavesmith::emulator
