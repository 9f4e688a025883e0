#pragma once
// Executes workgroups of one launch on one host thread: scheduling, services for the handlers,
// collection of faults. One Machine per worker thread; the Launch they share is read-only.

#include <array>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "emulator/Emulator.h"
#include "emulator/lanes/LaneSet.h"
#include "emulator/machine/Program.h"
#include "emulator/machine/Workgroup.h"

namespace wavesmith::emulator {

struct GroupLog;
class GlobalRaces;

namespace cycles {
class TraceRecorder;
class TraceSampler;
} // namespace cycles

/// What all workgroups of a launch have in common.
struct Launch {
  Program *program = nullptr;
  Memory *memory = nullptr;
  const RunOptions *options = nullptr;
  std::array<u32, 3> grid{}, block{};
  u32 ldsBytes = 0, ldsLimit = 0;
  u32 scratchBytes = 0; ///< per lane
  u64 kernargAddress = 0, packetAddress = 0, queueAddress = 0;
  bool together = false;                   ///< workgroups may wait for each other
  bool hazardsAreErrors = true;            ///< else warnings
  cycles::TraceSampler *sampler = nullptr; ///< null: no cycle model
  bool sampleOnly = false;                 ///< run no workgroup but those that it wants
};

/// A report, with the text of its instruction.
Fault makeFault(const Launch &launch, CheckKind kind, const Inst &inst, std::array<u32, 3> group,
                int wave, int lane, std::string message);

struct GroupFaults {
  std::array<u64, kCheckKinds> counts{};
  std::vector<Fault> kept, warnings;
};

/// The high words of the LDS and scratch apertures in flat addresses.
inline constexpr u32 kSharedAperture = 0x00010000, kPrivateAperture = 0x00020000;

class Machine {
public:
  explicit Machine(const Launch &launch);
  ~Machine();

  /// A workgroup runs in three steps: start, advance until it says that it has ended, finish.
  /// `log` takes what it does in device memory; with `races` its atomics order it with the others.
  void start(std::array<u32, 3> id, GroupLog *log, GlobalRaces *races);
  /// Executes about that many instructions more. True when the workgroup has ended.
  bool advance(u64 instructions);
  GroupFaults finish();

  u64 instructions() const { return instructions_; }
  /// Executions per instruction of the kernel, when coverage is on.
  const std::vector<u64> &coverage() const { return coverage_; }

  // Services for handlers.
  const Launch &launch;
  const LaneSet &lanes;
  Workgroup group;

  bool checks(CheckKind kind) const { return launch.options->checks.has(kind); }
  bool gfx950() const { return launch.program->gfx950(); }
  bool vectorEarly() const { return vectorEarly_; }
  bool ldsEarly() const { return ldsEarly_; }
  /// Reports a bug; counts always, keeps one text per kind and instruction.
  void fault(CheckKind kind, const Wave &wave, const Inst &inst, int lane, std::string message);
  /// The same, and the workgroup ends: there is no sane way on.
  void fatal(CheckKind kind, Wave &wave, const Inst &inst, int lane, std::string message);

  Mode modeOf(const Wave &wave) const {
    return {((wave.mode >> 9) & 1) != 0,  ((wave.mode >> 8) & 1) != 0,
            ((wave.mode >> 23) & 1) != 0, gfx950(),
            ((wave.mode >> 2) & 3) != 0,  ((wave.mode >> 4) & 1) == 0,
            (wave.mode & 3) != 0};
  }
  u32 readScalar(const Wave &wave, const Operand &operand) const {
    return operand.kind == OperandKind::Scalar     ? wave.scalar[operand.index]
           : operand.kind == OperandKind::Constant ? static_cast<u32>(operand.value)
                                                   : static_cast<u32>(special(wave, operand));
  }
  u64 readScalar64(const Wave &wave, const Operand &operand) const {
    return operand.kind == OperandKind::Scalar     ? wave.pair(operand.index)
           : operand.kind == OperandKind::Constant ? operand.value
                                                   : special(wave, operand);
  }
  u64 special(const Wave &wave, const Operand &operand) const;
  /// Lane array of any operand; scalars are spread into `scratch` (64 words each).
  const u32 *fetch(Wave &wave, const Operand &operand, u32 *scratch) const;
  void writeVector(Wave &wave, const Operand &to, const u32 *words, int count, u64 mask) const;

