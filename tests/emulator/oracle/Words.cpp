#include "tests/emulator/oracle/Words.h"

#include <random>

#include "emulator/isa/Table.h"

namespace wavesmith::emulator::oracle {
namespace {

class Draw {
public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  u32 word() { return static_cast<u32>(random_()); }
  bool once(unsigned in) { return random_() % in == 0; }

  /// A source code: mostly registers, constants, now and then anything.
  u32 source(int bits) {
    switch (random_() % 8) {
    case 0:
      return 128 + word() % 81; // integers
    case 1:
      return 240 + word() % 9; // floats
    case 2:
    case 3:
      return word() % 102; // SGPRs
    case 4:
      return word() & ((1u << bits) - 1);
    default:
      return bits == 9 ? 256 + word() % 256 : word() % 102;
    }
  }

  /// Fills in what the format's first word leaves open and appends the words that it needs.
  Words finish(u32 first, const FormatInfo *info) {
    Words words;
    words.word[0] = first;
    for (int i = 1; i < 4; ++i)
      words.word[i] = word();
    if (!info)
      words.count = 2;
    else
      words.count = info->bytes / 4;
    if (info && info->bytes == 4) {
      bool scalar = info->format == Format::Sop1 || info->format == Format::Sop2 ||
                    info->format == Format::Sopc;
      bool vector = info->format == Format::Vop1 || info->format == Format::Vop2 ||
                    info->format == Format::Vopc;
      u32 code = scalar ? first & 0xff : vector ? first & 0x1ff : 0;
      bool literal =
          code == 255 || ((info->format == Format::Sop2 || info->format == Format::Sopc) &&
                          ((first >> 8) & 0xff) == 255);
      u32 opcode = (first >> info->opcodeShift) & ((1u << info->opcodeBits) - 1);
      literal |= info->format == Format::Vop2 &&
                 (opcode == 0x17 || opcode == 0x18 || opcode == 0x24 || opcode == 0x25);
      literal |= info->format == Format::Sopk && opcode == 0x14;
      if (literal || (vector && (code == 249 || code == 250)))
        words.count = 2;
    }
    // A scale prefix has its matrix instruction behind it.
    if ((first & 0xffff0000) == 0xd3ac0000) {
      words.count = 4;
      words.word[2] = (once(2) ? 0xd3ad0000 : 0xd3ae0000) | (word() & 0xffff);
    }
    return words;
  }

  /// The second word of a long format, with plausible operands.
  u32 second(Format format) {
    u32 w = 0;
    switch (format) {
    case Format::Vop3:
    case Format::Vop3p:
      w = source(9) | source(9) << 9 | source(9) << 18;
      return once(2) ? w : w | (word() & 0xf8000000);
    default:
      return word();
    }
  }

private:
  std::mt19937_64 random_;
};

} // namespace

std::vector<Words> systematicWords(std::uint64_t seed, int rounds) {
  std::vector<Words> all;
  Draw draw(seed);
  // What has no row at all is a format here too.
  std::vector<FormatInfo> list(formats().begin(), formats().end());
  list.push_back({Format::Mubuf, 0xfc000000, 0xf0000000, 18, 7, 8, "MIMG"});
  list.push_back({Format::Mubuf, 0xfc000000, 0xc4000000, 18, 4, 8, "EXP"});
  list.push_back({Format::Mubuf, 0xfc000000, 0xd4000000, 16, 2, 4, "VINTRP"});
  for (const FormatInfo &info : list) {
    u32 opcodeMask = ((1u << info.opcodeBits) - 1) << info.opcodeShift;
    bool longVector = info.format == Format::Vop3 || info.format == Format::Vop3p;
    for (u32 opcode = 0; opcode < 1u << info.opcodeBits; ++opcode)
      for (int round = 0; round < rounds; ++round) {
        u32 first =
            (draw.word() & ~info.mask & ~opcodeMask) | info.value | opcode << info.opcodeShift;
        // VOP2 opcodes 62 and 63 are other formats.
        if (info.format == Format::Vop2 && opcode >= 62)
          continue;
        if (info.format == Format::Sopp && opcode == 0)
          continue; // s_nop marks the ends of inputs
        if (longVector && round % 2 == 0)
          first &= ~0xff00u; // no modifiers
        if (info.format == Format::Vop1 || info.format == Format::Vop2 ||
            info.format == Format::Vopc) {
          first &= ~0x1ffu;
          first |= round % 4 == 1 ? 249 : round % 4 == 2 ? 250 : draw.source(9);
        }
        if (info.format == Format::Sop1 || info.format == Format::Sop2 ||
            info.format == Format::Sopc)
          first = (first & ~0xffu) | draw.source(8);
        Words words = draw.finish(first, &info);
        if (longVector && words.count == 2)
          words.word[1] = draw.second(info.format);
        bool memory = info.bytes == 8 && !longVector;
        // Most reserved fields are zero in real code.
        if (memory && round % 2 == 0)
          words.word[1] &= info.format == Format::Smem ? 0x1fffff : ~0u;
        all.push_back(words);
      }
  }
  return all;
}

std::vector<Words> randomWords(std::uint64_t seed, std::size_t count) {
  std::vector<Words> all;
  Draw draw(seed);
  while (all.size() < count) {
    u32 first = draw.word();
    const FormatInfo *info = formatOf(first);
    if (info && info->format == Format::Sopp && ((first >> 16) & 0x7f) == 0)
      continue;
    all.push_back(draw.finish(first, info));
  }
  return all;
}

} // namespace wavesmith::emulator::oracle
