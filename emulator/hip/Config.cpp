#include "emulator/hip/Config.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace wavesmith::hipfront {
namespace {

constexpr Chip kChips[] = {
    {"MI325X", "AMD Instinct MI325X", "gfx942", 304, 2100, 256, 3000, 8192, 64, 4},
    {"MI300X", "AMD Instinct MI300X", "gfx942", 304, 2100, 192, 2600, 8192, 64, 4},
    {"MI308X", "AMD Instinct MI308X", "gfx942", 80, 2100, 192, 2600, 8192, 64, 4},
    {"MI350X", "AMD Instinct MI350X", "gfx950", 256, 2200, 288, 4000, 8192, 160, 4},
    {"MI355X", "AMD Instinct MI355X", "gfx950", 256, 2400, 288, 4000, 8192, 160, 4},
};

Expected<std::uint64_t> parseNumber(std::string_view key, std::string_view value,
                                    std::uint64_t limit) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc() || end != value.data() + value.size() || number > limit)
    return error(StatusCode::InvalidArgument, "{}={}: want a number from 0 to {}", key, value,
                 limit);
  return number;
}

Status setChip(Config &config, std::string_view value) {
  std::string known;
  for (const Chip &chip : kChips) {
    if (chip.name == value) {
      config.chip = &chip;
      return Status::ok();
    }
    known += (known.empty() ? "" : ", ") + std::string(chip.name);
  }
  return error(StatusCode::InvalidArgument, "chip={}: is unknown; want {}", value, known);
}

Status setTarget(Config &config, std::string_view value) {
  if (config.chip->target == value)
    return Status::ok();
  const auto *chip = std::ranges::find(kChips, value, &Chip::target);
  if (chip == std::end(kChips))
    return error(StatusCode::InvalidArgument, "target={}: is unknown; want gfx942 or gfx950",
                 value);
  config.chip = chip;
  return Status::ok();
}

constexpr std::uint64_t kMaxDevices = 64;

using Hazards = emulator::RunOptions::Hazards;
constexpr std::pair<std::string_view, Hazards> kHazards[] = {
    {"auto", Hazards::ByOrigin}, {"error", Hazards::Error}, {"warning", Hazards::Warning}};

Status setHazards(emulator::RunOptions &run, std::string_view value) {
  const auto *row =
      std::ranges::find(kHazards, value, &std::pair<std::string_view, Hazards>::first);
  if (row == std::end(kHazards))
    return error(StatusCode::InvalidArgument, "hazards={}: want auto, error or warning", value);
  run.hazards = row->second;
  return Status::ok();
}