  // Wait counters (Waits.cpp).
  void waitVector(Wave &wave, unsigned outstanding);
  void waitLds(Wave &wave, unsigned outstanding);
  void waitAll(Wave &wave);
  /// Marks a destination as in flight, and as landed.
  void markPending(Wave &wave, const Inst &inst, u8 bit);
  void clearPending(Wave &wave, const Inst &inst, u8 bit);

  // Landing (VectorMemory.cpp, Lds.cpp, ScalarMemory.cpp).
  void landVector(Wave &wave, PendingOp &op);
  void landLds(Wave &wave, PendingOp &op);
  void landScalar(Wave &wave, PendingOp &op);

  // Device memory shared with other workgroups (checks/GlobalAccess.cpp); null: nobody looks.
  GroupLog *log() const { return log_; }
  void noteLoads(const Wave &wave, const PendingOp &op, u64 lanes, unsigned bytes);
  void noteStore(const Wave &wave, const PendingOp &op, int lane, unsigned bytes,
                 const std::byte *stored);
  void noteAtomic(const Wave &wave, const PendingOp &op, int lane);
  void noteScalarLoad(const Wave &wave, const Inst &inst, u64 address);
  void noteScalarStore(const Wave &wave, const Inst &inst, u64 address, const std::byte *stored);
  void noteScalarAtomic(const Wave &wave, const Inst &inst, u64 address);

  // Checks (checks/*.cpp).
  void checkedStep(Wave &wave, const Inst &inst, u8 marks);
  void checkDecision(Wave &wave, const Inst &inst);
  void noteMatrix(Wave &wave, const Inst &inst);
  bool tracksValidity() const { return tracksValidity_; }
  /// Does any check look at LDS addresses?
  bool checksLds() const { return checksLds_; }
  void setValid(Wave &wave, int reg, u64 lanesMask, const LaneValidity &valid);
  void setAllValid(Wave &wave, int reg, u64 lanesMask);

  u64 groupIndex() const; ///< in the grid

private:
  void startWaves(std::array<u32, 3> id);
  u64 executed() const;
  template <bool kChecked> void turn(Wave &wave, u64 limit);
  /// Puts the copy that MODE asks for in the place of the wave's next instruction.
  void redirect(Wave &wave);
  bool releaseBarrier();
  /// The marks of all registers that an instruction names.
  u8 attention(const Wave &wave, const Inst &inst) const;
  void checkWaits(Wave &wave, const Inst &inst);
  void checkScalarAddress(Wave &wave, const Inst &inst);
  void checkRecent(Wave &wave, const Inst &inst);
  void checkHazards(Wave &wave, const Inst &inst);
  void stepWithValidity(Wave &wave, const Inst &inst);
  std::string pendingSource(const Wave &wave, int reg, bool vector) const;

  bool vectorEarly_, ldsEarly_, tracksValidity_, checksLds_, checksHazards_, anyChecks_;
  u64 instructions_ = 0;
  std::vector<u64> coverage_;
  GroupFaults faults_;
  std::set<std::pair<int, u64>> reported_; ///< kinds and addresses
  std::mt19937_64 random_;
  std::vector<Wave *> order_; ///< in which waves take turns
  GroupLog *log_ = nullptr;
  GlobalRaces *races_ = nullptr;
  std::unique_ptr<cycles::TraceRecorder> recorder_; ///< of the workgroup that runs
};

} // namespace wavesmith::emulator
