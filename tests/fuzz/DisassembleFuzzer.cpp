// The decoder and the disassembler on any words, for both targets.

#include "emulator/Emulator.h"
#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::vector<std::uint32_t> words = fuzz::words(data, size);
  for (const char *target : {"gfx942", "gfx950"}) {
    std::span<const std::uint32_t> rest(words);
    while (!rest.empty()) {
      std::size_t bytes = 0;
      const auto text = emulator::disassemble(rest, 0x1000, target, &bytes);
      if (!text) {
        fuzz::requireMessage(text.status());
        rest = rest.subspan(1);
        continue;
      }
      fuzz::require(!text->empty(), "an instruction has a text");
      fuzz::require(text->find('?') == std::string::npos, "every part of it has a name");
      fuzz::require(bytes >= 4 && bytes % 4 == 0 && bytes / 4 <= rest.size(),
                    "an instruction lies in its words");
      rest = rest.subspan(bytes / 4);
    }
  }
  return 0;
}
