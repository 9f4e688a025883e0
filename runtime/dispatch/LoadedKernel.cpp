#include "runtime/dispatch/LoadedKernel.h"

#include "runtime/codeobject/Note.h"

namespace wavesmith {

Expected<KernelInfo> checkKernelObject(const KernelSpec &spec, const CodeObjectBlob &blob) {
  WAVESMITH_ASSIGN(const KernelAbi abi, spec.abi());
  WAVESMITH_ASSIGN(const CodeObject object, CodeObject::parse(blob.bytes, blob.kernelName));
  if (object.target() != spec.target)
    return error(StatusCode::Unsupported, "{}: the object is for {}, the plan for {}",
                 blob.kernelName, object.target(), spec.target);
  if (!object.wavesmithNote())
    return error(StatusCode::Corrupt, "{}: the object carries no Wavesmith note", blob.kernelName);
  WAVESMITH_ASSIGN(const ObjectNote note, parseNote(*object.wavesmithNote(), blob.kernelName));
  if (note.spec != spec.text() || note.specKey != spec.key())
    return error(StatusCode::Corrupt, "{}: the object is of [{}], the plan of [{}]",
                 blob.kernelName, note.spec, spec.text());
  if (note.abi != abi.layout)
    return error(StatusCode::Unsupported,
                 "{}: the object's argument layout is [{}], this runtime's [{}]", blob.kernelName,
                 note.abi, abi.layout);
  WAVESMITH_ASSIGN(const KernelInfo *kernel, object.kernel(blob.kernelName));
  // The compiler pads to the block's alignment and may append hidden arguments.
  if (kernel->kernargBytes < abi.argumentBytes)
    return error(StatusCode::Corrupt, "{}: the kernel takes {} bytes of arguments, we pass {}",
                 blob.kernelName, kernel->kernargBytes, abi.argumentBytes);
  if (kernel->maxFlatWorkgroupSize < abi.threads)
    return error(StatusCode::Corrupt, "{}: the kernel takes up to {} threads, we launch {}",
                 blob.kernelName, kernel->maxFlatWorkgroupSize, abi.threads);
  return *kernel;
}

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
