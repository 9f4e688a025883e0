// CodeObject::parse, the look-up of kernels, ranges by address, and our note inside.

#include "runtime/codeobject/CodeObject.h"

#include "runtime/codeobject/Note.h"
#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  auto object = CodeObject::parse(fuzz::bytes(data, size), "input");
  if (!object) {
    fuzz::requireMessage(object.status());
    return 0;
  }
  for (const KernelInfo &kernel : object->kernels()) {
    fuzz::require(bool(object->kernel(kernel.name)), "a listed kernel is found");
    fuzz::require(object->at(kernel.descriptorAddress, 64).size() == 64, "descriptors are inside");
    fuzz::require(object->at(kernel.entryAddress, kernel.codeSize).size() == kernel.codeSize,
                  "code is inside");
  }
  fuzz::requireMessage(object->kernel("\n no such kernel").status());
  for (const Segment &segment : object->segments())
    fuzz::require(object->at(segment.address, segment.bytes.size() + 1).empty(),
                  "nothing is found beyond a segment's bytes");
  fuzz::require(object->at(~std::uint64_t{0}, 2).empty(), "addresses do not wrap");
  if (object->wavesmithNote())
    if (const auto note = parseNote(*object->wavesmithNote(), "input"); !note)
      fuzz::requireMessage(note.status());
  return 0;
}
