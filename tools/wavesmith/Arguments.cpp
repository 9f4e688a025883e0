#include "tools/wavesmith/Arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "emulator/Emulator.h"
#include "runtime/support/Env.h"

namespace wavesmith::cli {
namespace {

template <typename T> bool parseWhole(std::string_view text, T &value) {
  const char *end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && rest == end;
}

/// One of the settings in WAVESMITH_EMULATOR; a piece without "=" belongs to the one before it.
std::string fromEnvironment(std::string_view key) {
  std::string value, current;
  const std::string text = env::get("WAVESMITH_EMULATOR");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view piece = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(piece.size() + 1, rest.size()));
    const std::size_t equals = piece.find('=');
    if (equals != std::string_view::npos)
      current = piece.substr(0, equals);
    if (current != key)
      continue;
    if (equals == std::string_view::npos)
      value.append(",").append(piece);
    else
      value = piece.substr(equals + 1);
  }
  return value;
}

} // namespace

Expected<std::int64_t> parseCount(std::string_view flag, std::string_view text, std::int64_t low,
                                  std::int64_t high) {
  std::int64_t value = 0;
  if (!parseWhole(text, value) || value < low || value > high)
    return error(StatusCode::InvalidArgument, "{} is \"{}\"; expected a number from {} to {}", flag,
                 text, low, high);
  return value;
}

Expected<double> parseReal(std::string_view flag, std::string_view text) {
  double value = 0;
  if (!parseWhole(text, value))
    return error(StatusCode::InvalidArgument, "{} is \"{}\"; expected a number", flag, text);
  return value;
}

Expected<Window> parseWindow(std::string_view flag, std::string_view text) {
  const std::size_t comma = text.find(',');
  Window window;
  WAVESMITH_ASSIGN(window.left, parseCount(flag, text.substr(0, comma), -1, kMaxTokens));
  if (comma != std::string_view::npos) {
    WAVESMITH_ASSIGN(window.right, parseCount(flag, text.substr(comma + 1), -1, kMaxTokens));
  }
  return window;
}

Expected<std::uint64_t> parseSeed(std::string_view flag, std::string_view text) {
  std::uint64_t value = 0;
  if (!parseWhole(text, value))
    return error(StatusCode::InvalidArgument, "{} is \"{}\"; expected a number from 0 to {}", flag,
                 text, std::numeric_limits<std::uint64_t>::max());
  return value;
}

Expected<HeadDim> parseHeadDim(std::string_view flag, std::string_view text) {
  const std::size_t cross = text.find('x');
  const std::string_view qk = text.substr(0, cross);
  const std::string_view v = cross == std::string_view::npos ? qk : text.substr(cross + 1);
  HeadDim dim;
  if (!parseWhole(qk, dim.qk) || !parseWhole(v, dim.v) || dim.qk <= 0 || dim.v <= 0)
    return error(StatusCode::InvalidArgument, "{} is \"{}\"; expected <qk>x<v> such as 192x128",
                 flag, text);
  return dim;
}

Expected<std::vector<std::string>> parseList(std::string_view flag, std::string_view text) {
  std::vector<std::string> items;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    items.emplace_back(rest.substr(0, comma));
    if (items.back().empty())
      return error(StatusCode::InvalidArgument,
                   "{} is \"{}\"; expected values separated by single commas", flag, text);
    if (comma == std::string_view::npos)
      return items;
    rest.remove_prefix(comma + 1);
  }
}

Status checkWord(std::string_view flag, std::string_view text,
                 const std::vector<std::string_view> &words) {
  if (std::find(words.begin(), words.end(), text) != words.end())
    return Status::ok();
  return error(StatusCode::InvalidArgument, "{} is \"{}\"; expected one of: {}", flag, text,
               fmt::join(words, ", "));
}

