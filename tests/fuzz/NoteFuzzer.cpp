// parseNote; what it accepts, it prints and reads again.

#include "runtime/codeobject/Note.h"

#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const auto note = parseNote(fuzz::text(data, size), "input");
  if (!note) {
    fuzz::requireMessage(note.status());
    return 0;
  }
  const auto again = parseNote(printNote(*note), "printed");
  fuzz::require(again && *again == *note, "a printed note reads back");
  return 0;
}
