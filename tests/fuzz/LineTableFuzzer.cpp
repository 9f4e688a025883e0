// LineTable::read and the look-up of addresses.

#include "runtime/codeobject/LineTable.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::vector<std::byte> bytes = fuzz::bytes(data, size);
  const auto lines = LineTable::read(bytes, "input");
  if (!lines) {
    fuzz::requireMessage(lines.status());
    return 0;
  }
  for (std::uint64_t address = 0; address < 0x1000; address += 4)
    if (const auto found = lines->find(address))
      fuzz::require(found->find(':') != std::string::npos, "a place has a line");
  (void)lines->find(~std::uint64_t{0});
  return 0;
}
