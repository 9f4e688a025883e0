#pragma once
// Parsing and checking of values that several subcommands take. Every error names the flag, the
// value and what would be right. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith::cli {

/// A whole decimal number in [low, high].
Expected<std::int64_t> parseCount(std::string_view flag, std::string_view text, std::int64_t low,
                                  std::int64_t high);
Expected<double> parseReal(std::string_view flag, std::string_view text);
/// "L" or "L,R".
Expected<Window> parseWindow(std::string_view flag, std::string_view text);
Expected<std::uint64_t> parseSeed(std::string_view flag, std::string_view text);

struct HeadDim {
  int qk = 0, v = 0;
};
/// "192x128", or "128" for 128x128.
Expected<HeadDim> parseHeadDim(std::string_view flag, std::string_view text);

/// The pieces between commas; an empty piece is an error.
Expected<std::vector<std::string>> parseList(std::string_view flag, std::string_view text);

/// One of the words, or an error that lists them.
Status checkWord(std::string_view flag, std::string_view text,
                 const std::vector<std::string_view> &words);

/// "flag: message" for an error of a library that does not know the flag's name.
template <typename T> Expected<T> withFlag(std::string_view flag, Expected<T> value) {
  if (value)
    return value;
  return value.status().withContext(flag);
}

/// How the emulator is to run: the flags, where they are empty WAVESMITH_EMULATOR, else the
/// defaults.
struct EmulatorSettings {
  std::string checks, order, chip;
  std::uint64_t seed = 1;
  bool modelCycles = false; ///< as WAVESMITH_EMULATOR says
};
Expected<EmulatorSettings> emulatorSettings(std::string_view checks, std::string_view order,
                                            std::string_view seed, std::string_view chip);

/// Names of the flags in messages: run says "--target", build "--targets".
struct SpecFlags {
  std::string_view target, dtype, headDim;
};
/// A kernel that this version can make, or why not. `dtype` may also name an FP8 format, which must
/// be the target's.
Expected<KernelSpec> checkedSpec(const SpecFlags &flags, std::string_view target,
                                 std::string_view dtype, HeadDim dim, bool causal);
/// The path of a trace file, given or not: emulator settings cannot carry every character.
Status checkTracePath(std::string_view flag, std::string_view path);

/// "gfx942" of "MI325X".
Expected<std::string> targetOfChip(std::string_view flag, std::string_view chip);
/// Chips of a target, e.g. MI300X and MI325X for gfx942.
Status checkChip(std::string_view flag, std::string_view chip, std::string_view target);
/// The one that the emulator takes for a target: MI325X, MI350X.
std::string defaultChip(std::string_view target);

} // namespace wavesmith::cli