/// "fp8" is the target's format; a format by name must be it.
static Expected<DType> inputType(std::string_view flag, std::string_view text,
                                 const Target &target) {
  for (const Fp8Format format : {Fp8Format::E4M3Fnuz, Fp8Format::E4M3Ocp}) {
    if (text != fp8FormatName(format))
      continue;
    if (format == target.fp8)
      return DType::FP8;
    return error(StatusCode::InvalidArgument, "{} {}: {} multiplies {}", flag, text, target.name,
                 fp8FormatName(target.fp8));
  }
  return withFlag(flag, parseDType(text));
}

Expected<KernelSpec> checkedSpec(const SpecFlags &flags, std::string_view target,
                                 std::string_view dtype, HeadDim dim, bool causal) {
  KernelSpec spec;
  WAVESMITH_ASSIGN(const Target known, withFlag(flags.target, parseTarget(target)));
  WAVESMITH_ASSIGN(spec.attention.dtype, inputType(flags.dtype, dtype, known));
  spec.target = known.name;
  spec.attention.headDimQk = dim.qk;
  spec.attention.headDimV = dim.v;
  spec.attention.causal = causal;
  WAVESMITH_TRY(spec.validate());
  return spec;
}

namespace {

struct Chip {
  std::string_view name, target;
};
constexpr std::array kChips = {Chip{"MI300X", "gfx942"}, Chip{"MI308X", "gfx942"},
                               Chip{"MI325X", "gfx942"}, Chip{"MI350X", "gfx950"},
                               Chip{"MI355X", "gfx950"}};

} // namespace

std::string defaultChip(std::string_view target) {
  return target == "gfx950" ? "MI355X" : "MI325X";
}

Expected<std::string> targetOfChip(std::string_view flag, std::string_view chip) {
  std::vector<std::string_view> all;
  for (const Chip &row : kChips) {
    if (row.name == chip)
      return std::string(row.target);
    all.push_back(row.name);
  }
  return error(StatusCode::InvalidArgument, "{} is \"{}\"; want one of {}", flag, chip,
               fmt::join(all, ", "));
}

Status checkChip(std::string_view flag, std::string_view chip, std::string_view target) {
  std::vector<std::string_view> fitting;
  for (const Chip &row : kChips) {
    if (row.target != target)
      continue;
    if (row.name == chip)
      return Status::ok();
    fitting.push_back(row.name);
  }
  return error(StatusCode::InvalidArgument, "{} is \"{}\"; chips of {}: {}", flag, chip, target,
               fmt::join(fitting, ", "));
}

Expected<EmulatorSettings> emulatorSettings(std::string_view checks, std::string_view order,
                                            std::string_view seed, std::string_view chip) {
  struct Setting {
    std::string value, name;
  };
  const auto pick = [](std::string_view flag, std::string_view key, std::string_view fallback) {
    if (!flag.empty())
      return Setting{std::string(flag), fmt::format("--{}", key)};
    const std::string set = fromEnvironment(key);
    return Setting{set.empty() ? std::string(fallback) : set, "WAVESMITH_EMULATOR"};
  };
  const Setting checksFrom = pick(checks, "checks", "all"),
                orderFrom = pick(order, "order", "default"), seedFrom = pick(seed, "seed", "1");
  // The emulator reads these texts itself; here for the flag's name in the message.
  WAVESMITH_TRY(withFlag(checksFrom.name, emulator::Checks::parse(checksFrom.value)).status());
  WAVESMITH_TRY(
      withFlag(orderFrom.name, emulator::ExecutionOrder::parse(orderFrom.value)).status());
  EmulatorSettings settings{checksFrom.value, orderFrom.value, std::string(chip)};
  WAVESMITH_ASSIGN(settings.seed, parseSeed(seedFrom.name, seedFrom.value));
  settings.modelCycles = fromEnvironment("model") == "on";
  return settings;
}

Status checkTracePath(std::string_view flag, std::string_view path) {
  if (path.find_first_of(",\n") == std::string_view::npos)
    return Status::ok();
  return error(StatusCode::InvalidArgument, "{} is \"{}\": want a path without commas and newlines",
               flag, path);
}

} // namespace wavesmith::cli
