// Rows of scalar, vector and LDS memory.

#include <vector>

#include "emulator/isa/Table.h"
#include "emulator/machine/Atomics.h"
#include "emulator/machine/Handlers.h"

namespace wavesmith::emulator {
namespace {

std::vector<Row> makeRows() {
  std::vector<Row> rows;
  auto add = [&](const char *name, Format format, u16 opcode, Use use, Handler handler,
                 Access access, u8 targets = kAllTargets) {
    Row row{name, format, opcode, targets, use};
    row.handler = handler;
    row.access = access;
    rows.push_back(row);
  };

#define SMEM(name, op, use, size, handler)                                                         \
  add(#name, Format::Smem, op, Use::use, handler, {.bytes = size});
#define SMEM_BUFFER(name, op, use, size, handler)                                                  \
  add(#name, Format::Smem, op, Use::use, handler, {.bytes = size, .count = 4});
#define SMEM_SCRATCH(name, op, use, size, handler)                                                 \
  add(#name, Format::Smem, op, Use::use, handler, {.bytes = size, .stride = 64});
#define SMEM_ATOMIC_WITH(name, op, size, kind, base, handler)                                      \
  add(#name, Format::Smem, op, Use::Atomic, handler,                                               \
      {.bytes = size,                                                                              \
       .count = base,                                                                              \
       .atomic = static_cast<u8>(AtomicKind::kind),                                                \
       .second = AtomicKind::kind == AtomicKind::CompareSwap});
#define SMEM_ATOMIC(name, op, size, kind) SMEM_ATOMIC_WITH(name, op, size, kind, 1, scalarAtomic)
#define SMEM_BUFFER_ATOMIC(name, op, size, kind)                                                   \
  SMEM_ATOMIC_WITH(name, op, size, kind, 4, scalarBufferAtomic)
#define SMEM_PLAIN(name, op, handler) add(#name, Format::Smem, op, Use::Cache, handler, {});
#define SMEM_TIME(name, op, handler)                                                               \
  add(#name, Format::Smem, op, Use::WriteOnly, handler, {.bytes = 8});
#include "emulator/isa/rows/Smem.def"

#define DS_READ(name, op, size, sign, d16, hi)                                                     \
  add(#name, Format::Ds, op, Use::Load, ldsAccess,                                                 \
      {.bytes = size, .isSigned = sign, .half = d16, .high = hi});
#define DS_WRITE(name, op, size, hi)                                                               \
  add(#name, Format::Ds, op, Use::Store, ldsAccess, {.bytes = size, .high = hi});
#define DS_READ2(name, op, size, st64)                                                             \
  add(#name, Format::Ds, op, Use::Load, ldsAccess,                                                 \
      {.bytes = size, .count = 2, .stride = (st64) ? size * 64 : size});
#define DS_WRITE2(name, op, size, st64)                                                            \
  add(#name, Format::Ds, op, Use::Store, ldsAccess,                                                \
      {.bytes = size, .count = 2, .stride = (st64) ? size * 64 : size, .second = true});
#define DS_ATOMIC(name, op, size, kind, two)                                                       \
  add(#name, Format::Ds, op, Use::Atomic, ldsAccess,                                               \
      {.bytes = size, .atomic = static_cast<u8>(AtomicKind::kind), .second = two});
#define DS_ATOMIC_RTN(name, op, size, kind, two)                                                   \
  add(#name, Format::Ds, op, Use::Atomic, ldsAccess,                                               \
      {.bytes = size,                                                                              \
       .atomic = static_cast<u8>(AtomicKind::kind),                                                \
       .returns = true,                                                                            \
       .second = two});
#define DS_WRITE_LANE(name, op)                                                                    \
  add(#name, Format::Ds, op, Use::Store, ldsAccess, {.bytes = 4, .laneAddress = true});
#define DS_READ_LANE(name, op)                                                                     \
  add(#name, Format::Ds, op, Use::Load, ldsAccess, {.bytes = 4, .laneAddress = true});
#define DS_COUNTER(name, op, kind)                                                                 \
  add(#name, Format::Ds, op, Use::Atomic, ldsAccess,                                               \
      {.bytes = 4,                                                                                 \
       .atomic = static_cast<u8>(AtomicKind::kind),                                                \
       .returns = true,                                                                            \
       .counter = true});
#define DS_NOP(name, op) add(#name, Format::Ds, op, Use::NoOperands, doNothing, {});
#define DS_SWAP2(name, op, size, st64)                                                             \
  add(#name, Format::Ds, op, Use::Atomic, ldsAccess,                                               \
      {.bytes = size,                                                                              \
       .count = 2,                                                                                 \
       .stride = (st64) ? size * 64 : size,                                                        \
       .atomic = static_cast<u8>(AtomicKind::Swap),                                                \
       .returns = true,                                                                            \
       .second = true});
#define DS_EXCHANGE(name, op, data, handler)                                                       \
  add(#name, Format::Ds, op, Use::Exchange, handler, {.bytes = 4, .second = data});
#define DS_TRANSPOSE(name, op, size)                                                               \
  add(#name, Format::Ds, op, Use::Transpose, ldsAccess, {.bytes = size}, kGfx950);
#include "emulator/isa/rows/Ds.def"

#define LOAD(name, format, op, size, sign, d16, hi)                                                \
  add(#name, Format::format, op, Use::Load, vectorMemory,                                          \
      {.bytes = size, .isSigned = sign, .half = d16, .high = hi});
#define STORE(name, format, op, size, hi)                                                          \
  add(#name, Format::format, op, Use::Store, vectorMemory, {.bytes = size, .high = hi});
#define TYPED(name, format, op, use, parts, d16, hi)                                               \
  add(#name, Format::format, op, Use::use, vectorMemory,                                           \
      {.bytes = 4 * ((d16) ? (parts + 1) / 2 : parts),                                             \
       .half = d16,                                                                                \
       .high = hi,                                                                                 \
       .components = parts});
#define ATOMIC(name, format, op, size, kind, targets)                                              \
  add(#name, Format::format, op, Use::Atomic, vectorMemory,                                        \
      {.bytes = size,                                                                              \
       .atomic = static_cast<u8>(AtomicKind::kind),                                                \
       .second = AtomicKind::kind == AtomicKind::CompareSwap},                                     \
      targets);
#define LDS_LOAD(name, format, op, size, sign, targets)                                            \
  add(#name, Format::format, op, Use::LdsDma, vectorMemory, {.bytes = size, .isSigned = sign},     \
      targets);
#define CACHE(name, format, op) add(#name, Format::format, op, Use::Cache, doNothing, {});
#include "emulator/isa/rows/Vmem.def"
  return rows;
}

} // namespace

std::span<const Row> memoryRows() {
  static const std::vector<Row> rows = makeRows();
  return rows;
}

} // namespace wavesmith::emulator
