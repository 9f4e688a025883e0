#pragma once
// Every environment variable that Wavesmith reads, as one table; Env.cpp is the only file that
// calls getenv. We never write the environment. Any thread, as long as nobody else writes it.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith::env {

struct Variable {
  std::string_view name;
  std::string_view fallback; ///< value when unset or empty; for the documentation if computed
  std::string_view doc;
  bool changesCode = false; ///< part of every build key
};

/// The table, in the order in which documentation lists it.
std::span<const Variable> variables();
/// The variable's value, or its fallback when unset or empty. `name` must be in the table.
std::string get(std::string_view name);
/// The value if the variable is set and not empty.
std::optional<std::string> find(std::string_view name);
/// "NAME=value;..." of the variables that change code and are set: an ingredient of build keys.
std::string codeEnvironment();

/// WAVESMITH_CACHE_DIR, else $XDG_CACHE_HOME/wavesmith, else $HOME/.cache/wavesmith; NotFound
/// without any of them.
Expected<std::string> cacheDirectory();
/// A number with an optional suffix K, M, G or T. The error does not say what the text is for.
Expected<std::uint64_t> parseBytes(std::string_view text);
/// WAVESMITH_CACHE_SIZE, as parseBytes has it.
Expected<std::uint64_t> cacheSizeBytes();
/// Whether WAVESMITH_JIT allows compiling: "auto" yes, "forbid" no, others InvalidArgument.
Expected<bool> jitAllowed();
/// WAVESMITH_REMOTE_TIMEOUT.
Expected<std::uint64_t> remoteTimeoutMs();
/// Whether WAVESMITH_VERIFY asks for verified kernels: "emulator" yes, "off" no, others
/// InvalidArgument.
Expected<bool> verifyKernels();
/// WAVESMITH_BUNDLES, taken apart.
std::vector<std::string> bundleDirectories();
/// "a:b" taken apart; empty parts are none.
std::vector<std::string> splitPaths(std::string_view text);
/// Whether WAVESMITH_BUNDLE_TOOLCHAIN accepts bundles of other toolchains: "any" yes, "same" no,
/// others InvalidArgument.
Expected<bool> anyBundleToolchain();
/// WAVESMITH_REPRODUCER_DIR, TMPDIR or /tmp.
std::string temporaryDirectory();

} // namespace wavesmith::env
