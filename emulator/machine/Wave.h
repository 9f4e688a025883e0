#pragma once
// The state of one wave: registers with their attention bytes and validity, wait counters, place in
// the program. Owned by a Workgroup, touched by its one thread.

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator/Memory.h"
#include "emulator/isa/Inst.h"
#include "emulator/machine/BufferFormat.h"

namespace wavesmith::emulator {

class Workgroup;

/// Attention bits of a register. While all are clear, an instruction may use the register without
/// any further check; a set bit sends it to the slow path.
enum : u8 {
  kInvalid = 1,       ///< some byte of some lane was never written
  kPendingVector = 2, ///< destination of a load under vmcnt
  kPendingLds = 4,    ///< destination of an operation under lgkmcnt, in order
  kPendingScalar = 8, ///< destination of a scalar load (lgkmcnt, out of order)
  kMatrixHazard = 16, ///< a recent matrix instruction writes or reads it
  kOutside = 32,      ///< not a register state: the instruction names one beyond the allocation
  kPendingAny = kPendingVector | kPendingLds | kPendingScalar,
};

inline constexpr int kVectorRegisters = 512;

// Bits of MODE that change which instructions are executed and on what.
inline constexpr u32 kModeIndex = 1u << 27, kModeSkip = 1u << 28;

/// Validity of a vector register: for each lane the bits that are defined. Bits, because compilers
/// keep masks of lanes in lanes of a register.
using LaneValidity = std::array<u32, kLanes>;

/// What a register with undefined bits would hold if these were filled otherwise, in several ways;
/// of a scalar register, lane 0.
inline constexpr int kGuesses = 6;
struct Guesses {
  u32 lanes[kGuesses][kLanes];
  u32 origin = 0; ///< of its undefined bits: registers of one share them; 0: of several
};

/// The lanes where some of `bits` are not.
inline u64 undefinedLanes(const LaneValidity &valid, u32 bits = ~0u) {
  u64 lanes = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    lanes |= u64{(~valid[lane] & bits) != 0} << lane;
  return lanes;
}

/// A memory operation between issue and the wait that guarantees it.
struct PendingOp {
  const Inst *inst = nullptr;
  u64 sequence = 0;
  u64 lanes = 0;       ///< that take part
  u64 inRange[4] = {}; ///< per dword: lanes inside the buffer
  bool landed = false;
  bool isFlat = false;
  u32 ldsBase = 0; ///< LDS DMA
  u64 turn = 0;
  u64 base = 0;      ///< scalar loads
  TypedAccess typed; ///< buffers with a format
  alignas(64) u64 address[kLanes];
  alignas(64) u32 data[4][kLanes];
  LaneValidity valid[4];
};

/// First in, first out, of reused entries.
class PendingQueue {
public:
  PendingOp &push() {
    if (size_ == entries_.size())
      grow();
    PendingOp &op = *entries_[(head_ + size_) % entries_.size()];
    ++size_;
    op.landed = false;
    op.isFlat = false;
    return op;
  }
  PendingOp &front() { return *entries_[head_]; }
  PendingOp &at(std::size_t i) { return *entries_[(head_ + i) % entries_.size()]; }
  void pop() {
    head_ = (head_ + 1) % entries_.size();
    --size_;
  }
  std::size_t size() const { return size_; }
  void clear() { head_ = size_ = 0; }

private:
  void grow() {
    std::vector<std::unique_ptr<PendingOp>> bigger;
    for (std::size_t i = 0; i < size_; ++i)
      bigger.push_back(std::move(entries_[(head_ + i) % entries_.size()]));
    while (bigger.size() < size_ + 8)
      bigger.push_back(std::make_unique<PendingOp>());
    entries_ = std::move(bigger);
    head_ = 0;
  }
  std::vector<std::unique_ptr<PendingOp>> entries_;
  std::size_t head_ = 0, size_ = 0;
};

/// A matrix instruction whose registers other instructions may not touch yet.
struct MatrixShadow {
  const Inst *inst = nullptr;
  u16 first = 0, count = 0;   ///< D
  u16 cFirst = 0, cCount = 0; ///< C, when it is other registers
  u64 issued = 0;
  u8 passes = 0;
};

struct FreeMemory {
  void operator()(void *memory) const { std::free(memory); }
};

struct Wave {
  Workgroup *group = nullptr;
  int id = 0;
  const Inst *inst = nullptr;
  bool ended = false, atBarrier = false, stopped = false;
  bool scc = false, sccValid = true;
  bool redirected = false; ///< MODE has GPR_IDX_EN or VSKIP: each instruction needs a look
  u32 mode = 0;
  u64 turn = 0; ///< issue turns elapsed
  u64 instructions = 0;
  u64 matrixFree = 0; ///< turn at which the matrix pipe takes the next instruction

  alignas(64) u32 scalar[kScalarRegisters + 16];
  u32 scalarValid[kScalarRegisters + 16];
  u8 scalarState[kScalarRegisters + 16];

  /// [register][lane]; VGPRs first, AGPRs from the kernel's ACCUM_OFFSET.
  std::unique_ptr<u32[], FreeMemory> storage;
  u32 *vector = nullptr;
  std::unique_ptr<LaneValidity[], FreeMemory> vectorValid;
  u8 vectorState[kVectorRegisters + 64];
  /// Of some registers with kInvalid, by register, scalar ones from kScalarGuess (Validity.cpp).
  static constexpr int kScalarGuess = kVectorRegisters + 64;
  std::unordered_map<int, std::unique_ptr<Guesses>> guesses;
  u32 guessSeed = 0; ///< each origin of undefined bits has its own
  /// Operations in flight to it under vmcnt and under lgkmcnt; a flat load is one of each.
  u8 vectorPending[2][kVectorRegisters + 64];

  PendingQueue vectorMemory, ldsQueue, scalarQueue;
  u64 vectorSequence = 0, vectorDone = 0; ///< issued and completed, in order
  u64 ldsSequence = 0, ldsDone = 0;
  /// Barriers passed; what had completed when arriving at the last two (by parity).
  u64 barriers = 0;
  u64 ldsDoneAt[2] = {}, vectorDoneAt[2] = {};

  MatrixShadow shadows[8];
  u8 nextShadow = 0;
  struct Issued {
    const Inst *inst = nullptr;
    u64 turn = 0;
  } recent[8]; ///< the last instructions, by instruction count

  Allocation *lastAllocation = nullptr;
  std::vector<std::byte> scratch; ///< lane-private memory, one block per lane
  std::vector<u8> scratchValid;

  void setMode(u32 value) {
    mode = value;
    redirected = (value & (kModeIndex | kModeSkip)) != 0;
  }
  u64 exec() const { return pair(kExec); }
  u64 vcc() const { return pair(kVcc); }
  u64 pair(int index) const { return scalar[index] | u64{scalar[index + 1]} << 32; }
  void setPair(int index, u64 value) {
    scalar[index] = static_cast<u32>(value);
    scalar[index + 1] = static_cast<u32>(value >> 32);
  }
  u32 *lanes(int index) { return vector + std::size_t(index) * kLanes; }
};

} // namespace wavesmith::emulator
