// The .npy reader.

#include "runtime/exec/Npy.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::vector<std::byte> file = fuzz::bytes(data, size);
  const auto array = parseNpy(file, "input");
  if (!array) {
    fuzz::requireMessage(array.status());
    return 0;
  }
  fuzz::require(array->dataOffset <= size && array->dataBytes <= size - array->dataOffset,
                "the data is in the file");
  std::uint64_t product = array->itemBytes;
  for (const std::uint64_t extent : array->shape)
    product *= extent;
  fuzz::require(product == array->dataBytes, "the data has the size of the shape");
  return 0;
}
