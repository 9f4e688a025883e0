#include "bench/accuracy/Methods.h"

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "runtime/numerics/QuantizerModel.h"

namespace wavesmith::bench {
namespace {

constexpr std::uint32_t kRotation = 7;
constexpr float kMargin = 1.1f; ///< of calibrated maxima, as the published schema has it

constexpr std::array<std::string_view, 5> kNames = {"bf16", "static", "dynamic", "per-tensor",
                                                    "unit"};
constexpr std::array<Method, 9> kMethods = {{{Scales::None, false},
                                             {Scales::Static, false},
                                             {Scales::Static, true},
                                             {Scales::Dynamic, false},
                                             {Scales::Dynamic, true},
                                             {Scales::PerTensor, false},
                                             {Scales::PerTensor, true},
                                             {Scales::Unit, false},
                                             {Scales::Unit, true}}};

std::vector<float> descalesOf(Scales scales, const HostTensor &input, std::uint32_t rotation,
                              std::vector<float> calibrated, Fp8Format format) {
  switch (scales) {
  case Scales::Static:
    for (float &maximum : calibrated)
      maximum *= kMargin;
    return modelDescales(calibrated, format);
  case Scales::Dynamic:
  case Scales::PerTensor:
    return modelDescales(modelMaxima(input, DType::BF16, rotation, scales == Scales::PerTensor),
                         format);
  default:
    return {1.0f};
  }
}

} // namespace

std::string_view nameOf(Scales scales) { return kNames[static_cast<std::size_t>(scales)]; }
Expected<Scales> parseScales(std::string_view text) {
  const auto *found = std::ranges::find(kNames, text);
  if (found == kNames.end())
    return error(StatusCode::InvalidArgument, "\"{}\" is no kind of scales; known: {}",
                 text.substr(0, 80), fmt::join(kNames, ", "));
  return static_cast<Scales>(found - kNames.begin());
}
std::span<const Method> allMethods() { return kMethods; }

Maxima maximaOf(const HostTensor &q, const HostTensor &k, const HostTensor &v, bool rotated) {
  const std::uint32_t rotation = rotated ? kRotation : 0;
  return {modelMaxima(q, DType::BF16, rotation, false),
          modelMaxima(k, DType::BF16, rotation, false), modelMaxima(v, DType::BF16, 0, false)};
}

void include(Maxima &into, const Maxima &other) {
  for (std::size_t tensor = 0; tensor < into.size(); ++tensor) {
    into[tensor].resize(other[tensor].size());
    for (std::size_t head = 0; head < other[tensor].size(); ++head)
      into[tensor][head] = std::max(into[tensor][head], other[tensor][head]);
  }
}

Expected<Computed> compute(const Method &method, const AttentionProblem &problem,
                           const HostTensor &q, const HostTensor &k, const HostTensor &v,
                           const Maxima &calibrated) {
  if (method.scales == Scales::None) {
    WAVESMITH_ASSIGN(const AttentionPlan plan, planAttention(problem, {.splits = 1}));
    WAVESMITH_ASSIGN(ModelledAttention attention, modelAttention(plan, q, k, v));
    return Computed{.attention = std::move(attention)};
  }
  AttentionProblem fp8 = problem;
  fp8.dtype = DType::FP8;
  const bool shared = method.scales == Scales::PerTensor || method.scales == Scales::Unit;
  fp8.sharedDescales = {.q = shared, .k = shared, .v = shared};
  WAVESMITH_ASSIGN(const AttentionPlan plan, planAttention(fp8, {.splits = 1}));

  Computed computed;
  Descales descales;
  const Fp8Format format = plan.checked.fp8;
  auto codesOf = [&](const HostTensor &input, bool rotates, const std::vector<float> &maxima,
                     std::vector<float> &made) {
    const std::uint32_t rotation = rotates && method.rotated ? kRotation : 0;
    made = descalesOf(method.scales, input, rotation, maxima, format);
    ModelledCodes codes = modelCodes(input, DType::BF16, rotation, format, made);
    computed.saturated +=
        std::accumulate(codes.saturated.begin(), codes.saturated.end(), std::uint64_t{0});
    return std::move(codes.codes);
  };
  const HostTensor qCodes = codesOf(q, true, calibrated[0], descales.q);
  const HostTensor kCodes = codesOf(k, true, calibrated[1], descales.k);
  const HostTensor vCodes = codesOf(v, false, calibrated[2], descales.v);
  WAVESMITH_ASSIGN(computed.attention, modelAttention(plan, qCodes, kCodes, vCodes, descales));
  return computed;
}

} // namespace wavesmith::bench
