// Device::load and run of a damaged code object: refused or run to its faults. The last byte of the
// input chooses order and checks.

#include "tests/fuzz/EmulatorRun.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto object = CodeObject::parse(fuzz::bytes(data, size), "input");
  if (object)
    fuzz::run(*object, data[size - 1]);
  else
    fuzz::requireMessage(object.status());
  return 0;
}
