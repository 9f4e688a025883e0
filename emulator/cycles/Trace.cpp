#include "emulator/cycles/Trace.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

#include "emulator/Emulator.h"
#include "emulator/cycles/LdsBanks.h"
#include "emulator/machine/Machine.h"
#include "emulator/machine/Program.h"
#include "emulator/machine/Wave.h"

namespace wavesmith::emulator::cycles {
namespace {

constexpr u64 kCandidates = 16;            ///< workgroups that are traced
constexpr std::size_t kMaxSteps = 200'000; ///< per wave; the rest is scaled

/// Lanes that share the most popular address.
u8 busiestDword(const PendingOp &op, u64 lanes) {
  std::array<u64, kLanes> addresses;
  std::size_t count = 0;
  for (; lanes; lanes &= lanes - 1)
    addresses[count++] = op.address[std::countr_zero(lanes)] / 4;
  std::sort(addresses.begin(), addresses.begin() + count);
  std::size_t most = 0, run = 0;
  for (std::size_t i = 0; i < count; ++i) {
    run = i && addresses[i] == addresses[i - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return static_cast<u8>(most);
}

} // namespace

u64 GroupTrace::instructions() const {
  u64 sum = 0;
  for (const WaveTrace &wave : waves)
    sum += wave.instructions;
  return sum;
}

double GroupTrace::scale() const {
  u64 traced = 0;
  for (const WaveTrace &wave : waves)
    traced += wave.steps.size();
  return traced ? std::max(1.0, static_cast<double>(instructions()) / static_cast<double>(traced))
                : 1.0;
}

TraceSampler::TraceSampler(const Program &program, const Architecture &architecture, u64 groups,
                           bool all, std::span<const double> weights)
    : architecture_(architecture), first_(program.instructions().data()),
      count_(program.instructions().size()), entryAddress_(program.entryAddress()), all_(all),
      sizes_(groups) {
  for (const Inst &inst : program.instructions()) {
    ops_.push_back(describe(inst, architecture));
    insts_.push_back(&inst);
  }
  // Steps near the golden section of the grid meet every residue of its dimensions.
  u64 step = std::max<u64>(1, static_cast<u64>(static_cast<double>(groups) * 0.6180339887));
  while (std::gcd(step, groups) != 1)
    ++step;
  for (u64 k = 0; k < std::min(groups, kCandidates); ++k)
    wanted_[static_cast<u64>(static_cast<unsigned __int128>(k) * step % groups)] = true;
  if (weights.empty())
    return;
  const auto [lightest, heaviest] = std::minmax_element(weights.begin(), weights.end());
  wanted_[static_cast<u64>(lightest - weights.begin())] = true;
  wanted_[static_cast<u64>(heaviest - weights.begin())] = true;
}

std::vector<u64> TraceSampler::wanted() const {
  std::vector<u64> groups;
  for (const auto &[group, wanted] : wanted_)
    groups.push_back(group);
  return groups;
}

void TraceSampler::estimateSizes(std::span<const double> weights) {
  struct Sum {
    double size = 0;
    int count = 0;
    double mean() const { return size / count; }
  };
  std::map<double, Sum> known; // weight -> size
  for (const auto &[group, wanted] : wanted_) {
    Sum &sum = known[weights[group]];
    sum.size += static_cast<double>(sizes_[group]);
    ++sum.count;
  }
  for (u64 group = 0; group < sizes_.size(); ++group) {
    if (wants(group))
      continue;
    // Never outside: the lightest and the heaviest were run.
    const auto above = known.lower_bound(weights[group]);
    double size = above->second.mean();
    if (above->first != weights[group]) {
      const auto below = std::prev(above);
      const double t = (weights[group] - below->first) / (above->first - below->first);
      size = below->second.mean() + t * (size - below->second.mean());
    }
    sizes_[group] = static_cast<u64>(std::llround(size));
  }
}

bool TraceSampler::wants(u64 group) const { return all_ || wanted_.count(group) != 0; }

void TraceSampler::add(std::unique_ptr<GroupTrace> trace) {
  std::lock_guard lock(mutex_);
  u64 index = trace->index;
  traces_[index] = std::move(trace);
}

u32 TraceSampler::opOf(const Inst &inst) {
  if (&inst >= first_ && &inst < first_ + count_)
    return static_cast<u32>(&inst - first_);
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = outside_.try_emplace(&inst, static_cast<u32>(ops_.size()));
  if (isNew) {
    ops_.push_back(describe(inst, architecture_));
    insts_.push_back(&inst);
  }
  return entry->second;
}

std::string TraceSampler::text(u32 op) const {
  const Inst &inst = *insts_[op];
  auto text = disassemble(std::span<const std::uint32_t>(inst.words, 4), inst.pc,
                          architecture_.target, nullptr);
  return text ? *text : fmt::format(".long {:#010x}", inst.words[0]);
}

TraceRecorder::TraceRecorder(TraceSampler &sampler, u64 group, std::size_t waves)
    : sampler_(sampler), trace_(std::make_unique<GroupTrace>()) {
  trace_->index = group;
  trace_->waves.resize(waves);
}

u32 TraceRecorder::memoryAccess(WaveTrace &to, Wave &wave, const Inst &inst) {
  MemoryLines access{static_cast<u32>(to.lines.size()), 0};
  PendingQueue &queue = wave.vectorMemory;
  if (queue.size() && queue.at(queue.size() - 1).inst == &inst) {
    const PendingOp &op = queue.at(queue.size() - 1);
    u64 lanes = op.lanes & op.inRange[0];
    u64 bytes = std::max<u64>(1, inst.row->access.bytes);
    bool isFlat = inst.row->format == Format::Flat;
    u64 scratchBase = u64{kPrivateAperture} << 32 | static_cast<u64>(wave.id) << 28;
    u64 previous = ~u64{0};
    if (inst.row->use == Use::Atomic)
      access.serial = busiestDword(op, lanes);
    for (; lanes; lanes &= lanes - 1) {
      auto lane = static_cast<u64>(std::countr_zero(lanes));
      u64 at = op.address[lane];
      if (isFlat && at >> 32 == kSharedAperture) {
        access.inLds = true;
        continue;
      }
      if (at >> 32 == kPrivateAperture) // dword by dword, all lanes of one beside each other
        at = scratchBase + (at & 0xffffffff) * kLanes + lane * 4;
      for (u64 line = at / 128; line <= (at + bytes - 1) / 128; ++line)
        if (line != previous) {
          to.lines.push_back(line);
          previous = line;
        }
    }
    auto begin = to.lines.begin() + access.first;
    std::sort(begin, to.lines.end());
    to.lines.erase(std::unique(begin, to.lines.end()), to.lines.end());
    access.count = static_cast<u16>(to.lines.size() - access.first);
  }
  to.accesses.push_back(access);
  return static_cast<u32>(to.accesses.size() - 1);
}

u32 TraceRecorder::scalarAccess(WaveTrace &to, Wave &wave, const Inst &inst) {
  MemoryLines access{static_cast<u32>(to.scalarLines.size()), 0};
  PendingQueue &queue = wave.scalarQueue;
  if (queue.size() && queue.at(queue.size() - 1).inst == &inst) {
    u64 at = queue.at(queue.size() - 1).base;
    u64 bytes = std::max<u64>(4, inst.row->access.bytes);
    for (u64 line = at / kScalarLineBytes; line <= (at + bytes - 1) / kScalarLineBytes; ++line)
      to.scalarLines.push_back(line);
    access.count = static_cast<u16>(to.scalarLines.size() - access.first);
  }
  to.accesses.push_back(access);
  return static_cast<u32>(to.accesses.size() - 1);
}

void TraceRecorder::step(Wave &wave, const Inst &inst) {
  WaveTrace &to = trace_->waves[static_cast<std::size_t>(wave.id)];
  ++to.instructions;
  if (to.steps.size() >= kMaxSteps)
    return;
  TraceStep step{sampler_.opOf(inst), 0};
  if (inst.row)
    switch (inst.row->format) {
    case Format::Ds: {
      PendingQueue &queue = wave.ldsQueue;
      if (inst.row->use != Use::Exchange && queue.size() &&
          queue.at(queue.size() - 1).inst == &inst) {
        const PendingOp &op = queue.at(queue.size() - 1);
        step.data = static_cast<u32>(
            bankClocks(inst, op.address, op.lanes, sampler_.architecture().ldsBanks));
      }
      break;
    }
    case Format::Flat:
    case Format::Scratch:
    case Format::Global:
    case Format::Mubuf:
    case Format::Mtbuf:
      step.data = memoryAccess(to, wave, inst);
      break;
    case Format::Smem:
      step.data = scalarAccess(to, wave, inst);
      break;
    default:
      step.data = wave.inst != inst.next;
    }
  to.steps.push_back(step);
}

} // namespace wavesmith::emulator::cycles
