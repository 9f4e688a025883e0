#include "compiler/lowering/WordPacker.h"

namespace wavesmith::compiler {

using namespace mlir;

void WordPacker::add(Value value) {
  if (!low_) {
    low_ = value;
    return;
  }
  Value low = std::exchange(low_, nullptr);
  if (bytesOf(element_) == 2) {
    words_.push_back(emit_.packBf16(low, value, rounding_));
    return;
  }
  if (!half_)
    half_ = emit_.convertFp8(low, value, nullptr);
  else
    words_.push_back(emit_.convertFp8(low, value, std::exchange(half_, nullptr)));
}

} // namespace wavesmith::compiler
