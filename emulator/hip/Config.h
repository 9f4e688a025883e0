#pragma once
// Settings of the emulated device: the chip, execution order, checks. Plain values, parsed from
// "chip=MI325X,order=...,seed=...".

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emulator/Emulator.h"

namespace wavesmith::hipfront {

/// What HIP reports about a chip; figures from AMD's product pages.
struct Chip {
  std::string_view name;    ///< "MI325X"
  std::string_view product; ///< as HIP prints it
  std::string_view target;  ///< "gfx942"
  int computeUnits;
  int clockMhz;
  std::uint64_t memoryGib;
  int memoryClockMhz;
  int memoryBusBits;
  int ldsKib;
  int l2Mib; ///< per XCD, as HIP reports it
};
std::span<const Chip> chips();

struct Config {
  const Chip *chip = &chips().front();
  emulator::RunOptions run;    ///< hazards: errors in our code, warnings in other people's
  bool randomStreams = false;  ///< streams take turns by the seed instead of by submission
  bool modelledEvents = false; ///< events count modelled kernel time, not the host's
  int devices = 1;             ///< of this chip
  std::string trace;           ///< path of the Perfetto file, or empty; turns the model on
  std::uint64_t traceMib = 128;

  Config() { run.hazards = emulator::RunOptions::Hazards::ByOrigin; }

  std::string text() const;
};

/// `base` with the named settings changed; the error names the setting and what would be right.
Expected<Config> parseConfig(std::string_view text, const Config &base);

} // namespace wavesmith::hipfront
