#include "runtime/support/Env.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace wavesmith::env {
namespace {

constexpr std::array kVariables = {
    Variable{"WAVESMITH_LOG", "warn",
             "log levels: level[,area=level...]; off error warn info trace"},
    Variable{"WAVESMITH_CACHE_DIR", "",
             "disk cache; default $XDG_CACHE_HOME/wavesmith or "
             "$HOME/.cache/wavesmith; \"off\" for none"},
    Variable{"WAVESMITH_CACHE_SIZE", "1G", "disk cache bound in bytes, suffix K, M, G or T"},
    Variable{"WAVESMITH_BUNDLES", "",
             "bundles of prebuilt kernels: directories, separated by \":\""},
    Variable{"WAVESMITH_BUNDLE_TOOLCHAIN", "any",
             "any, or same: bundles of another toolchain are not used"},
    Variable{"WAVESMITH_REMOTE", "",
             "a cache for many machines: redis://[:password@]host[:port][/db]"},
    Variable{"WAVESMITH_REMOTE_TIMEOUT", "500", "of one call to it, in milliseconds"},
    Variable{"WAVESMITH_JIT", "auto", "auto, or forbid: a cache miss is an error"},
    Variable{"WAVESMITH_VERIFY", "off",
             "off, or emulator: only kernels that passed their verification are used"},
    Variable{"WAVESMITH_DEVICE", "auto", "auto, hip or emulator"},
    Variable{"WAVESMITH_EMULATOR", "", "emulator options: chip=...,order=...,seed=...,checks=..."},
    Variable{"WAVESMITH_POLICY", "", "BF16 or FP8: the name of a preset, or a policy file"},
    Variable{"WAVESMITH_TUNING", "",
             "tuning database: times of calls, for the policy's crossovers"},
    Variable{"WAVESMITH_HIP_LIBRARY", "", "path of the HIP runtime; default libamdhip64.so"},
    Variable{"WAVESMITH_EMULATOR_LIBRARY", "",
             "path of the emulator's HIP library; default beside our own"},
    Variable{"WAVESMITH_COMPILER_LIBRARY", "",
             "path of libwavesmith-compiler.so; default beside our own library or executable"},
    Variable{"WAVESMITH_VERIFIER", "",
             "path of wavesmith-verify; default beside our own library or executable"},
    Variable{"WAVESMITH_TEMPLATE_DIR", "", "kernel templates to use instead of the built-in ones"},
    Variable{"WAVESMITH_DUMP_DIR", "", "write the IR after every compiler pass there"},
    Variable{"WAVESMITH_REPRODUCER_DIR", "",
             "where a failed compile leaves its reproducer; default $TMPDIR or /tmp"},
    Variable{"XDG_CACHE_HOME", "", "parent of the default cache directory"},
    Variable{"HOME", "", "home directory, for the default cache directory"},
    Variable{"TMPDIR", "/tmp", "temporary files"},
};

constexpr std::uint64_t kMaxRemoteTimeoutMs = 600'000;

const Variable *lookup(std::string_view name) {
  for (const Variable &variable : kVariables)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

} // namespace

std::span<const Variable> variables() { return kVariables; }

std::optional<std::string> find(std::string_view name) {
  assert(lookup(name) && "a variable that is read must be in the table");
  const char *value = std::getenv(std::string(name).c_str()); // NOLINT(concurrency-mt-unsafe)
  if (!value || !*value)
    return std::nullopt;
  return std::string(value);
}

std::string get(std::string_view name) {
  if (std::optional<std::string> value = find(name))
    return *std::move(value);
  const Variable *variable = lookup(name);
  return variable ? std::string(variable->fallback) : std::string();
}

std::string codeEnvironment() {
  std::string text;
  for (const Variable &variable : kVariables) {
    if (!variable.changesCode)
      continue;
    if (std::optional<std::string> value = find(variable.name))
      text += fmt::format("{}={};", variable.name, *value);
  }
  return text;
}

Expected<std::string> cacheDirectory() {
  if (auto directory = find("WAVESMITH_CACHE_DIR"))
    return *std::move(directory);
  // The XDG specification: a relative path is invalid and to be ignored.
  if (auto base = find("XDG_CACHE_HOME"); base && base->front() == '/')
    return *base + "/wavesmith";
  if (auto home = find("HOME"); home && home->front() == '/')
    return *home + "/.cache/wavesmith";
  return Status(StatusCode::NotFound, "no cache directory: none of WAVESMITH_CACHE_DIR, "
                                      "XDG_CACHE_HOME and HOME is set to an absolute path");
}

Expected<std::uint64_t> parseBytes(std::string_view text) {
  std::uint64_t value = 0;
  const char *end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, value);
  int shift = 0;
  if (code == std::errc() && rest + 1 == end) {
    constexpr std::string_view kSuffixes = "KMGT";
    const std::size_t index = kSuffixes.find(*rest);
    if (index != std::string_view::npos) {
      shift = 10 * (static_cast<int>(index) + 1);
      ++rest;
    }
  }
  if (code != std::errc() || rest != end ||
      value > (std::numeric_limits<std::uint64_t>::max() >> shift))
    return error(StatusCode::InvalidArgument, "is \"{}\"; expected bytes such as 500M or 2G", text);
  return value << shift;
}

Expected<std::uint64_t> cacheSizeBytes() {
  const std::string text = get("WAVESMITH_CACHE_SIZE");
  Expected<std::uint64_t> bytes = parseBytes(text);
  if (!bytes)
    return error(StatusCode::InvalidArgument, "WAVESMITH_CACHE_SIZE {}", bytes.status().message());
  return bytes;
}

Expected<std::uint64_t> remoteTimeoutMs() {
  const std::string text = get("WAVESMITH_REMOTE_TIMEOUT");
  std::uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || rest != end || value < 1 || value > kMaxRemoteTimeoutMs)
    return error(StatusCode::InvalidArgument,
                 "WAVESMITH_REMOTE_TIMEOUT is \"{}\"; expected milliseconds from 1 to {}", text,
                 kMaxRemoteTimeoutMs);
  return value;
}

Expected<bool> jitAllowed() {
  const std::string text = get("WAVESMITH_JIT");
  if (text != "auto" && text != "forbid")
    return error(StatusCode::InvalidArgument, "WAVESMITH_JIT is \"{}\"; expected auto or forbid",
                 text);
  return text == "auto";
}

Expected<bool> verifyKernels() {
  const std::string text = get("WAVESMITH_VERIFY");
  if (text != "off" && text != "emulator")
    return error(StatusCode::InvalidArgument,
                 "WAVESMITH_VERIFY is \"{}\"; expected off or emulator", text);
  return text == "emulator";
}

std::vector<std::string> bundleDirectories() { return splitPaths(get("WAVESMITH_BUNDLES")); }

std::vector<std::string> splitPaths(std::string_view text) {
  std::vector<std::string> paths;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    if (end > at)
      paths.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return paths;
}

Expected<bool> anyBundleToolchain() {
  const std::string text = get("WAVESMITH_BUNDLE_TOOLCHAIN");
  if (text != "any" && text != "same")
    return error(StatusCode::InvalidArgument,
                 "WAVESMITH_BUNDLE_TOOLCHAIN is \"{}\"; expected any or same", text);
  return text == "any";
}

std::string temporaryDirectory() {
  if (auto directory = find("WAVESMITH_REPRODUCER_DIR"))
    return *std::move(directory);
  return get("TMPDIR");
}

} // namespace wavesmith::env