Status setOne(Config &config, std::string_view key, const std::string &value) {
  emulator::RunOptions &run = config.run;
  if (key == "chip")
    return setChip(config, value);
  if (key == "target")
    return setTarget(config, value);
  if (key == "order") {
    WAVESMITH_ASSIGN(run.order, emulator::ExecutionOrder::parse(value));
    return Status::ok();
  }
  if (key == "checks") {
    WAVESMITH_ASSIGN(run.checks, emulator::Checks::parse(value));
    return Status::ok();
  }
  if (key == "model") {
    if (value != "on" && value != "off")
      return error(StatusCode::InvalidArgument, "model={}: want on or off", value);
    run.modelCycles = value == "on";
    return Status::ok();
  }
  if (key == "trace") {
    if (value.find_first_of(std::string_view("\0\n", 2)) != std::string::npos)
      return error(StatusCode::InvalidArgument, "trace=: want the path of a file");
    config.trace = value;
    return Status::ok();
  }
  if (key == "replay") {
    if (value != "sample" && value != "all")
      return error(StatusCode::InvalidArgument, "replay={}: want sample or all", value);
    run.replayAll = value == "all";
    return Status::ok();
  }
  if (key == "mfma") {
    if (value != "float32" && value != "cdna3")
      return error(StatusCode::InvalidArgument, "mfma={}: want float32 or cdna3", value);
    run.matrixSums = value == "cdna3" ? emulator::MatrixSums::Cdna3 : emulator::MatrixSums::Float32;
    return Status::ok();
  }
  if (key == "streams") {
    if (value != "fifo" && value != "random")
      return error(StatusCode::InvalidArgument, "streams={}: want fifo or random", value);
    config.randomStreams = value == "random";
    return Status::ok();
  }
  if (key == "events") {
    if (value != "host" && value != "model")
      return error(StatusCode::InvalidArgument, "events={}: want host or model", value);
    config.modelledEvents = value == "model";
    return Status::ok();
  }
  if (key == "hazards")
    return setHazards(run, value);
  if (key == "devices") {
    WAVESMITH_ASSIGN(std::uint64_t count, parseNumber(key, value, kMaxDevices));
    if (count == 0)
      return error(StatusCode::InvalidArgument, "devices=0: want a number from 1 to {}",
                   kMaxDevices);
    config.devices = static_cast<int>(count);
    return Status::ok();
  }
  const std::pair<std::string_view, std::uint64_t> numbers[] = {
      {"seed", ~std::uint64_t{0}},
      {"threads", 4096},
      {"coverage", 1},
      {"trace_mib", 1 << 20},
      {"max_faults", 1 << 20},
      {"max_instructions", ~std::uint64_t{0}}};
  const auto *row =
      std::ranges::find(numbers, key, &std::pair<std::string_view, std::uint64_t>::first);
  if (row == std::end(numbers))
    return error(
        StatusCode::InvalidArgument,
        "{}={}: no such setting; want chip, target, order, seed, checks, threads, "
        "coverage, model, mfma, replay, trace, trace_mib, max_faults, max_instructions, streams, "
        "events, hazards or devices",
        key, value);
  WAVESMITH_ASSIGN(std::uint64_t number, parseNumber(key, value, row->second));
  if (key == "seed")
    run.seed = number;
  else if (key == "threads")
    run.threads = static_cast<int>(number);
  else if (key == "coverage")
    run.coverage = number != 0;
  else if (key == "trace_mib")
    config.traceMib = number;
  else if (key == "max_faults")
    run.maxFaults = static_cast<int>(number);
  else
    run.maxInstructionsPerWave = number;
  return Status::ok();
}

std::string checksText(const emulator::Checks &checks) {
  if (checks.mask == emulator::Checks::all().mask)
    return "all";
  std::string text;
  for (int i = 0; i < emulator::kCheckKinds; ++i)
    if (checks.has(static_cast<emulator::CheckKind>(i)))
      text += (text.empty() ? "" : ",") +
              std::string(emulator::checkName(static_cast<emulator::CheckKind>(i)));
  return text.empty() ? "none" : text;
}

} // namespace

std::span<const Chip> chips() { return kChips; }

std::string Config::text() const {
  return fmt::format(
      "chip={},target={},order={},seed={},checks={},threads={},coverage={},"
      "model={},mfma={},replay={},trace={},trace_mib={},streams={},events={},hazards={},devices={}",
      chip->name, chip->target, run.order.text(), run.seed, checksText(run.checks), run.threads,
      run.coverage ? 1 : 0, run.modelCycles ? "on" : "off",
      run.matrixSums == emulator::MatrixSums::Cdna3 ? "cdna3" : "float32",
      run.replayAll ? "all" : "sample", trace, traceMib, randomStreams ? "random" : "fifo",
      modelledEvents ? "model" : "host",
      std::ranges::find(kHazards, run.hazards, &std::pair<std::string_view, Hazards>::second)
          ->first,
      devices);
}

Expected<Config> parseConfig(std::string_view text, const Config &base) {
  // A part without '=' continues a list: "order=vmem-early,lds-late,seed=1".
  std::vector<std::pair<std::string, std::string>> settings;
  const std::string_view all = text;
  for (bool more = !text.empty(); more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
    if (part.empty())
      return error(StatusCode::InvalidArgument, "'{}': a part between commas is empty", all);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos)
      settings.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    else if (!settings.empty())
      settings.back().second += "," + std::string(part);
    else
      return error(StatusCode::InvalidArgument, "'{}': want key=value", part);
  }
  Config config = base;
  for (const auto &[key, value] : settings)
    WAVESMITH_TRY(setOne(config, key, value));
  return config;
}

} // namespace wavesmith::hipfront
