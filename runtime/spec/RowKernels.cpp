#include "runtime/spec/RowKernels.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/spec/RowKernelAbi.h"

namespace wavesmith {
namespace {

constexpr std::array<std::string_view, 2> kFlag = {"false", "true"};
constexpr std::array<std::string_view, 3> kHeadDimsV = {"64", "128", "256"};
constexpr std::array<std::string_view, 4> kHeadDims = {"64", "128", "192", "256"};
constexpr std::array<std::string_view, 3> kInputs = {"bf16", "f16", "f32"};
constexpr std::array<std::string_view, 2> kOutputs = {"bf16", "f16"};
constexpr std::array<std::string_view, 3> kStates = {"bf16", "f16", "f32"};
constexpr std::array<std::string_view, 1> kFp8 = {"fp8"};
constexpr std::array<std::string_view, 2> kFirstColumns = {"0", "128"};

constexpr std::array kCombineParameters = {
    RowParameter{"head_dim_v", "v", kHeadDimsV},
    RowParameter{"write_lse", "lse", kFlag},
    RowParameter{"output", "", kOutputs},
};

constexpr std::array kMergeParameters = {
    RowParameter{"head_dim_v", "v", kHeadDimsV},
    RowParameter{"element", "", kStates},
};
constexpr RowParameter kRotation = {"rotation", "r", {}};
constexpr std::array kQuantizeParameters = {
    RowParameter{"head_dim", "d", kHeadDims},
    RowParameter{"input", "", kInputs},
    RowParameter{"output", "", kFp8},
    RowParameter{"dynamic", "dynamic", kFlag},
    kRotation,
};
constexpr std::array kQuantizeConcatParameters = {
    RowParameter{"input", "", kInputs},
    RowParameter{"output", "", kFp8},
    RowParameter{"dynamic", "dynamic", kFlag},
    kRotation,
};
constexpr std::array kMagnitudeParameters = {
    RowParameter{"head_dim", "d", kHeadDims},
    RowParameter{"input", "", kInputs},
    kRotation,
    RowParameter{"first_column", "at", kFirstColumns},
};

constexpr std::array kKernels = {
    RowKernel{.name = "combine_splits",
              .abiVersion = 1,
              .parameters = kCombineParameters,
              .rows = kCombineRows,
              .argumentBytes = sizeof(CombineArguments),
              .layout = kCombineLayout},
    RowKernel{.name = "merge_states",
              .abiVersion = 1,
              .parameters = kMergeParameters,
              .rows = kMergeRows,
              .argumentBytes = sizeof(MergeArguments),
              .layout = kMergeLayout},
    RowKernel{.name = "quantize",
              .abiVersion = 1,
              .parameters = kQuantizeParameters,
              .rows = kQuantizeRows,
              .argumentBytes = sizeof(QuantizeArguments),
              .layout = kQuantizeLayout},
    RowKernel{.name = "quantize_concat",
              .abiVersion = 1,
              .parameters = kQuantizeConcatParameters,
              .rows = kQuantizeRows,
              .argumentBytes = sizeof(QuantizeConcatArguments),
              .layout = kQuantizeConcatLayout},
    RowKernel{.name = "amax",
              .abiVersion = 1,
              .parameters = kMagnitudeParameters,
              .rows = kQuantizeRows,
              .argumentBytes = sizeof(AmaxArguments),
              .layout = kAmaxLayout},
    RowKernel{.name = "histogram",
              .abiVersion = 1,
              .parameters = kMagnitudeParameters,
              .rows = kQuantizeRows,
              .argumentBytes = sizeof(HistogramArguments),
              .layout = kHistogramLayout},
    RowKernel{.name = "work_list",
              .abiVersion = 3,
              .parameters = {},
              .rows = 1,
              .argumentBytes = sizeof(WorkListArguments),
              .layout = kWorkListLayout},
};

/// Canonical decimal only: "007" would be a second text of the same spec.
bool isNumber(std::string_view text) {
  std::int32_t number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && rest == end && number >= 0 && fmt::format("{}", number) == text;
}

} // namespace

std::span<const RowKernel> rowKernels() { return kKernels; }

Expected<const RowKernel *> findRowKernel(std::string_view name) {
  std::string known;
  for (const RowKernel &kernel : kKernels) {
    if (kernel.name == name)
      return &kernel;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kernel.name);
  }
  return error(StatusCode::InvalidArgument, "unknown kernel \"{}\"; known: attention, {}",
               name.substr(0, 80), known);
}

Status validateRowKernel(const RowKernelSpec &spec) {
  WAVESMITH_ASSIGN(const RowKernel *kernel, findRowKernel(spec.kernel));
  if (spec.values.size() != kernel->parameters.size())
    return error(StatusCode::InvalidArgument, "{} has {} parameters, the spec {} values",
                 kernel->name, kernel->parameters.size(), spec.values.size());
  for (std::size_t i = 0; i < spec.values.size(); ++i) {
    const RowParameter &parameter = kernel->parameters[i];
    const std::string_view value = spec.values[i];
    if (parameter.allowed.empty()
            ? isNumber(value)
            : std::ranges::find(parameter.allowed, value) != parameter.allowed.end())
      continue;
    return error(StatusCode::InvalidArgument, "{}: {} is \"{}\"; supported: {}", kernel->name,
                 parameter.name, value.substr(0, 80),
                 parameter.allowed.empty() ? std::string("numbers from 0 to 2147483647")
                                           : fmt::format("{}", fmt::join(parameter.allowed, ", ")));
  }
  return Status::ok();
}

std::vector<RowKernelSpec> rowKernelSpecs(std::string_view freeNumber) {
  std::vector<RowKernelSpec> all;
  for (const RowKernel &kernel : kKernels) {
    std::vector<RowKernelSpec> specs = {{std::string(kernel.name), {}}};
    for (const RowParameter &parameter : kernel.parameters) {
      std::vector<RowKernelSpec> longer;
      for (const RowKernelSpec &spec : specs)
        for (const std::string_view value :
             parameter.allowed.empty() ? std::span(&freeNumber, 1) : parameter.allowed) {
          longer.push_back(spec);
          longer.back().values.emplace_back(value);
        }
      specs = std::move(longer);
    }
    all.insert(all.end(), specs.begin(), specs.end());
  }
  return all;
}

} // namespace wavesmith
