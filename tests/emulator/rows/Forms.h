#pragma once
// Vector and scalar cases made of a model: the operand text of an encoding and its modifiers, and
// what they do to the operands and to the result (CDNA3 ISA 4.9, 6.2 to 6.4). Plain functions.

#include "tests/emulator/rows/Operation.h"

namespace wavesmith::emulator::rows {

enum class Encoding { Vop1, Vop2, Vopc, VopcX, Vop3, Sop1, Sop2, Sopc, Sopk };

/// One instruction of a case: which encoding of the row, with which modifiers.
struct Form {
  enum Variant { Short, Long, Sdwa, Dpp } variant = Short;
  u32 negate = 0, absolute = 0; ///< bit per source
  bool clamp = false;
  int omod = 0; ///< 1: times 2, 2: times 4, 3: half
  u32 opSel = 0;
  int select[2] = {6, 6}, to = 6, unused = 0; ///< SDWA: 0-3 bytes, 4-5 words, 6 all
  u32 extend = 0;                             ///< SDWA: bit per source
  int dpp = 0;                                ///< index into the controls
  u32 rows = 15, banks = 15;
  bool bound = true;  ///< lanes without a source read 0, else they keep their destination
  bool flush = false; ///< MODE: float32 and float16/64 denormals become zero
  bool ieee = true;
};

int dppControls();

/// A vector row, by the model; blocks of 64 tuples.
Case vectorCase(const std::string &row, Encoding encoding, const Operation &op,
                const Form &form = {}, int blocks = 9);
/// A scalar one, a tuple per block.
Case scalarCase(const std::string &row, Encoding encoding, const Operation &op);

struct Entry {
  std::string row;
  Encoding encoding;
  Operation op;
  /// Which forms exist beside the plain one.
  enum : u32 { kSigns = 1, kOmod = 2, kSdwa = 4, kDpp = 8, kClamp = 16, kOpSel = 32, kExtend = 64 };
  u32 forms = 0;
  bool only950 = false;
};
/// The plain case of each entry, and one of each further form with drawn modifiers.
std::vector<Case> casesOf(const std::vector<Entry> &entries);

} // namespace wavesmith::emulator::rows
