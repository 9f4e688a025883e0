#include "runtime/dispatch/LoadedKernel.h"

#include "runtime/provider/ObjectCheck.h"

namespace wavesmith {

Expected<LoadedKernel> LoadedKernel::load(HipTablePtr table, const KernelSpec &spec,
                                          SharedCodeObject object) {
  WAVESMITH_TRY(spec.validate());
  LoadedKernel kernel;
  WAVESMITH_ASSIGN(kernel.abi_, spec.abi());
  WAVESMITH_ASSIGN(kernel.info_, checkKernelObject(spec, *object));
  // Asked again: the emulator's chip may have been changed since the table was opened.
  WAVESMITH_ASSIGN(const DeviceInfo device, table->queryDevice(table->device().ordinal));
  if (device.target != spec.target)
    return error(StatusCode::Unsupported, "the device is a {}, the plan is for {}", device.target,
                 spec.target);
  WAVESMITH_ASSIGN(kernel.module_, DeviceModule::load(table, object->bytes, object->kernelName));
  WAVESMITH_ASSIGN(kernel.function_, kernel.module_.function(object->kernelName));
  kernel.table_ = std::move(table);
  kernel.spec_ = spec;
  kernel.object_ = std::move(object);
  return kernel;
}

Status LoadedKernel::launchBytes(const KernelGrid &grid, std::span<const std::byte> arguments,
                                 hipStream_t stream) const {
  if (arguments.size() != abi_.argumentBytes)
    return error(StatusCode::InvalidArgument, "{} takes {} bytes of arguments, not {}", info_.name,
                 abi_.argumentBytes, arguments.size());
  if (grid.x == 0 || grid.y == 0)
    return Status::ok();
  return wavesmith::launch(*table_, function_,
                           {.grid = {grid.x, grid.y, 1}, .block = {abi_.threads, 1, 1}}, arguments,
                           stream);
}

} // namespace wavesmith
