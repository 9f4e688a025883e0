#include "emulator/machine/Launcher.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "emulator/cycles/CycleModel.h"
#include "emulator/machine/Grid.h"

namespace wavesmith::emulator {
namespace {

/// Per lane. A kernel with recursion or unknown callees declares what it knows and leaves the rest
/// to the runtime; LLVM assumes as much for such callees where it must.
u32 scratchBytes(const KernelDescriptor &descriptor) {
  constexpr int kUsesDynamicStack = 11; // of the kernel code properties
  constexpr u32 kDynamicStack = 16384;
  return descriptor.privateSegmentSize +
         ((descriptor.properties >> kUsesDynamicStack) & 1 ? kDynamicStack : 0);
}

/// Frees device memory when the launch is over.
struct Temporary {
  Memory &memory;
  u64 address = 0;
  ~Temporary() {
    if (address)
      memory.free(address).ignoreError("allocated here");
  }
};

/// What the runtime shows a kernel of itself: a queue of which only the apertures are set, and an
/// empty printf buffer. Both live as long as the launch.
struct RuntimeBlocks {
  static constexpr std::size_t kQueueBytes = 256, kPrintfBytes = 64 * 1024;
  Temporary queue, printf;

  Status create(Memory &memory, bool needsPrintf) {
    std::vector<std::byte> bytes(kQueueBytes);
    // amd_queue_t: the high words of the shared and the private aperture.
    std::memcpy(&bytes[0x40], &kSharedAperture, 4);
    std::memcpy(&bytes[0x44], &kPrivateAperture, 4);
    WAVESMITH_ASSIGN(queue.address, memory.allocate(kQueueBytes, 64));
    WAVESMITH_TRY(memory.write(queue.address, bytes));
    if (!needsPrintf)
      return Status::ok();
    // The bytes in use, the bytes that there are.
    bytes.assign(kPrintfBytes, std::byte{0});
    constexpr u32 kRoom = kPrintfBytes - 8;
    std::memcpy(&bytes[4], &kRoom, 4);
    WAVESMITH_ASSIGN(printf.address, memory.allocate(kPrintfBytes, 64));
    return memory.write(printf.address, bytes);
  }
};

/// Writes one hidden argument. What needs services of a host (hostcalls, device heap, queues for
/// enqueuing, synchronisation between devices) is null, as without them.
void putHidden(std::vector<std::byte> &block, const KernelArgument &argument,
               const LaunchConfig &config, const RuntimeBlocks &runtime) {
  auto put = [&](u64 value) {
    std::size_t size = std::min<std::size_t>(argument.size, 8);
    if (argument.offset + size <= block.size())
      std::memcpy(block.data() + argument.offset, &value, size);
  };
  const std::string &kind = argument.valueKind;
  for (int dim = 0; dim < 3; ++dim) {
    char axis = static_cast<char>('x' + dim);
    if (kind == fmt::format("hidden_block_count_{}", axis))
      put(config.grid[dim]);
    else if (kind == fmt::format("hidden_group_size_{}", axis))
      put(config.block[dim]);
    else if (kind == fmt::format("hidden_remainder_{}", axis) ||
             kind == fmt::format("hidden_global_offset_{}", axis))
      put(0);
  }
  if (kind == "hidden_grid_dims")
    put(config.grid[2] * config.block[2] > 1 ? 3 : (config.grid[1] * config.block[1] > 1 ? 2 : 1));
  else if (kind == "hidden_dynamic_lds_size")
    put(config.dynamicLds);
  else if (kind == "hidden_private_base")
    put(kPrivateAperture);
  else if (kind == "hidden_shared_base")
    put(kSharedAperture);
  else if (kind == "hidden_queue_ptr")
    put(runtime.queue.address);
  else if (kind == "hidden_printf_buffer")
    put(runtime.printf.address);
}

/// Limits of the hardware that a damaged descriptor may exceed: scratch of a lane (what a wave's
/// 13-bit size in KiB gives each), and SGPRs set up at the start.
constexpr u32 kMaxScratchBytes = 131056;
constexpr int kMaxUserScalars = 16;
constexpr u64 kMaxReplayedGroups = 4096; ///< bounds the traces' memory, with their own length

int userScalars(const KernelDescriptor &descriptor) {
  constexpr int kWords[] = {4, 2, 2, 2, 2, 2, 1}; // by the bits of the kernel code properties
  int count = descriptor.kernargPreload & 127;
  for (int bit = 0; bit < 7; ++bit)
    if ((descriptor.properties >> bit) & 1)
      count += kWords[bit];
  return count;
}

Status validate(const KernelInfo &kernel, const LaunchConfig &config, u64 ldsBytes, u64 ldsLimit) {
  u64 threads = u64{config.block[0]} * config.block[1] * config.block[2];
  u64 groups = u64{config.grid[0]} * config.grid[1] * config.grid[2];
  if (threads == 0 || groups == 0)
    return error(StatusCode::InvalidArgument, "kernel {}: grid {}x{}x{} of {}x{}x{} is empty",
                 kernel.name, config.grid[0], config.grid[1], config.grid[2], config.block[0],
                 config.block[1], config.block[2]);
  if (threads > std::min<u64>(1024, std::max(kernel.maxFlatWorkgroupSize, 1u)))
    return error(StatusCode::InvalidArgument,
                 "kernel {}: {} work-items in a workgroup, the kernel allows {}", kernel.name,
                 threads, kernel.maxFlatWorkgroupSize);
  if (kernel.requiredWorkgroupSize.size() == 3)
    for (int dim = 0; dim < 3; ++dim)
      if (kernel.requiredWorkgroupSize[dim] != config.block[dim])
        return error(StatusCode::InvalidArgument,
                     "kernel {}: block dimension {} is {}, the kernel requires {}", kernel.name,
                     dim, config.block[dim], kernel.requiredWorkgroupSize[dim]);
  if (ldsBytes > ldsLimit)
    return error(StatusCode::ResourceExhausted, "kernel {}: {} bytes of LDS, the target has {}",
                 kernel.name, ldsBytes, ldsLimit);
  if (kernel.descriptor.privateSegmentSize > kMaxScratchBytes)
    return error(StatusCode::ResourceExhausted,
                 "kernel {}: {} bytes of scratch per lane, the target has {}", kernel.name,
                 kernel.descriptor.privateSegmentSize, kMaxScratchBytes);
  if (int count = userScalars(kernel.descriptor); count > kMaxUserScalars)
    return error(StatusCode::InvalidArgument, "kernel {}: {} user SGPRs, the target has {}",
                 kernel.name, count, kMaxUserScalars);
  return Status::ok();
}

/// A grid of which only samples run must be one whose workgroups can do without the others.
Status validateWeights(const LaunchConfig &config, const RunOptions &options, u64 groups,
                       bool together) {
  const std::span<const double> weights = config.weights;
  if (weights.empty())
    return Status::ok();
  if (weights.size() != groups)
    return error(StatusCode::InvalidArgument, "kernel {}: {} weights for {} workgroups",
                 config.kernel, weights.size(), groups);
  if (!options.modelCycles || options.replayAll || together)
    return error(StatusCode::InvalidArgument,
                 "kernel {}: running samples takes the cycle model, replay=sample and workgroups "
                 "that do not wait for each other",
                 config.kernel);
  const auto bad = std::find_if(weights.begin(), weights.end(),
                                [](double weight) { return !std::isfinite(weight) || weight < 0; });
  if (bad != weights.end())
    return error(StatusCode::InvalidArgument, "kernel {}: weight {} of workgroup {}", config.kernel,
                 *bad, bad - weights.begin());
  return Status::ok();
}

} // namespace

Expected<RunReport> launchGrid(Module &module, Memory &memory, bool gfx950,
                               const LaunchConfig &config, const RunOptions &options) {
  WAVESMITH_ASSIGN(const KernelInfo *kernel, module.object().kernel(config.kernel));
  u64 ldsTotal =
      u64{std::max(kernel->ldsBytes, kernel->descriptor.groupSegmentSize)} + config.dynamicLds;
  WAVESMITH_TRY(validate(*kernel, config, ldsTotal, gfx950 ? 160 * 1024 : 64 * 1024));
  auto ldsBytes = static_cast<u32>(ldsTotal);
  auto &program = module.programs[config.kernel];
  if (!program) {
    WAVESMITH_ASSIGN(program, Program::decode(module, *kernel, gfx950));
  }

  std::size_t argumentBytes = std::max<std::size_t>(
      {kernel->kernargBytes, kernel->descriptor.kernargSize, config.kernarg.size(), 16});
  std::vector<std::byte> arguments(argumentBytes);
  std::copy(config.kernarg.begin(), config.kernarg.end(), arguments.begin());
  bool needsPrintf = std::any_of(
      kernel->arguments.begin(), kernel->arguments.end(),
      [](const KernelArgument &argument) { return argument.valueKind == "hidden_printf_buffer"; });
  RuntimeBlocks runtime{{memory}, {memory}};
  WAVESMITH_TRY(runtime.create(memory, needsPrintf));
  for (const KernelArgument &argument : kernel->arguments)
    if (argument.valueKind.rfind("hidden_", 0) == 0)
      putHidden(arguments, argument, config, runtime);
  Temporary block{memory}, packet{memory};
  WAVESMITH_ASSIGN(block.address, memory.allocate(argumentBytes, 256));
  WAVESMITH_TRY(memory.write(block.address, arguments));
  std::array<std::byte, 64> packetBytes{};
  auto put = [&](std::size_t offset, auto value) {
    std::memcpy(packetBytes.data() + offset, &value, sizeof(value));
  };
  for (int dim = 0; dim < 3; ++dim) {
    put(4 + 2 * dim, static_cast<u16>(config.block[dim]));
    put(12 + 4 * dim, config.grid[dim] * config.block[dim]);
  }
  put(24, scratchBytes(kernel->descriptor));
  put(28, ldsBytes);
  put(40, block.address);
  WAVESMITH_ASSIGN(packet.address, memory.allocate(64, 64));
  WAVESMITH_TRY(memory.write(packet.address, packetBytes));

  Launch launch;
  launch.program = program.get();
  launch.memory = &memory;
  launch.options = &options;
  launch.grid = config.grid;
  launch.block = config.block;
  launch.ldsBytes = ldsBytes;
  launch.scratchBytes = scratchBytes(kernel->descriptor);
  launch.kernargAddress = block.address;
  launch.packetAddress = packet.address;
  launch.queueAddress = runtime.queue.address;
  const bool ours = module.object().wavesmithNote().has_value();
  launch.hazardsAreErrors = options.hazards == RunOptions::Hazards::Error ||
                            (options.hazards == RunOptions::Hazards::ByOrigin && ours);
  launch.together = config.together || program->synchronises();

  u64 groups = u64{config.grid[0]} * config.grid[1] * config.grid[2];
  WAVESMITH_TRY(validateWeights(config, options, groups, launch.together));
  const cycles::Chip *chip = nullptr;
  std::optional<cycles::TraceSampler> sampler;
  if (options.modelCycles) {
    WAVESMITH_ASSIGN(chip, cycles::findChip(options.chip, gfx950 ? "gfx950" : "gfx942"));
    if (options.replayAll && groups > kMaxReplayedGroups)
      return error(StatusCode::InvalidArgument,
                   "kernel {}: {} workgroups; replay=all takes at most {}", config.kernel, groups,
                   kMaxReplayedGroups);
    launch.sampler =
        &sampler.emplace(*program, *chip->architecture, groups, options.replayAll, config.weights);
    launch.sampleOnly = !config.weights.empty();
  }
  auto start = std::chrono::steady_clock::now();
  GridResult result = runGrid(launch, groups);

  RunReport report;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.instructions = result.instructions;
  if (sampler) {
    sampler->setAllocations([&memory](u64 address) {
      const Allocation *allocation = memory.find(address);
      return allocation ? allocation->base() : 0;
    });
    if (launch.sampleOnly)
      sampler->estimateSizes(config.weights);
    u64 workItems = u64{config.block[0]} * config.block[1] * config.block[2];
    cycles::Footprint footprint{static_cast<int>((workItems + kLanes - 1) / kLanes),
                                program->vgprs(), static_cast<int>(kernel->sgprs),
                                static_cast<int>(ldsBytes)};
    TraceFile *trace = options.trace.get();
    bool hasRoom = trace && trace->beginLaunch(kernel->name, chip->clockMhz);
    report.modelled = cycles::modelLaunch(*sampler, *chip, footprint, hasRoom ? trace : nullptr);
    report.modelled->workgroups = groups;
    report.modelled->executed = launch.sampleOnly ? sampler->wanted().size() : groups;
    if (trace) {
      trace->endLaunch(static_cast<double>(report.modelled->cycles))
          .ignoreError("in the summary; the launch itself is fine");
      report.trace = trace->summary();
    }
  }
  report.faultCounts = result.counts;
  const auto keepFirst = [&](auto &byGroup, std::vector<Fault> &to) {
    for (auto &[index, faults] : byGroup)
      for (Fault &fault : faults)
        if (to.size() < static_cast<std::size_t>(options.maxFaults))
          to.push_back(std::move(fault));
  };
  keepFirst(result.faults, report.faults);
  keepFirst(result.warnings, report.warnings);
  for (std::size_t i = 0; i < result.coverage.size(); ++i) {
    const Inst &inst = program->instructions()[i];
    auto text = disassemble(std::span<const std::uint32_t>(inst.words, 4), inst.pc,
                            gfx950 ? "gfx950" : "gfx942", nullptr);
    if (!text && result.coverage[i] == 0)
      continue; // padding behind the code
    report.coverage.push_back({inst.pc - program->entryAddress(),
                               text ? *text : text.status().message(), result.coverage[i]});
  }
  return report;
}

} // namespace wavesmith::emulator
