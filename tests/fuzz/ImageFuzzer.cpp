// What hipModuleLoadData is given with a size: a code object or an offload bundle.

#include "emulator/hip/Image.h"
#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::vector<std::byte> image = fuzz::bytes(data, size);
  for (const char *target : {"gfx942", "gfx950"}) {
    const auto object = hipfront::findObject(image.data(), image.size(), target);
    if (!object) {
      fuzz::requireMessage(object.status());
      continue;
    }
    fuzz::require(object->empty() || (object->data() >= image.data() &&
                                      object->data() + object->size() <= image.data() + size),
                  "the object lies in the image");
  }
  return 0;
}
