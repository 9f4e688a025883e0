#include "tests/mutation/Inputs.h"

#include <fmt/ranges.h>

#include "runtime/verify/BFloat16.h"

namespace wavesmith::testing {
namespace {

/// Not a value that a kernel would write.
constexpr std::byte kCanary{0xc5};

} // namespace

void Inputs::draw(std::uint64_t seed, float growth) {
  constexpr std::byte nan{0xff};
  q = HostTensor(checked.q, nan);
  k = HostTensor(checked.k, nan);
  v = HostTensor(checked.v, nan);
  q.fillNormal(DType::BF16, seed, 0);
  k.fillNormal(DType::BF16, seed, 1);
  v.fillNormal(DType::BF16, seed, 2);
  std::int64_t token = 0;
  for (const SequenceLength &length : checked.problem.lengths)
    for (std::int64_t key = 0; key < length.kv; ++key, ++token) {
      const double factor = 1 + (growth - 1) * double(key) / double(length.kv);
      for (std::int64_t head = 0; head < checked.k.heads; ++head)
        for (std::int64_t i = 0; i < checked.k.dim; ++i) {
          std::uint16_t &element = k.at<std::uint16_t>(token, head)[i];
          element = doubleToBf16(bf16ToFloat(element) * factor);
        }
    }
}

HostTensor Inputs::emptyOut() const { return {checked.out, kCanary}; }
HostTensor Inputs::emptyLse() const { return {checked.lse, kCanary}; }

std::string Inputs::compare(const HostTensor &out, const HostTensor &lse,
                            double &relativeRms) const {
  const ErrorReport report = compareWithReference(checked, reference, out, &lse);
  relativeRms = report.outRelRms;
  return fmt::format("{}", fmt::join(report.failures(tolerance), "; "));
}

std::string firstFault(const emulator::RunReport &report) {
  return report.clean() ? "" : report.faults.front().text();
}

} // namespace wavesmith::testing
