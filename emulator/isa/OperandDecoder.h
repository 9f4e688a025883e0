#pragma once
// Operand codes to operands, and the register ranges that the checks look at. Used by the decoder
// while it fills one Inst.

#include <span>

#include "emulator/isa/Decoder.h"
#include "emulator/machine/Handlers.h"

namespace wavesmith::emulator {

class OperandDecoder {
public:
  OperandDecoder(std::span<const u32> words, const DecodeContext &context, Inst &inst)
      : words_(words), context_(context), inst_(inst) {}

  /// An 8 or 9 bit source code: register, inline constant, literal.
  Operand source(u32 code, Type type);
  Operand scalar(u32 code, Type type) { return scalarWords(code, wordsOf(type)); }
  Operand scalarWords(u32 code, int words);
  Operand vector(u32 code, int words, bool accumulator);
  Operand constant(u64 value, Type type);
  /// A source of v_pk_*_f32: an inline constant fills only the low float.
  Operand packedFloats(u32 code);

  void read(const Operand &operand, int index);
  void write(const Operand &operand);
  void readScalar(u32 code, int words, int index);
  void writeScalar(u32 code, int words);

  void finish();
  bool ok() const { return ok_; }

private:
  u64 inlineConstant(u32 code, Type type);

  std::span<const u32> words_;
  const DecodeContext &context_;
  Inst &inst_;
  bool ok_ = true;
};

} // namespace wavesmith::emulator
