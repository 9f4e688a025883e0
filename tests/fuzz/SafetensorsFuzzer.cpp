// The safetensors reader, and the scale artifact's behind it.

#include "runtime/scales/ArtifactTensors.h"
#include "runtime/scales/Safetensors.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

namespace {

void checkArtifact(const Safetensors &file) {
  const auto bytes = file.print();
  fuzz::require(bool(bytes), "what was read can be written");
  const auto artifact = ScaleArtifact::parse(*bytes, "input");
  if (!artifact) {
    fuzz::requireMessage(artifact.status());
    return;
  }
  const auto printed = artifact->print();
  fuzz::require(bool(printed), "an artifact that was read can be written");
  const auto again = ScaleArtifact::parse(*printed, "again");
  fuzz::require(again && *again == *artifact, "an artifact survives its file");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::vector<std::byte> bytes = fuzz::bytes(data, size);
  auto file = Safetensors::parse(bytes, "input");
  if (!file) {
    fuzz::requireMessage(file.status());
    return 0;
  }
  const auto printed = file->print();
  fuzz::require(bool(printed), "what was read can be written");
  const auto again = Safetensors::parse(*printed, "again");
  fuzz::require(again && *again == *file, "a file survives being written");
  checkArtifact(*file);
  // With a digest that fits, so that what lies behind it is reached.
  if (file->metadata.contains("sha256")) {
    file->metadata["sha256"] = contentDigest(*file);
    checkArtifact(*file);
  }
  return 0;
}
