// The Device: owns memory and places modules; a run is prepared here and executed by the machine.

#include "emulator/Emulator.h"
#include "emulator/Memory.h"
#include "emulator/Module.h"
#include "emulator/machine/Launcher.h"

namespace wavesmith::emulator {

struct Device::Impl {
  DeviceModel model;
  Memory memory;
};

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Device::~Device() = default;

Expected<std::unique_ptr<Device>> Device::create(const DeviceModel &model) {
  if (model.target != "gfx942" && model.target != "gfx950")
    return error(StatusCode::Unsupported, "unknown target '{}': expected gfx942 or gfx950",
                 model.target);
  auto impl = std::make_unique<Impl>();
  impl->model = model;
  return std::unique_ptr<Device>(new Device(std::move(impl)));
}

const std::string &Device::target() const { return impl_->model.target; }

Expected<std::uint64_t> Device::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  return impl_->memory.allocate(bytes, alignment);
}
Status Device::free(std::uint64_t address) { return impl_->memory.free(address); }
Status Device::mapHost(std::span<std::byte> memory) { return impl_->memory.mapHost(memory); }
Status Device::write(std::uint64_t address, std::span<const std::byte> bytes) {
  return impl_->memory.write(address, bytes);
}
Status Device::read(std::uint64_t address, std::span<std::byte> bytes) const {
  return impl_->memory.read(address, bytes);
}
Status Device::fill(std::uint64_t address, std::byte value, std::uint64_t bytes) {
  return impl_->memory.fill(address, value, bytes);
}
Status Device::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  return impl_->memory.copy(to, from, bytes);
}

Expected<std::pair<std::uint64_t, std::uint64_t>>
Device::allocationOf(std::uint64_t address) const {
  const Allocation *allocation = impl_->memory.find(address);
  if (!allocation)
    return error(StatusCode::NotFound, "address {:#x} is {}", address,
                 impl_->memory.describe(address));
  return std::pair{allocation->base(), allocation->size()};
}

Expected<std::shared_ptr<Module>> Device::load(const CodeObject &object) {
  if (object.target() != impl_->model.target)
    return error(StatusCode::InvalidArgument, "the code object is for {}, the device is {}",
                 object.target(), impl_->model.target);
  return Module::place(object, impl_->memory);
}

Status Device::unload(Module &module) { return module.release(impl_->memory); }

Expected<std::pair<std::uint64_t, std::uint64_t>> Device::global(const Module &module,
                                                                 std::string_view name) const {
  for (const Symbol &symbol : module.object().globals())
    if (symbol.name == name)
      return std::pair{symbol.address + module.bias(), symbol.size};
  return error(StatusCode::NotFound, "the code object has no global variable '{}'", name);
}

Expected<RunReport> Device::run(const Module &module, const LaunchConfig &launch,
                                const RunOptions &options) {
  if (!module.loaded())
    return error(StatusCode::InvalidArgument, "the module was unloaded");
  // Decoded programs are cached in the module, which is otherwise unchanged by a run.
  return launchGrid(const_cast<Module &>(module), impl_->memory, impl_->model.target == "gfx950",
                    launch, options);
}

} // namespace wavesmith::emulator
