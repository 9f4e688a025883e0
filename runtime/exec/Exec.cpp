#include "runtime/exec/Exec.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <nlohmann/json.hpp>

#include "runtime/hip/HipObjects.h"
#include "runtime/support/Files.h"

namespace wavesmith {
namespace {

constexpr int kNanFloat = 0x7fc00000;
// Those of the emulator; the report lists all of them also where none ran.
constexpr const char *kCheckNames[] = {"memory",   "uninitialised", "waits",     "races",
                                       "barriers", "hazards",       "alignment", "registers"};

/// Names chip and orders in one call, so that a wrong one changes nothing.
Status configureEmulator(const HipTable &table, const LaunchFile &file,
                         const ExecOptions &options) {
  const std::string &target = file.object->target();
  std::string settings =
      fmt::format("order={},checks={},seed={},coverage={},model={}", options.order, options.checks,
                  options.seed, options.coverage ? 1 : 0, options.modelCycles ? "on" : "off");
  settings += options.chip.empty() ? ",target=" + target : ",chip=" + options.chip;
  if (!options.trace.empty())
    settings += ",trace=" + options.trace;
  if (table.wavesmithEmulatorConfigure(settings.c_str()) != 0)
    return error(StatusCode::InvalidArgument, "emulator settings: {}",
                 table.wavesmithEmulatorLastError());
  table.wavesmithEmulatorLastReport(1);
  table.wavesmithEmulatorLastFault();
  return Status::ok();
}

Expected<DeviceBuffer> makeBuffer(const HipTablePtr &table, const LaunchBuffer &source) {
  WAVESMITH_ASSIGN(DeviceBuffer buffer, DeviceBuffer::allocate(table, source.bytes));
  switch (source.fill) {
  case LaunchBuffer::Fill::Nothing:
    break;
  case LaunchBuffer::Fill::Content:
    WAVESMITH_TRY(buffer.upload(source.content));
    break;
  case LaunchBuffer::Fill::Byte:
    WAVESMITH_TRY(buffer.fill(source.value));
    break;
  case LaunchBuffer::Fill::NanFloat:
    WAVESMITH_TRY(
        table->check(table->hipMemsetD32Async(buffer.data(), kNanFloat, source.bytes / 4, nullptr),
                     "hipMemsetD32Async"));
    WAVESMITH_TRY(table->check(table->hipDeviceSynchronize(), "hipDeviceSynchronize"));
    break;
  }
  return buffer;
}

/// Adds what the emulator saw since the last call.
Status addEmulatorReport(const HipTable &table, ExecLaunch *launch, ExecReport &report) {
  const std::string text = table.wavesmithEmulatorLastReport(1);
  const auto root = nlohmann::json::parse(text, nullptr, false);
  if (!root.is_object())
    return error(StatusCode::Internal, "the emulator's report is no JSON object");
  if (launch) {
    launch->instructions = root.value("instructions", std::uint64_t{0});
    launch->seconds = root.value("seconds", 0.0);
    WAVESMITH_ASSIGN(launch->modelled, readModelled(text));
  }
  // Named: items() refers to what it is called on.
  const auto counts = root.value("checks", nlohmann::json::object());
  for (const auto &[name, value] : counts.items()) {
    std::optional<std::uint64_t> count;
    if (value.is_number_unsigned())
      count = value.get<std::uint64_t>();
    auto found = std::find_if(report.checks.begin(), report.checks.end(),
                              [&, key = name](const auto &row) { return row.first == key; });
    if (found == report.checks.end())
      report.checks.emplace_back(name, count);
    else if (count)
      found->second = found->second.value_or(0) + *count;
  }
  for (const auto &fault : root.value("faults", nlohmann::json::array()))
    report.faults.push_back(fault.value("text", std::string("a fault without a text")));
  for (const auto &warning : root.value("warnings", nlohmann::json::array()))
    if (warning.is_string())
      report.warnings.push_back(warning.get<std::string>());
  if (report.coverage)
    WAVESMITH_TRY(addCoverage(text, *report.coverage));
  WAVESMITH_ASSIGN(const ModelledLines lines, readModelledLines(text));
  // Of several launches of a kernel, what an instruction cost in the one where it cost most.
  for (const auto &[place, line] : lines)
    if (ModelledLine &known = report.lines[place]; line.cycles >= known.cycles)
      known = line;
  WAVESMITH_ASSIGN(report.trace, readTrace(text));
  return Status::ok();
}

} // namespace

Expected<ExecReport> runLaunches(const LaunchFile &file, const ExecOptions &options,
                                 const HipTablePtr &table) {
  if (table->isEmulator())
    WAVESMITH_TRY(configureEmulator(*table, file, options));
  WAVESMITH_ASSIGN(const DeviceInfo device, table->queryDevice(table->device().ordinal));
  if (device.target != file.object->target())
    return error(StatusCode::InvalidArgument, "{} is for {}, the device {} is {}", file.objectPath,
                 file.object->target(), device.name, device.target);
  ExecReport report;
  for (const char *name : kCheckNames)
    report.checks.emplace_back(name, std::nullopt);
  report.target = device.target;
  report.device = device.name + (table->isEmulator() ? " (emulated)" : "");
  if (options.coverage && table->isEmulator())
    report.coverage.emplace();

  WAVESMITH_ASSIGN(const DeviceModule module,
                   DeviceModule::load(table, file.object->bytes(), file.objectPath));
  std::vector<DeviceBuffer> buffers;
  for (const LaunchBuffer &source : file.buffers) {
    auto buffer = makeBuffer(table, source);
    if (!buffer)
      return buffer.status().withContext("buffer " + source.name);
    buffers.push_back(*std::move(buffer));
  }

  WAVESMITH_ASSIGN(const Stream stream, Stream::create(table));
  for (const LaunchEntry &entry : file.launches) {
    WAVESMITH_ASSIGN(const hipFunction_t function, module.function(entry.kernel));
    std::vector<std::byte> kernarg = entry.kernarg;
    for (const LaunchEntry::Address &place : entry.addresses) {
      const std::uint64_t address = buffers[place.buffer].address() + place.delta;
      std::memcpy(kernarg.data() + place.offset, &address, sizeof(address));
    }
    ExecLaunch done;
    WAVESMITH_ASSIGN(const KernelInfo *info, file.object->kernel(entry.kernel));
    done.kernel = *info;
    done.workgroups = std::uint64_t{entry.grid[0]} * entry.grid[1] * entry.grid[2];
    const auto start = std::chrono::steady_clock::now();
    WAVESMITH_TRY(launch(*table, function, {entry.grid, entry.block, entry.dynamicLds}, kernarg,
                         stream.get()));
    const Status status = stream.synchronize();
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!status && status.code() != StatusCode::EmulationFault)
      return status;
    if (table->isEmulator())
      WAVESMITH_TRY(addEmulatorReport(*table, &done, report));
    report.launches.push_back(std::move(done));
    if (!status) {
      // A launch that could not run at all has no fault record of its own.
      if (report.faults.empty())
        report.faults.push_back(status.message());
      break;
    }
  }

