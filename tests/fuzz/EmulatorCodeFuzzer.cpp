// Any words as the code of a kernel that is sound otherwise: faults only. The first byte chooses
// order and checks, the second (odd) gfx950; the words follow at byte 4.

#include "runtime/support/Files.h"
#include "tests/fuzz/EmulatorRun.h"

using namespace wavesmith;

namespace {

constexpr std::size_t kFlagsOffset = 48; ///< e_flags; its low byte is the machine
constexpr std::byte kGfx950{0x4f};
constexpr std::uint32_t kEnd = 0xbf810000; ///< s_endpgm, behind the input's words

std::vector<std::byte> frame() {
  auto bytes = readFile(WAVESMITH_FUZZ_CORPUS "/object/frame_gfx942.co");
  fuzz::require(bool(bytes), "the frame is in the corpus");
  return *std::move(bytes);
}

/// The kernel's symbols get another size, so that not all of the frame is decoded for a few words.
void resize(std::vector<std::byte> &image, const KernelInfo &kernel, std::uint64_t size) {
  const std::uint64_t wanted[] = {kernel.entryAddress, kernel.codeSize}; // st_value, st_size
  std::size_t symbols = 0;
  for (std::size_t at = 0; at + sizeof(wanted) <= image.size(); at += 8)
    if (std::memcmp(&image[at], wanted, sizeof(wanted)) == 0) {
      std::memcpy(&image[at + 8], &size, sizeof(size));
      ++symbols;
    }
  fuzz::require(symbols > 0, "the kernel has a symbol");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const std::vector<std::byte> kFrame = frame();
  static const auto kParsed = CodeObject::parse(kFrame, "frame");
  fuzz::require(bool(kParsed), "the frame is a code object");
  if (size < 8)
    return 0;
  const KernelInfo &kernel = kParsed->kernels().front();
  const auto code = kParsed->at(kernel.entryAddress, kernel.codeSize);
  const auto offset = static_cast<std::size_t>(code.data() - kParsed->bytes().data());
  std::vector<std::byte> image = kFrame;
  if (data[1] & 1)
    image[kFlagsOffset] = kGfx950;
  const std::size_t bytes = std::min(size - 4, code.size() - sizeof(kEnd)) & ~std::size_t{3};
  std::memcpy(image.data() + offset, data + 4, bytes);
  std::memcpy(image.data() + offset + bytes, &kEnd, sizeof(kEnd));
  resize(image, kernel, bytes + sizeof(kEnd));
  const auto object = CodeObject::parse(std::move(image), "input");
  fuzz::require(bool(object), "other code changes nothing else");
  fuzz::run(*object, data[0]);
  return 0;
}
