#include "emulator/hip/Report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace wavesmith::hipfront {
namespace {

// A sweep may fault thousands of times; the counts stay exact, the texts are bounded.
constexpr std::size_t kMaxFaults = 64;
constexpr std::size_t kMaxLoops = 4;

nlohmann::ordered_json linesJson(const std::vector<emulator::CycleReport::Line> &lines) {
  auto rows = nlohmann::ordered_json::array();
  for (const emulator::CycleReport::Line &line : lines) {
    auto stalls = nlohmann::ordered_json::object();
    for (int i = 0; i < emulator::kStalls; ++i)
      if (line.stalled[i])
        stalls[std::string(emulator::stallName(static_cast<emulator::Stall>(i)))] = line.stalled[i];
    rows.push_back({{"pc", line.pc},
                    {"executed", line.executed},
                    {"cycles", line.clocks()},
                    {"stalls", std::move(stalls)}});
  }
  return rows;
}

} // namespace

void Report::Modelled::add(const std::string &kernel, const emulator::CycleReport &launch) {
  if (launch.cycles >= longest.cycles)
    longest = launch;
  const auto weight = static_cast<double>(launch.cycles);
  const auto mix = [&](double &share, double of, std::uint64_t before) {
    const auto spent = static_cast<double>(before);
    share = (share * spent + of * weight) / std::max(1.0, weight + spent);
  };
  mix(mfma, launch.mfmaUtilisation, cycles);
  mix(valu, launch.valuUtilisation, cycles);
  mix(lds, launch.ldsUtilisation, cycles);
  mix(memory, launch.memoryUtilisation, cycles);
  mix(balance, launch.balance, cycles);
  cycles += launch.cycles;
  coldCycles += launch.coldCycles;
  microseconds += launch.microseconds;
  sustainedMicroseconds += launch.sustainedMicroseconds;

  auto row = std::find_if(kernels.begin(), kernels.end(),
                          [&](const Kernel &known) { return known.name == kernel; });
  if (row == kernels.end())
    row = kernels.insert(row, Kernel{.name = kernel});
  mix(row->mfma, launch.mfmaUtilisation, row->cycles);
  mix(row->memory, launch.memoryUtilisation, row->cycles);
  if (row->launches == 0 || launch.cycles > row->longest) {
    row->longest = launch.cycles;
    row->boundBy = launch.boundBy;
  }
  ++row->launches;
  row->cycles += launch.cycles;
  row->workgroups += launch.workgroups;
  row->executed += launch.executed;
}

std::string Report::Modelled::json() const {
  nlohmann::ordered_json root = {{"chip", longest.chip},
                                 {"cycles", cycles},
                                 {"microseconds", microseconds},
                                 {"sustained_microseconds", sustainedMicroseconds},
                                 {"mfma_utilisation", mfma},
                                 {"valu_utilisation", valu},
                                 {"lds_utilisation", lds},
                                 {"memory_utilisation", memory},
                                 {"balance", balance},
                                 {"bound_by", longest.boundBy},
                                 {"clock_mhz", longest.clockMhz},
                                 {"sustained_mhz", longest.sustainedMhz},
                                 {"dtype", longest.dtype},
                                 {"cold_cycles", coldCycles}};
  root["kernels"] = nlohmann::ordered_json::array();
  for (const Kernel &kernel : kernels)
    root["kernels"].push_back({{"name", kernel.name},
                               {"launches", kernel.launches},
                               {"cycles", kernel.cycles},
                               {"workgroups", kernel.workgroups},
                               {"executed", kernel.executed},
                               {"mfma_utilisation", kernel.mfma},
                               {"memory_utilisation", kernel.memory},
                               {"bound_by", kernel.boundBy}});
  root["loops"] = nlohmann::ordered_json::array();
  for (const emulator::CycleReport::Loop &loop : longest.loops)
    if (root["loops"].size() < kMaxLoops)
      root["loops"].push_back({{"pc", loop.pc},
                               {"iterations", loop.iterations},
                               {"cycles", loop.cyclesPerIteration},
                               {"mfma_occupancy", loop.mfmaOccupancy}});
  return root.dump();
}

