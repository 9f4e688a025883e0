// `--lens`: the lengths of a batch as text, and the checks of the problem that they make.

#include "runtime/dispatch/AttentionProblem.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto lengths = parseLengths(fuzz::text(data, size));
  if (!lengths) {
    fuzz::requireMessage(lengths.status());
    return 0;
  }
  fuzz::require(!lengths->empty(), "a batch has a sequence");
  return 0;
}
