#pragma once
// Rounds floats to the input type of the matrix core and packs them, in the order in which they
// come, into i32 words: the low bytes first. One per use.

#include "compiler/lowering/Emitter.h"

namespace wavesmith::compiler {

class WordPacker {
public:
  using Value = mlir::Value;

  WordPacker(Emitter &emit, ElementType element, PRounding rounding)
      : emit_(emit), element_(element), rounding_(rounding) {}
  void add(Value value);
  mlir::ArrayRef<Value> words() const { return words_; }

private:
  Emitter &emit_;
  ElementType element_;
  PRounding rounding_;
  Value low_;  ///< of an unfinished pair
  Value half_; ///< FP8: a word whose upper pair is to come
  mlir::SmallVector<Value> words_;
};

} // namespace wavesmith::compiler
