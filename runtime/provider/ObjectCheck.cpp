#include "runtime/provider/ObjectCheck.h"

#include "runtime/codeobject/Note.h"

namespace wavesmith {
namespace {

/// FP8 bits of one format read as the other are other numbers, not an error.
Status checkFp8Format(const KernelSpec &spec, const ObjectNote &note, std::string_view name) {
  if (spec.isRowKernel() || spec.attention.dtype != DType::FP8)
    return Status::ok();
  WAVESMITH_ASSIGN(const Target target, parseTarget(spec.target));
  if (note.fp8Format == fp8FormatName(target.fp8))
    return Status::ok();
  return error(StatusCode::Unsupported, "{}: the object's FP8 format is [{}], {}'s is [{}]", name,
               note.fp8Format, spec.target, fp8FormatName(target.fp8));
}

} // namespace

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
  WAVESMITH_TRY(checkFp8Format(spec, note, blob.kernelName));
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

} // namespace wavesmith
