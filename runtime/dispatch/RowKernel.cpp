#include "runtime/dispatch/RowKernel.h"

#include "runtime/codeobject/Note.h"
#include "runtime/dispatch/AttentionProblem.h"

namespace wavesmith {
namespace {

Expected<KernelInfo> checkObject(const KernelSpec &spec, const RowKernel &kernel,
                                 const CodeObjectBlob &blob) {
  WAVESMITH_ASSIGN(const CodeObject object, CodeObject::parse(blob.bytes, blob.kernelName));
  if (object.target() != spec.target)
    return error(StatusCode::Unsupported, "{}: the object is for {}, the spec for {}",
                 blob.kernelName, object.target(), spec.target);
  if (!object.wavesmithNote())
    return error(StatusCode::Corrupt, "{}: the object carries no Wavesmith note", blob.kernelName);
  WAVESMITH_ASSIGN(const ObjectNote note, parseNote(*object.wavesmithNote(), blob.kernelName));
  if (note.spec != spec.text() || note.specKey != spec.key())
    return error(StatusCode::Corrupt, "{}: the object is of [{}], want [{}]", blob.kernelName,
                 note.spec, spec.text());
  if (note.abi != kernel.layout)
    return error(StatusCode::Unsupported,
                 "{}: the object's argument layout is [{}], this runtime's [{}]", blob.kernelName,
                 note.abi, kernel.layout);
  WAVESMITH_ASSIGN(const KernelInfo *info, object.kernel(blob.kernelName));
  if (info->kernargBytes < kernel.argumentBytes)
    return error(StatusCode::Corrupt, "{}: the kernel takes {} bytes of arguments, we pass {}",
                 blob.kernelName, info->kernargBytes, kernel.argumentBytes);
  if (info->maxFlatWorkgroupSize < kRowThreads)
    return error(StatusCode::Corrupt, "{}: the kernel takes up to {} threads, we launch {}",
                 blob.kernelName, info->maxFlatWorkgroupSize, kRowThreads);
  return *info;
}

} // namespace

Expected<LoadedRowKernel> LoadedRowKernel::load(HipTablePtr table, const KernelSpec &spec,
                                                SharedCodeObject object) {
  WAVESMITH_TRY(spec.validate());
  WAVESMITH_ASSIGN(const RowKernel *row, findRowKernel(spec.row.kernel));
  LoadedRowKernel kernel;
  WAVESMITH_ASSIGN(kernel.info_, checkObject(spec, *row, *object));
  // Asked again: the emulator's chip may have been changed since the table was opened.
  WAVESMITH_ASSIGN(const DeviceInfo device, table->queryDevice(table->device().ordinal));
  if (device.target != spec.target)
    return error(StatusCode::Unsupported, "the device is a {}, the kernel is for {}", device.target,
                 spec.target);
  WAVESMITH_ASSIGN(kernel.module_, DeviceModule::load(table, object->bytes, object->kernelName));
  WAVESMITH_ASSIGN(kernel.function_, kernel.module_.function(object->kernelName));
  kernel.table_ = std::move(table);
  kernel.spec_ = spec;
  kernel.object_ = std::move(object);
  return kernel;
}

Status LoadedRowKernel::launchBytes(const RowGrid &grid, std::span<const std::byte> arguments,
                                    hipStream_t stream) const {
  WAVESMITH_ASSIGN(const RowKernel *row, findRowKernel(spec_.row.kernel));
  if (arguments.size() != row->argumentBytes)
    return error(StatusCode::InvalidArgument, "{} takes {} bytes of arguments, not {}", row->name,
                 row->argumentBytes, arguments.size());
  if (grid.x == 0 || grid.y == 0)
    return Status::ok();
  return wavesmith::launch(*table_, function_,
                           {.grid = {grid.x, grid.y, 1}, .block = {kRowThreads, 1, 1}}, arguments,
                           stream);
}

//===-- combine_splits -----------------------------------------------------------------------===//

KernelSpec combineSpec(const std::string &target, int headDimV, bool writeLse) {
  KernelSpec spec;
  spec.target = target;
  spec.row = {"combine_splits", {fmt::format("{}", headDimV), writeLse ? "true" : "false"}};
  return spec;
}

CombineArguments combineArguments(const AttentionArguments &attention, int headDimV,
                                  std::uint64_t units) {
  constexpr std::int64_t kFloat = sizeof(float);
  CombineArguments a{};
  a.partialOut = attention.partialOut;
  a.partialOutSlotStride = kAttentionBlockM * headDimV * kFloat;
  a.partialLse = attention.partialLse;
  a.partialLseSlotStride = kAttentionBlockM * kFloat;
  a.units = units;
  a.unitStride = sizeof(CombineUnit);
  a.out = attention.out;
  a.outRowStride = attention.outRowStride;
  a.outHeadStride = attention.outHeadStride;
  a.lse = attention.lse;
  a.lseHeadStride = attention.lseHeadStride;
  a.lseRowStride = kFloat;
  return a;
}

RowGrid combineGrid(std::size_t units) {
  return {static_cast<std::uint32_t>(units), (kAttentionBlockM + kCombineRows - 1) / kCombineRows};
}

//===-- merge_states, quantize, quantize_concat, amax ----------------------------------------===//

namespace {

KernelSpec rowSpec(const std::string &target, std::string kernel, std::vector<std::string> values) {
  KernelSpec spec;
  spec.target = target;
  spec.row = {std::move(kernel), std::move(values)};
  return spec;
}

std::string text(std::int64_t number) { return fmt::format("{}", number); }
std::string text(bool flag) { return flag ? "true" : "false"; }

/// The value of a parameter of a spec's kernel; null when it has none of that name.
const std::string *valueOf(const KernelSpec &spec, std::string_view name) {
  const auto kernel = findRowKernel(spec.row.kernel);
  kernel.ignoreError("a kernel that does not exist has no parameters");
  for (std::size_t i = 0; kernel && i < spec.row.values.size(); ++i)
    if ((*kernel)->parameters[i].name == name)
      return &spec.row.values[i];
  return nullptr;
}

} // namespace

KernelSpec mergeSpec(const std::string &target, int headDimV, const std::string &element) {
  return rowSpec(target, "merge_states", {text(std::int64_t{headDimV}), element});
}

KernelSpec quantizeSpec(const std::string &target, int headDim, const QuantizeOptions &options) {
  return rowSpec(target, "quantize",
                 {text(std::int64_t{headDim}), options.input, "fp8", text(options.dynamic),
                  text(std::int64_t{options.rotation})});
}

KernelSpec quantizeConcatSpec(const std::string &target, const QuantizeOptions &options) {
  return rowSpec(
      target, "quantize_concat",
      {options.input, "fp8", text(options.dynamic), text(std::int64_t{options.rotation})});
}

KernelSpec amaxSpec(const std::string &target, int headDim, const QuantizeOptions &options,
                    int firstColumn) {
  return rowSpec(target, "amax",
                 {text(std::int64_t{headDim}), options.input, text(std::int64_t{options.rotation}),
                  text(std::int64_t{firstColumn})});
}

Expected<RowGrid> rowGrid(const KernelSpec &spec, std::int64_t tokens, std::int64_t heads) {
  WAVESMITH_ASSIGN(const RowKernel *kernel, findRowKernel(spec.row.kernel));
  if (tokens < 0 || tokens > kMaxTokens)
    return error(StatusCode::InvalidArgument, "{}: tokens is {}; 0 to {} are supported",
                 kernel->name, tokens, kMaxTokens);
  if (heads < 0 || heads > kMaxHeads)
    return error(StatusCode::InvalidArgument, "{}: heads is {}; 0 to {} are supported",
                 kernel->name, heads, kMaxHeads);
  return RowGrid{kernel->groupsFor(tokens), static_cast<std::uint32_t>(heads)};
}

Status checkSameRotation(const KernelSpec &queries, const KernelSpec &keys) {
  const std::string *q = valueOf(queries, "rotation"), *k = valueOf(keys, "rotation");
  if ((q ? *q : "0") == (k ? *k : "0"))
    return Status::ok();
  return error(StatusCode::InvalidArgument,
               "queries [{}] and keys [{}] are rotated differently; they need the same seed",
               queries.text(), keys.text());
}

} // namespace wavesmith
