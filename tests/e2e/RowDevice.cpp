#include "tests/e2e/RowDevice.h"

#include "runtime/session/RunReport.h"
#include "runtime/verify/Random.h"

namespace wavesmith::testing {
namespace {

Expected<KernelStore *> store() {
  static const Expected<std::shared_ptr<KernelStore>> made =
      []() -> Expected<std::shared_ptr<KernelStore>> {
    WAVESMITH_ASSIGN(KernelStoreOptions options, KernelStoreOptions::fromEnvironment());
    options.disk.reset();
    return std::make_shared<KernelStore>(std::move(options));
  }();
  if (!made)
    return made.status();
  return made->get();
}

} // namespace

std::uint64_t Draw::bits() { return randomBits(seed_, 0, next_++); }
float Draw::normal() { return static_cast<float>(randomNormals(seed_, 1, next_++).first); }

Expected<std::unique_ptr<RowDevice>> RowDevice::open(const std::string &target,
                                                     const std::string &order, bool model) {
  auto device = std::make_unique<RowDevice>();
  WAVESMITH_ASSIGN(device->table_, HipTable::open(DeviceChoice::Emulator));
  const std::string settings =
      fmt::format("{},order={},checks=all,model={}",
                  model ? (target == "gfx942" ? "chip=MI325X" : "chip=MI355X") : "target=" + target,
                  order, model ? "on" : "off");
  if (device->table_->wavesmithEmulatorConfigure(settings.c_str()) != 0)
    return Status(StatusCode::Internal, device->table_->wavesmithEmulatorLastError());
  device->table_->wavesmithEmulatorLastReport(1);
  WAVESMITH_ASSIGN(device->stream_, Stream::create(device->table_));
  return device;
}

Expected<LoadedKernel> RowDevice::kernel(const KernelSpec &spec) {
  WAVESMITH_ASSIGN(KernelStore * kernels, store());
  WAVESMITH_ASSIGN(const KernelLookup lookup, kernels->get(spec));
  return LoadedKernel::load(table_, spec, lookup.object);
}

Expected<LoadedLaunchList> RowDevice::load(LaunchList list) {
  return LoadedLaunchList::load(
      table_, std::move(list), [&](const KernelSpec &spec) -> Expected<ResolvedKernel> {
        WAVESMITH_ASSIGN(LoadedKernel loaded, kernel(spec));
        return ResolvedKernel{std::make_shared<const LoadedKernel>(std::move(loaded)), "jit", 0, 0};
      });
}

Expected<DeviceBuffer> RowDevice::allocate(std::uint64_t bytes) {
  return DeviceBuffer::allocate(table_, bytes);
}

Expected<DeviceBuffer> RowDevice::uploadBytes(std::span<const std::byte> bytes) {
  WAVESMITH_ASSIGN(DeviceBuffer buffer, DeviceBuffer::allocate(table_, bytes.size()));
  WAVESMITH_TRY(buffer.upload(bytes));
  return buffer;
}

Status RowDevice::finish() {
  WAVESMITH_TRY(stream_.synchronize());
  RunReport report;
  WAVESMITH_TRY(readEmulatorReport(table_->wavesmithEmulatorLastReport(1), report));
  modelled_ = report.modelled;
  std::string faults;
  for (const std::string &fault : report.faults)
    faults += fault + "\n";
  for (const CheckCount &check : report.checks)
    if (!check.faults || *check.faults != 0)
      faults += fmt::format("check {}: {} faults\n", check.name, check.faults.value_or(0));
  return faults.empty() ? Status::ok() : Status(StatusCode::EmulationFault, faults);
}

} // namespace wavesmith::testing
