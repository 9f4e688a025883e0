#include "emulator/cycles/Timeline.h"

#include <algorithm>
#include <limits>
#include <set>

namespace wavesmith::emulator::cycles {
namespace {

// Track numbers, by which Perfetto sorts.
constexpr int kSimdTracks = 100'000, kPortTrack = 90'000, kPipeTrack = 90'001;
constexpr int kLdsTrack = 400'000, kBarrierTrack = 400'010;
constexpr std::string_view kFlights[] = {"loads in flight", "stores in flight", "LDS in flight",
                                         "scalar loads in flight"};

std::string_view className(const OpInfo &op) {
  switch (op.kind) {
  case Kind::Matrix:
    return "matrix";
  case Kind::PackedF32:
    return "packed float32";
  case Kind::Transcendental:
    return "transcendental";
  case Kind::Load:
    return "vector load";
  case Kind::Store:
    return "vector store";
  case Kind::Atomic:
    return "atomic";
  case Kind::LdsDma:
    return "LDS DMA";
  case Kind::LdsAccess:
    return "LDS";
  case Kind::ScalarLoad:
    return "scalar load";
  case Kind::Wait:
    return "wait";
  case Kind::Barrier:
    return "barrier";
  case Kind::Nop:
  case Kind::Sleep:
    return "idle";
  case Kind::SetPriority:
    return "priority";
  case Kind::End:
    return "end";
  case Kind::Plain:
    break;
  }
  switch (op.category) {
  case Category::Vector:
    return "vector";
  case Category::Branch:
    return "branch";
  case Category::Internal:
    return "internal";
  default:
    return "scalar";
  }
}

} // namespace

UnitTimeline::UnitTimeline(TraceFile &file, const TraceSampler &sampler, std::string_view title,
                           std::uint64_t budget)
    : file_(file), sampler_(sampler), limit_(file.written() + budget),
      process_(file.process(title)) {
  for (int simd = 0; simd < 4; ++simd) {
    file_.track(process_, simd * kSimdTracks + kPortTrack, fmt::format("SIMD {} VALU port", simd));
    file_.track(process_, simd * kSimdTracks + kPipeTrack,
                fmt::format("SIMD {} matrix pipe", simd));
  }
  for (int pair = 0; pair < 2; ++pair)
    file_.track(process_, kLdsTrack + pair,
                fmt::format("LDS of SIMDs {} and {}", 2 * pair, 2 * pair + 1));
}

bool UnitTimeline::open(double at) {
  if (isOpen_ && file_.written() >= limit_) {
    isOpen_ = false;
    file_.noteCut(process_, at);
  }
  return isOpen_;
}

const UnitTimeline::Text &UnitTimeline::text(std::uint32_t op) {
  if (op >= texts_.size())
    texts_.resize(std::max<std::size_t>(op + 1, sampler_.ops().size()));
  Text &known = texts_[op];
  if (known.mnemonic.empty()) {
    std::string full = TraceFile::escape(sampler_.text(op));
    known.mnemonic = full.substr(0, full.find(' '));
    auto pc = static_cast<std::int64_t>(sampler_.ops()[op].pc - sampler_.entryAddress());
    known.arguments =
        fmt::format(R"("pc":"{}{:#06x}","text":"{}")", pc < 0 ? "-" : "", pc < 0 ? -pc : pc, full);
    known.kind = className(sampler_.ops()[op]);
  }
  return known;
}

void UnitTimeline::addWave(int wave, int simd, int group, int indexInGroup) {
  waves_.resize(std::max<std::size_t>(waves_.size(), static_cast<std::size_t>(wave) + 1));
  int track = simd * kSimdTracks + perSimd_[simd]++;
  waves_[wave].track = track;
  file_.track(process_, track,
              fmt::format("SIMD {} wave {} of workgroup {}", simd, indexInGroup, group));
  if (static_cast<std::size_t>(group) >= groups_.size()) {
    groups_.resize(static_cast<std::size_t>(group) + 1);
    file_.track(process_, kBarrierTrack + group, fmt::format("barriers of workgroup {}", group));
  }
}

void UnitTimeline::writeStall(Wave &wave) {
  if (wave.until > wave.from && open(wave.from))
    file_.slice(process_, wave.track, stallName(wave.reason), "stall", wave.from, wave.until, "");
  wave.from = wave.until = 0;
}

void UnitTimeline::instruction(int wave, std::uint32_t op, double from, double until) {
  writeStall(waves_[wave]);
  if (open(from))
    file_.slice(process_, waves_[wave].track, text(op).kind, "instruction", from, until,
                text(op).arguments);
}

void UnitTimeline::stall(int wave, Stall reason, double from, double until) {
  Wave &stalled = waves_[wave];
  if (stalled.until == from && stalled.reason == reason && stalled.until > stalled.from) {
    stalled.until = until;
    return;
  }
  writeStall(stalled);
  stalled.reason = reason;
  stalled.from = from;
  stalled.until = until;
}

void UnitTimeline::vectorPort(int simd, std::uint32_t op, double from, double until) {
  if (open(from))
    file_.slice(process_, simd * kSimdTracks + kPortTrack, text(op).mnemonic, "port", from, until,
                text(op).arguments);
}

void UnitTimeline::matrixPipe(int simd, std::uint32_t op, double from, double until) {
  if (open(from))
    file_.slice(process_, simd * kSimdTracks + kPipeTrack, text(op).mnemonic, "pipe", from, until,
                text(op).arguments);
}

void UnitTimeline::lds(int pair, std::uint32_t op, double from, double until) {
  if (open(from))
    file_.slice(process_, kLdsTrack + pair, text(op).mnemonic, "lds", from, until,
                text(op).arguments);
}

void UnitTimeline::barrier(int group, double arrived, double opened) {
  if (open(arrived))
    file_.slice(process_, kBarrierTrack + group, "barrier", "barrier", arrived, opened, "");
}

void UnitTimeline::advance(double until) {
  while (!landings_.empty() && landings_.top().at <= until) {
    Landing landed = landings_.top();
    landings_.pop();
    auto kind = static_cast<std::size_t>(landed.kind);
    --flights_[kind];
    // Those that land together are one step.
    bool more = !landings_.empty() && landings_.top().at == landed.at &&
                landings_.top().kind == landed.kind;
    if (!more && open(landed.at))
      file_.counter(process_, kFlights[kind], landed.at, flights_[kind]);
  }
}

void UnitTimeline::inFlight(Flight kind, double from, double until) {
  advance(from);
  ++flights_[static_cast<std::size_t>(kind)];
  landings_.push({until, kind});
  if (open(from))
    file_.counter(process_, kFlights[static_cast<std::size_t>(kind)], from,
                  flights_[static_cast<std::size_t>(kind)]);
}

void UnitTimeline::finish() {
  for (Wave &wave : waves_)
    writeStall(wave);
  advance(std::numeric_limits<double>::max());
}

void writeGrid(TraceFile &file, const Chip &chip, const TraceSampler &sampler,
               std::vector<Placed> placed) {
  int process = file.process(fmt::format("{} workgroups on the {} compute units of {}",
                                         placed.size(), chip.cus(), chip.name));
  std::uint64_t limit = file.written() + file.budget() / 4;
  std::set<int> known;
  std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) {
    return a.from != b.from ? a.from < b.from : a.group < b.group;
  });
  for (const Placed &group : placed) {
    if (file.written() >= limit)
      return file.noteCut(process, group.from);
    // Places of one compute unit stand together.
    int track = 1 + (group.xcd * chip.cusPerXcd + group.cu) * 64 + group.place;
    if (known.insert(track).second)
      file.track(process, track,
                 fmt::format("XCD {} CU {} place {}", group.xcd, group.cu, group.place));
    bool isReplayed = sampler.traces().count(group.group) != 0;
    file.slice(process, track, isReplayed ? "traced workgroup" : "workgroup", "grid", group.from,
               group.until,
               fmt::format(R"("workgroup":{},"instructions":{})", group.group,
                           sampler.sizes()[group.group]));
  }
}

} // namespace wavesmith::emulator::cycles