  // All downloads come first: a device that fails leaves no output, rather than some.
  std::vector<std::pair<const LaunchBuffer *, std::vector<std::byte>>> outputs;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (file.buffers[i].out.empty())
      continue;
    outputs.emplace_back(&file.buffers[i], file.buffers[i].bytes);
    WAVESMITH_TRY(buffers[i].download(outputs.back().second));
  }
  for (const auto &[buffer, bytes] : outputs) {
    WAVESMITH_TRY(publishFile(buffer->out, bytes).withContext("buffer " + buffer->name));
    report.outputs.push_back(buffer->out);
  }
  return report;
}

Expected<ExecReport> runLaunchFile(const std::string &path, const ExecOptions &options) {
  WAVESMITH_ASSIGN(const LaunchFile file, readLaunchFile(path));
  WAVESMITH_ASSIGN(const HipTablePtr table, HipTable::open(options.device));
  return runLaunches(file, options, table);
}

std::string ExecReport::json(int indent) const {
  nlohmann::ordered_json root = {{"ok", ok()}, {"target", target}};
  root["launches"] = nlohmann::ordered_json::array();
  for (const ExecLaunch &launch : launches) {
    root["launches"].push_back({{"kernel", launch.kernel.name},
                                {"workgroups", launch.workgroups},
                                {"instructions", launch.instructions},
                                {"seconds", launch.seconds},
                                {"modelled", nullptr}});
    if (launch.modelled)
      root["launches"].back()["modelled"] = nlohmann::ordered_json::parse(launch.modelled->json());
  }
  auto &counts = root["checks"] = nlohmann::ordered_json::object();
  for (const auto &[name, count] : checks) {
    if (count)
      counts[name] = *count;
    else
      counts[name] = nullptr;
  }
  root["faults"] = faults;
  root["warnings"] = warnings;
  root["outputs"] = outputs;
  root["coverage"] = nullptr;
  if (coverage)
    root["coverage"] = nlohmann::ordered_json::parse(coverageJson(*coverage));
  root["trace"] = nullptr;
  if (trace)
    root["trace"] = nlohmann::ordered_json::parse(trace->json());
  return root.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace wavesmith
