#include "compiler/lowering/WordPacker.h"

namespace wavesmith::compiler {

using namespace mlir;

void WordPacker::add(Value value) {
  if (!low_) {
    low_ = value;
    return;
  }
  Value low = std::exchange(low_, nullptr);
  if (isHalf(element_)) {
    words_.push_back(emit_.packHalves(element_, low, value, rounding_));
    return;
  }
  if (!half_)
    half_ = emit_.convertFp8(low, value, nullptr);
  else
    words_.push_back(emit_.convertFp8(low, value, std::exchange(half_, nullptr)));
}

} // namespace wavesmith::compiler
