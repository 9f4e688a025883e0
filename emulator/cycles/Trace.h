#pragma once
// What the functional run leaves for the model: per wave the instructions in order, with the bank
// clocks and memory lines that depend on data. A TraceSampler is shared by the machines of one
// launch (its own lock); a TraceRecorder belongs to one Machine.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/cycles/OpInfo.h"

namespace wavesmith::emulator {
class Machine;
class Program;
struct Wave;
} // namespace wavesmith::emulator

namespace wavesmith::emulator::cycles {

inline constexpr int kScalarLineBytes = 64; ///< of the scalar cache

struct TraceStep {
  u32 op = 0;   ///< into TraceSampler::ops()
  u32 data = 0; ///< LDS: bank clocks; memory: which access; branch: taken
};

struct MemoryLines {
  u32 first = 0; ///< into WaveTrace::lines or scalarLines
  u16 count = 0;
  u8 serial = 0;      ///< atomics: lanes on the busiest dword
  bool inLds = false; ///< a flat access with lanes in the LDS
};

struct WaveTrace {
  std::vector<TraceStep> steps;
  std::vector<MemoryLines> accesses;
  std::vector<u64> lines;       ///< of vector memory, Architecture::lineBytes each
  std::vector<u64> scalarLines; ///< of scalar memory, kScalarLineBytes each
  u64 instructions = 0;         ///< executed; more than `steps` when the trace was cut
};

struct GroupTrace {
  u64 index = 0; ///< linear workgroup id
  std::vector<WaveTrace> waves;
  u64 instructions() const;
  /// Executed instructions per traced one, at least 1.
  double scale() const;
};

class TraceRecorder;

class TraceSampler {
public:
  /// `all`: of every workgroup, else of a few; with `weights` the lightest and the heaviest are
  /// among them.
  TraceSampler(const Program &program, const Architecture &architecture, u64 groups, bool all,
               std::span<const double> weights = {});

  /// Is this workgroup traced? Depends on the grid alone.
  bool wants(u64 group) const;
  /// All that are, in order.
  std::vector<u64> wanted() const;
  void setInstructions(u64 group, u64 count) { sizes_[group] = count; }
  /// Gives the workgroups that were not run their size, linear between the weights of those that
  /// were.
  void estimateSizes(std::span<const double> weights);
  void add(std::unique_ptr<GroupTrace> trace);

  const Architecture &architecture() const { return architecture_; }
  const std::vector<OpInfo> &ops() const { return ops_; } ///< after the run
  const std::vector<u64> &sizes() const { return sizes_; }
  /// By workgroup index.
  const std::map<u64, std::unique_ptr<GroupTrace>> &traces() const { return traces_; }
  bool tracesAll() const { return all_; }
  /// `base` gives where the allocation that holds an address begins.
  void setAllocations(std::function<u64(u64)> base) { allocationBase_ = std::move(base); }
  u64 allocationBase(u64 address) const { return allocationBase_ ? allocationBase_(address) : 0; }
  u64 entryAddress() const { return entryAddress_; }
  std::string text(u32 op) const; ///< disassembly

private:
  friend class TraceRecorder;
  u32 opOf(const Inst &inst);

  const Architecture &architecture_;
  const Inst *first_ = nullptr;
  std::size_t count_ = 0;
  u64 entryAddress_ = 0;
  bool all_ = false;
  std::function<u64(u64)> allocationBase_;
  std::vector<u64> sizes_; ///< instructions per workgroup
  std::map<u64, bool> wanted_;
  std::mutex mutex_;
  std::vector<OpInfo> ops_;
  std::vector<const Inst *> insts_;               ///< of the ops
  std::unordered_map<const Inst *, u32> outside_; ///< called functions
  std::map<u64, std::unique_ptr<GroupTrace>> traces_;
};

class TraceRecorder {
public:
  TraceRecorder(TraceSampler &sampler, u64 group, std::size_t waves);
  /// Called after the instruction ran.
  void step(Wave &wave, const Inst &inst);
  std::unique_ptr<GroupTrace> take() { return std::move(trace_); }

private:
  u32 memoryAccess(WaveTrace &to, Wave &wave, const Inst &inst);
  u32 scalarAccess(WaveTrace &to, Wave &wave, const Inst &inst);

  TraceSampler &sampler_;
  std::unique_ptr<GroupTrace> trace_;
};

} // namespace wavesmith::emulator::cycles
