// The launch file of `wavesmith exec`. Files that it may name are the seeds of the other targets.

#include "runtime/exec/LaunchFile.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  // Input that leaves the directory could name a device or a pipe, which never end.
  for (const char *outside : {"..", "\"/", "\\", "dev"})
    if (text.find(outside) != std::string_view::npos)
      return 0;
  const auto file = parseLaunchFile(text, WAVESMITH_FUZZ_CORPUS, "input");
  if (!file) {
    fuzz::requireMessage(file.status());
    return 0;
  }
  for (const LaunchEntry &launch : file->launches) {
    fuzz::require(launch.object != nullptr, "a launch has an object");
    fuzz::require(bool(launch.object->kernel(launch.kernel)), "a launch's kernel exists");
    for (const LaunchEntry::Address &address : launch.addresses) {
      fuzz::require(address.offset + 8 <= launch.kernarg.size(), "an address fits the block");
      fuzz::require(address.buffer < file->buffers.size(), "an address has a buffer");
      fuzz::require(address.delta <= file->buffers[address.buffer].bytes, "it points into it");
    }
  }
  return 0;
}
