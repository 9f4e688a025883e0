#pragma once
// Many programs, in batches that share their compilations, on several threads: what a run of
// `wavesmith_differential` is. Failing programs are reduced and reported on stdout.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/differential/Runner.h"

namespace wavesmith::differential {

struct CampaignOptions {
  std::uint64_t seed = 1; ///< of program 0; program i has seed + i
  int count = 100, batch = 25;
  int jobs = 0; ///< threads; 0 = all cores
  std::vector<std::string> targets = {"gfx942", "gfx950"}, levels = {"O0", "O1", "O2", "O3"};
  std::vector<std::string> orders = {"default", "vmem-early,lds-late,run-to-barrier,poison",
                                     "preemptive", "vmem-early,lds-early,lockstep,poison",
                                     "lds-late,preemptive,poison"};
  std::filesystem::path keep; ///< where failing programs go; empty: stdout
  /// Each batch at one of the levels and in two of the orders, the next batch at the next.
  bool rotate = false;
  bool reduce = true, print = false;
};

struct CampaignResult {
  int failures = 0;
  std::uint64_t runs = 0; ///< programs executed, each target, level and order counted
  std::map<std::string, std::uint64_t> coverage; ///< executions by mnemonic
};

/// An error when clang is missing.
Expected<CampaignResult> runCampaign(const CampaignOptions &options);

} // namespace wavesmith::differential
