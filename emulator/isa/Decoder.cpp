#include "emulator/isa/Decoder.h"

#include "emulator/isa/Decoding.h"

namespace wavesmith::emulator {

bool decodeInst(std::span<const u32> words, u64 pc, const DecodeContext &context, Inst &inst) {
  inst = Inst();
  inst.pc = pc;
  for (std::size_t i = 0; i < 4 && i < words.size(); ++i)
    inst.words[i] = words[i];
  Inst decoded = inst;
  if (Decoding(words, context, decoded).run()) {
    inst = decoded;
    return true;
  }
  inst.size = decoded.size <= words.size() * 4 ? decoded.size : 4;
  inst.row = nullptr;
  return false;
}

} // namespace wavesmith::emulator
