#include "runtime/dispatch/RowKernel.h"

#include "runtime/dispatch/AttentionProblem.h"

namespace wavesmith {
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

//===-- combine_splits -----------------------------------------------------------------------===//

KernelSpec combineSpec(const std::string &target, int headDimV, bool writeLse, DType out) {
  return rowSpec(target, "combine_splits",
                 {text(std::int64_t{headDimV}), text(writeLse), std::string(dtypeName(out))});
}
KernelSpec combineSpec(const std::string &target, const AttentionSpec &attention) {
  return combineSpec(target, attention.headDimV, attention.writeLse, attention.outType());
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

KernelGrid combineGrid(std::size_t units) {
  return {static_cast<std::uint32_t>(units), (kAttentionBlockM + kCombineRows - 1) / kCombineRows};
}

//===-- merge_states, quantize, quantize_concat, amax, histogram -----------------------------===//

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

static KernelSpec magnitudeSpec(const std::string &target, std::string kernel, int headDim,
                                const QuantizeOptions &options, int firstColumn) {
  return rowSpec(target, std::move(kernel),
                 {text(std::int64_t{headDim}), options.input, text(std::int64_t{options.rotation}),
                  text(std::int64_t{firstColumn})});
}
KernelSpec amaxSpec(const std::string &target, int headDim, const QuantizeOptions &options,
                    int firstColumn) {
  return magnitudeSpec(target, "amax", headDim, options, firstColumn);
}
KernelSpec histogramSpec(const std::string &target, int headDim, const QuantizeOptions &options,
                         int firstColumn) {
  return magnitudeSpec(target, "histogram", headDim, options, firstColumn);
}

KernelSpec workListSpec(const std::string &target) { return rowSpec(target, "work_list", {}); }

Expected<KernelGrid> rowGrid(const KernelSpec &spec, std::int64_t tokens, std::int64_t heads) {
  WAVESMITH_ASSIGN(const RowKernel *kernel, findRowKernel(spec.row.kernel));
  if (tokens < 0 || tokens > kMaxTokens)
    return error(StatusCode::InvalidArgument, "{}: tokens is {}; 0 to {} are supported",
                 kernel->name, tokens, kMaxTokens);
  if (heads < 0 || heads > kMaxHeads)
    return error(StatusCode::InvalidArgument, "{}: heads is {}; 0 to {} are supported",
                 kernel->name, heads, kMaxHeads);
  return KernelGrid{kernel->groupsFor(tokens), static_cast<std::uint32_t>(heads)};
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
