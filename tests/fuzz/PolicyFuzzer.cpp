// A policy's JSON: what parses must always decide, and agree with itself.

#include "runtime/dispatch/policy/Policy.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto policy = policy::Policy::parse(fuzz::text(data, size), "fuzz");
  if (!policy) {
    fuzz::requireMessage(policy.status());
    return 0;
  }
  for (const std::int64_t qLen : {0, 1023, 1024, 1 << 24})
    for (const bool fp8 : {false, true}) {
      policy::Values values;
      values.qLen = qLen;
      values.contextLen = qLen / 2;
      values.fp8Kernel = fp8;
      values.scales = fp8 ? "static" : "none";
      const policy::Decision decision = policy->decide(values);
      fuzz::require(fp8 || decision.path != policy::Path::Fp8, "FP8 needs a kernel and scales");
      fuzz::require(!decision.reason.empty(), "a decision has a reason");
      for (const policy::Flip &flip : decision.flips)
        fuzz::require(flip.path != decision.path, "a flip changes the path");
    }
  return 0;
}
