#pragma once
// The emulator's face to its clients (the HIP front, tests): device memory, loaded code objects,
// one call that runs a grid and returns what happened. No global state: a Device owns everything.
// A Device may be used by one thread at a time; run() itself uses the host's cores.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/cycles/CycleReport.h"
#include "emulator/cycles/TraceFile.h"
#include "runtime/codeobject/CodeObject.h"
#include "runtime/support/Status.h"

namespace wavesmith::emulator {

/// When memory results land and how the waves of a workgroup take turns (docs/emulator.md).
struct ExecutionOrder {
  enum class Landing : std::uint8_t { Early, Late }; ///< at issue / at the wait that guarantees it
  enum class Waves : std::uint8_t {
    Lockstep,     ///< turns of about 32 instructions
    RunToBarrier, ///< each wave runs until it must stop
    Preemptive,   ///< turns of random length, seeded
  };
  Landing vectorMemory = Landing::Late; ///< loads and LDS DMA
  Landing lds = Landing::Early;
  Waves waves = Waves::Lockstep;
  bool poison = false; ///< registers and LDS start as garbage instead of zero

  /// "default", or a comma list of: vmem-early vmem-late lds-early lds-late lockstep
  /// run-to-barrier preemptive poison.
  static Expected<ExecutionOrder> parse(std::string_view text);
  std::string text() const;
};

enum class CheckKind : std::uint8_t {
  Memory,
  Uninitialised,
  Waits,
  Races,
  Barriers,
  Hazards,
  Alignment,
  Registers,
};
inline constexpr int kCheckKinds = 8;
std::string_view checkName(CheckKind kind); ///< "memory", "uninitialised", ...

/// Bit set of CheckKind; all() is the default.
struct Checks {
  std::uint32_t mask = (1u << kCheckKinds) - 1;
  static Checks all() { return {}; }
  static Checks none() { return {0}; }
  bool has(CheckKind kind) const { return (mask >> static_cast<int>(kind)) & 1; }
  /// "all", "none", or a comma list of check names.
  static Expected<Checks> parse(std::string_view text);
};

/// A bug found in the emulated code (or an instruction that is not one).
struct Fault {
  CheckKind kind = CheckKind::Memory;
  std::string kernel;
  std::int64_t pc = 0; ///< from the kernel's entry; a function placed before it is negative
  std::array<std::uint32_t, 3> workgroup{};
  int wave = -1; ///< in the workgroup
  int lane = -1; ///< -1: the whole wave
  std::string disassembly;
  std::string source;  ///< "file:line:column" where the object has debug information
  std::string message; ///< what is wrong, with addresses or registers; the earlier access if any
  /// One line: kind, kernel+pc, disassembly, workgroup, wave, lane, message, source.
  std::string text() const;
};

/// How matrix instructions add up (emulator/README.md, Numerics).
enum class MatrixSums : std::uint8_t {
  Float32, ///< one rounding to float32 per k, in order
  Cdna3,   ///< in groups of k, as the published model of CDNA3's matrix cores
};

struct RunOptions {
  Checks checks;
  ExecutionOrder order;
  std::uint64_t seed = 1;
  int threads = 0;    ///< host threads; 0 = all cores
  int maxFaults = 16; ///< reports kept; all are counted
  /// Too few wait states make code wrong on some days. Of code with our note they are errors; other
  /// people's kernels are known to live with some, so theirs are warnings unless asked.
  enum class Hazards : std::uint8_t { Error, Warning, ByOrigin } hazards = Hazards::Error;
  bool coverage = false;            ///< count executions per instruction
  bool modelCycles = false;         ///< trace some workgroups and model the launch's time
  bool replayAll = false;           ///< model every workgroup, not some; for small grids
  std::shared_ptr<TraceFile> trace; ///< of the model, when it is on
  MatrixSums matrixSums = MatrixSums::Float32;
  std::string chip; ///< that the model takes: "MI325X"; empty: the target's default
  /// A hang becomes a fault, in minutes. The longest sequence of the contract needs 2^27.
  std::uint64_t maxInstructionsPerWave = std::uint64_t{1} << 28;
};

struct LaunchConfig {
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};  ///< in workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1}; ///< in work-items
  std::uint32_t dynamicLds = 0;
  bool together = false;              ///< every workgroup makes progress (a cooperative launch)
  std::span<const std::byte> kernarg; ///< explicit arguments; hidden ones are filled in
  /// Not empty: only the workgroups that the cycle model samples are executed, the others' length
  /// follows from this figure for each workgroup, in any unit of work. For times of grids that take
  /// too long to run; what the others would have stored is missing.
  std::span<const double> weights;
};

struct RunReport {
  std::uint64_t instructions = 0; ///< wave instructions executed
  double seconds = 0;             ///< host time
  std::array<std::uint64_t, kCheckKinds> faultCounts{};
  std::vector<Fault> faults;   ///< the first maxFaults, in a deterministic order
  std::vector<Fault> warnings; ///< the same of what is no error, and counted nowhere
  struct Executed {
    std::uint64_t pc;
    std::string disassembly;
    std::uint64_t count;
  };
  std::vector<Executed> coverage;      ///< when asked for
  std::optional<CycleReport> modelled; ///< when asked for
  std::optional<TraceSummary> trace;   ///< when asked for
  bool clean() const { return faults.empty(); }
};

struct DeviceModel {
  std::string target = "gfx942"; ///< "gfx942" or "gfx950"
};

class Module; ///< a code object placed in a Device's memory

class Device {
public:
  static Expected<std::unique_ptr<Device>> create(const DeviceModel &model);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const std::string &target() const;

  // Memory. Addresses are device addresses; each allocation has an exact byte range, unmapped
  // guard space on both sides, and validity per byte (never-written bytes are uninitialised).
  Expected<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment = 256);
  Status free(std::uint64_t address);
  /// Lets kernels reach memory of the host at its own address, until it is freed here.
  Status mapHost(std::span<std::byte> memory);
  /// Sparse: pages appear at first touch, so a 1 TiB allocation is fine.
  Status write(std::uint64_t address, std::span<const std::byte> bytes);
  Status read(std::uint64_t address, std::span<std::byte> bytes) const;
  Status fill(std::uint64_t address, std::byte value, std::uint64_t bytes);
  Status copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  /// Base and size of the allocation that holds `address`.
  Expected<std::pair<std::uint64_t, std::uint64_t>> allocationOf(std::uint64_t address) const;

  Expected<std::shared_ptr<Module>> load(const CodeObject &object);
  /// Frees the module's memory; it can run no more.
  Status unload(Module &module);
  /// Address and size of a global variable of a loaded module.
  Expected<std::pair<std::uint64_t, std::uint64_t>> global(const Module &module,
                                                           std::string_view name) const;
  /// Runs the grid to its end or to its faults. The Status is for bad requests (unknown kernel,
  /// block over the kernel's limit, LDS over the target's); what the code did wrong is in the
  /// report.
  Expected<RunReport> run(const Module &module, const LaunchConfig &launch,
                          const RunOptions &options);

  struct Impl;

private:
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Disassembles one instruction with the emulator's own table, in LLVM's spelling; bytes of the
/// instruction in `size`. An unknown encoding is an error with its bytes.
Expected<std::string> disassemble(std::span<const std::uint32_t> words, std::uint64_t pc,
                                  std::string_view target, std::size_t *size);

} // namespace wavesmith::emulator
