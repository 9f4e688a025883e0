#pragma once
// What the kernels did since the last reset, for wavesmithEmulatorLastReport. Any thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emulator/Emulator.h"

namespace wavesmith::hipfront {

class Report {
public:
  void add(const std::string &kernel, const emulator::RunReport &run,
           const emulator::Checks &checks);
  /// A kernel that could not run at all.
  void addFailure(const std::string &text);
  /// The first fault since the last call that returned one.
  std::string takeFault();
  std::string json(const std::string &settings, bool reset);

private:
  struct Kernel {
    std::uint64_t launches = 0, instructions = 0;
    double seconds = 0;
    std::uint64_t longest = 0;                      ///< cycles of the launch that `lines` is of
    std::vector<emulator::CycleReport::Line> lines; ///< with coverage and the cycle model
  };
  struct Row {
    std::string disassembly;
    std::uint64_t count = 0;
  };
  /// Launches follow one another: times add up, shares are weighted by time.
  struct Modelled {
    std::uint64_t cycles = 0, coldCycles = 0;
    double microseconds = 0, sustainedMicroseconds = 0;
    double mfma = 0, valu = 0, lds = 0, memory = 0, balance = 0;
    emulator::CycleReport longest;
    /// In the order of their first launches.
    struct Kernel {
      std::string name;
      std::uint64_t launches = 0, cycles = 0, workgroups = 0, executed = 0;
      double mfma = 0, memory = 0;
      std::string boundBy; ///< of its longest launch
      std::uint64_t longest = 0;
    };
    std::vector<Kernel> kernels;
    void add(const std::string &kernel, const emulator::CycleReport &launch);
    std::string json() const;
  };
  struct Totals {
    std::uint64_t launches = 0, instructions = 0;
    double seconds = 0;
    std::uint32_t checksRun = 0;
    std::array<std::uint64_t, emulator::kCheckKinds> faultCounts{};
    std::vector<emulator::Fault> faults;
    std::vector<std::string> warnings;
    std::map<std::string, Kernel> kernels;
    std::optional<Modelled> modelled;
    std::map<std::pair<std::string, std::uint64_t>, Row> coverage;
    std::optional<emulator::TraceSummary> trace;
  };

  std::mutex mutex_;
  Totals totals_;
  std::string firstFault_;
};

} // namespace wavesmith::hipfront
