#pragma once
// Wavesmith's own note in a code object: what it was built from, and how its argument block looks.
// JSON text under owner "Wavesmith", type 1; unknown fields are kept out, missing ones are errors,
// so that a loader compares both sides before it launches anything. Plain values.

#include <string>
#include <string_view>

#include "runtime/support/Status.h"

namespace wavesmith {

inline constexpr std::string_view kNoteOwner = "Wavesmith";
inline constexpr unsigned kNoteType = 1;

struct ObjectNote {
  std::string spec;      ///< canonical spec text
  std::string specKey;   ///< SHA-256 of spec, target and schedule, hex
  std::string buildKey;  ///< SHA-256 of template, compiler and environment besides, hex
  std::string abi;       ///< fingerprint of the kernel-argument layout
  std::string fp8Format; ///< "e4m3fnuz", "e4m3", or "" where the kernel has no FP8
  std::string schedule;
  std::string toolchain; ///< compiler build id and LLVM version

  friend bool operator==(const ObjectNote &, const ObjectNote &) = default;
};

/// `origin` (a path or a key) leads every message.
Expected<ObjectNote> parseNote(std::string_view json, std::string_view origin);
/// One line of JSON with keys in a fixed order.
std::string printNote(const ObjectNote &note);

} // namespace wavesmith
