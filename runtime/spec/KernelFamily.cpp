#include "runtime/spec/KernelFamily.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

namespace wavesmith {
namespace {

constexpr std::array kHeadDims = {HeadDims{192, 128}, HeadDims{128, 128}, HeadDims{64, 64},
                                  HeadDims{256, 256}};

struct Elements {
  DType in;
  bool f16Out;
};
constexpr std::array kElements = {Elements{DType::BF16, false}, Elements{DType::FP8, false},
                                  Elements{DType::F16, false}, Elements{DType::FP8, true}};

constexpr std::array kSwitches = {&AttentionSpec::softCap,  &AttentionSpec::window,
                                  &AttentionSpec::sink,     &AttentionSpec::splitKv,
                                  &AttentionSpec::writeLse, &AttentionSpec::causal};

} // namespace

std::span<const HeadDims> headDims() { return kHeadDims; }

std::vector<KernelSpec> attentionFamily(std::string_view target) {
  std::vector<KernelSpec> specs;
  for (const HeadDims &dims : kHeadDims)
    for (const Elements &elements : kElements)
      for (unsigned set = 0; set < 1u << kSwitches.size(); ++set) {
        AttentionSpec attention{.dtype = elements.in,
                                .headDimQk = dims.qk,
                                .headDimV = dims.v,
                                .f16Out = elements.f16Out};
        for (std::size_t i = 0; i < kSwitches.size(); ++i)
          attention.*kSwitches[i] = set >> i & 1;
        // Logarithms are what most callers ask for: their absence is the variant.
        attention.writeLse = !attention.writeLse;
        specs.push_back({std::string(target), attention, "", {}});
      }
  return specs;
}

std::vector<KernelSpec> rowFamily(std::string_view target, std::uint32_t rotation) {
  std::vector<KernelSpec> specs;
  for (RowKernelSpec &row : rowKernelSpecs(fmt::format("{}", rotation)))
    specs.push_back({std::string(target), {}, "", std::move(row)});
  return specs;
}

std::vector<KernelSpec> kernelFamily(std::string_view target) {
  std::vector<KernelSpec> specs = attentionFamily(target);
  for (const std::uint32_t rotation : {0u, kSampleRotation})
    for (KernelSpec &spec : rowFamily(target, rotation))
      if (std::ranges::find(specs, spec) == specs.end())
        specs.push_back(std::move(spec));
  return specs;
}

} // namespace wavesmith
