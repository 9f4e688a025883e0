// KernelSpec::parse; what it accepts is canonical.

#include "runtime/spec/KernelSpec.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  for (const Status &status : {parseDType(text).status(), parseTarget(text).status()})
    if (!status.isOk())
      fuzz::requireMessage(status);
  const auto spec = KernelSpec::parse(text);
  if (!spec) {
    fuzz::requireMessage(spec.status());
    return 0;
  }
  fuzz::require(spec->text() == text, "an accepted text is the canonical one");
  fuzz::require(spec->key().size() == 64 && !spec->kernelName().empty(), "a spec has names");
  if (const Status status = spec->validate(); !status.isOk())
    fuzz::requireMessage(status);
  return 0;
}