void Report::add(const std::string &kernel, const emulator::RunReport &run,
                 const emulator::Checks &checks) {
  const std::lock_guard lock(mutex_);
  ++totals_.launches;
  totals_.instructions += run.instructions;
  totals_.seconds += run.seconds;
  totals_.checksRun |= checks.mask;
  for (int i = 0; i < emulator::kCheckKinds; ++i)
    totals_.faultCounts[i] += run.faultCounts[i];
  for (const emulator::Fault &fault : run.faults)
    if (totals_.faults.size() < kMaxFaults)
      totals_.faults.push_back(fault);
  for (const emulator::Fault &warning : run.warnings)
    if (totals_.warnings.size() < kMaxFaults)
      totals_.warnings.push_back(warning.text());
  if (!run.faults.empty() && firstFault_.empty())
    firstFault_ = run.faults.front().text();
  Kernel &row = totals_.kernels[kernel];
  ++row.launches;
  row.instructions += run.instructions;
  row.seconds += run.seconds;
  if (run.modelled) {
    if (!totals_.modelled)
      totals_.modelled.emplace();
    totals_.modelled->add(kernel, *run.modelled);
    if (!run.coverage.empty() && run.modelled->cycles >= row.longest) {
      row.longest = run.modelled->cycles;
      row.lines = run.modelled->lines;
    }
  }
  if (run.trace)
    totals_.trace = run.trace;
  for (const auto &executed : run.coverage) {
    Row &line = totals_.coverage[{kernel, executed.pc}];
    line.disassembly = executed.disassembly;
    line.count += executed.count;
  }
}

void Report::addFailure(const std::string &text) {
  const std::lock_guard lock(mutex_);
  if (firstFault_.empty())
    firstFault_ = text;
}

std::string Report::takeFault() {
  const std::lock_guard lock(mutex_);
  return std::exchange(firstFault_, {});
}

std::string Report::json(const std::string &settings, bool reset) {
  Totals totals;
  {
    const std::lock_guard lock(mutex_);
    if (reset)
      totals = std::exchange(totals_, {});
    else
      totals = totals_;
  }
  nlohmann::ordered_json root = {{"launches", totals.launches},
                                 {"instructions", totals.instructions},
                                 {"seconds", totals.seconds}};
  auto &checks = root["checks"] = nlohmann::ordered_json::object();
  for (int i = 0; i < emulator::kCheckKinds; ++i) {
    const std::string name(emulator::checkName(static_cast<emulator::CheckKind>(i)));
    // Faults that no check can be told to ignore (an unknown instruction) count all the same.
    if ((totals.checksRun >> i & 1) || totals.faultCounts[i] != 0)
      checks[name] = totals.faultCounts[i];
    else
      checks[name] = nullptr;
  }
  root["faults"] = nlohmann::ordered_json::array();
  for (const emulator::Fault &fault : totals.faults)
    root["faults"].push_back({{"check", emulator::checkName(fault.kind)},
                              {"kernel", fault.kernel},
                              {"pc", fault.pc},
                              {"workgroup", fault.workgroup},
                              {"wave", fault.wave},
                              {"lane", fault.lane},
                              {"disassembly", fault.disassembly},
                              {"source", fault.source},
                              {"message", fault.message},
                              {"text", fault.text()}});
  root["warnings"] = totals.warnings;
  root["kernels"] = nlohmann::ordered_json::array();
  for (const auto &[name, kernel] : totals.kernels)
    root["kernels"].push_back({{"name", name},
                               {"launches", kernel.launches},
                               {"instructions", kernel.instructions},
                               {"seconds", kernel.seconds},
                               {"lines", linesJson(kernel.lines)}});
  root["coverage"] = nlohmann::ordered_json::array();
  for (const auto &[place, row] : totals.coverage)
    root["coverage"].push_back({{"kernel", place.first},
                                {"pc", place.second},
                                {"disassembly", row.disassembly},
                                {"count", row.count}});
  root["modelled"] = nullptr;
  if (totals.modelled)
    root["modelled"] = nlohmann::ordered_json::parse(totals.modelled->json());
  root["trace"] = nullptr;
  if (totals.trace)
    root["trace"] = {{"file", totals.trace->path},
                     {"events", totals.trace->events},
                     {"bytes", totals.trace->bytes},
                     {"complete", !totals.trace->cut},
                     {"problem", totals.trace->problem}};
  root["settings"] = settings;
  return root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace wavesmith::hipfront
