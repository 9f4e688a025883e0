// The instruction table read backwards: text in LLVM's spelling.

#include <vector>

#include "emulator/Emulator.h"
#include "emulator/isa/Decoder.h"
#include "emulator/isa/OperandText.h"
#include "emulator/machine/Handlers.h"

namespace wavesmith::emulator {
namespace {

/// Collects "name a, b, c mod mod".
class Text {
public:
  explicit Text(std::string name) : text_(std::move(name)) {}
  void operand(const std::string &operand) {
    text_ += any_ ? ", " : " ";
    text_ += operand;
    any_ = true;
  }
  void modifier(const std::string &modifier) { text_ += " " + modifier; }
  void flag(bool on, const char *name) {
    if (on)
      modifier(name);
  }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
  bool any_ = false;
};

std::string bitList(unsigned bits, int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{}", i ? "," : "", (bits >> i) & 1);
  return text + "]";
}

std::string waitText(unsigned imm) {
  unsigned vm = (imm & 15) | ((imm >> 14) & 3) << 4, exp = (imm >> 4) & 7, lgkm = (imm >> 8) & 15;
  bool all = vm == 63 && exp == 7 && lgkm == 15;
  std::string text;
  auto add = [&](const char *name, unsigned value, unsigned idle) {
    if (all || value != idle)
      text += fmt::format("{}{}({})", text.empty() ? "" : " ", name, value);
  };
  add("vmcnt", vm, 63);
  add("expcnt", exp, 7);
  add("lgkmcnt", lgkm, 15);
  return text;
}

/// Which operands VGPR indexing moves.
std::string indexModeText(unsigned mask) {
  if (mask > 15)
    return fmt::format("{:#x}", mask);
  static constexpr const char *kRoles[] = {"SRC0", "SRC1", "SRC2", "DST"};
  std::string text;
  for (int i = 0; i < 4; ++i)
    if ((mask >> i) & 1)
      text += std::string(text.empty() ? "" : ",") + kRoles[i];
  return "gpr_idx(" + text + ")";
}

std::string scalarText(const Inst &inst) {
  const Row &row = *inst.row;
  Text text(row.name);
  unsigned imm = static_cast<u16>(inst.immediate);
  switch (row.format) {
  case Format::Sopp:
    if (row.handler == waitCounters)
      text.operand(waitText(imm));
    else if (row.use == Use::IndexMode)
      text.operand(indexModeText(imm));
    else if (row.handler == endProgram ? imm != 0 : row.use != Use::NoOperands)
      // Branch distances are decimal; other operands turn hexadecimal when they are no inline
      // constant.
      text.operand(row.use == Use::Branch || row.handler == endProgram || imm <= 64
                       ? fmt::format("{}", imm)
                       : fmt::format("{:#x}", imm));
    return text.take();
  case Format::Sopk:
    if (row.use == Use::Fork) {
      text.operand(operandText(inst.source[0]));
      text.operand(fmt::format("{}", imm));
      return text.take();
    }
    if (row.handler == setRegister) {
      text.operand(hardwareRegisterText(imm));
      text.operand(operandText(inst.source[0]));
      return text.take();
    }
    text.operand(operandText(inst.destination));
    text.operand(row.handler == getRegister ? hardwareRegisterText(imm)
                 : row.use == Use::Branch   ? fmt::format("{}", imm)
                                            : fmt::format("{:#x}", imm));
    return text.take();
  default:
    if (inst.destination.kind != OperandKind::None)
      text.operand(operandText(inst.destination));
    for (int i = 0; i < inst.sourceCount; ++i)
      text.operand(operandText(inst.source[i]));
    if (row.use == Use::IndexMode && row.format == Format::Sopc)
      text.operand(indexModeText(imm));
    return text.take();
  }
}

std::string scalarMemoryText(const Inst &inst) {
  Text text(inst.row->name);
  if (inst.row->use == Use::Cache)
    return text.take();
  if (inst.row->use == Use::Probe)
    text.operand(inst.offset1 <= 64 ? fmt::format("{}", inst.offset1)
                                    : fmt::format("{:#x}", inst.offset1));
  else if (inst.row->use != Use::AddressOnly)
    text.operand(operandText(inst.destination));
  if (inst.row->use == Use::WriteOnly)
    return text.take();
  text.operand(operandText(inst.source[0]));
  bool immediate = (inst.words[0] >> 17) & 1;
  if (inst.sourceCount > 1) {
    text.operand(operandText(inst.source[1]));
    if (immediate)
      text.modifier(fmt::format("offset:{:#x}", inst.immediate));
  } else if (inst.immediate < 0) {
    text.operand(fmt::format("-{:#x}", -inst.immediate));
  } else {
    text.operand(fmt::format("{:#x}", inst.immediate));
  }
  text.flag(inst.sc0, "glc");
  return text.take();
}

const char *suffix(const Inst &inst) {
  const Row &row = *inst.row;
  bool shortFormat =
      row.format == Format::Vop1 || row.format == Format::Vop2 || row.format == Format::Vopc;
  if (!shortFormat)
    return "";
  if (inst.variant == Variant::Sdwa)
    return "_sdwa";
  if (inst.variant == Variant::Dpp)
    return "_dpp";
  bool bare = row.use == Use::Literal || row.handler == readFirstLane ||
              row.handler == swapRegisters || row.use == Use::AccumMove ||
              row.use == Use::NoOperands;
  if (inst.variant == Variant::Long)
    return row.handler == readFirstLane ? "" : "_e64";
  return bare ? "" : "_e32";
}

std::string sdwaSelect(int select) {
  static constexpr const char *kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                           "WORD_0", "WORD_1", "DWORD",  "?"};
  return kNames[select & 7];
}

void vectorModifiers(const Inst &inst, Text &text) {
  const Row &row = *inst.row;
  static constexpr const char *kOmod[] = {"", "mul:2", "mul:4", "div:2"};
  if (inst.variant == Variant::Long) {
    if (row.use == Use::Bitop && inst.immediate)
      text.modifier(inst.immediate < 16 ? fmt::format("bitop3:{}", inst.immediate)
                                        : fmt::format("bitop3:{:#x}", inst.immediate));
    if (inst.opSel && row.fields.opSelShown) {
      // Sources, then the destination.
      int count = row.fields.opSelShown == 4 ? 3 : 2;
      unsigned bits = (inst.opSel & ((1u << count) - 1)) | (inst.opSel >> 3 & 1u) << count;
      text.modifier("op_sel:" + bitList(bits, count + 1));
    }
    text.flag(inst.clamp, "clamp");
    text.flag(inst.omod, kOmod[inst.omod & 3]);
  } else if (inst.variant == Variant::Sdwa) {
    text.flag(inst.clamp, "clamp");
    text.flag(inst.omod, kOmod[inst.omod & 3]);
    if (row.format != Format::Vopc) {
      static constexpr const char *kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE",
                                                "?"};
      text.modifier("dst_sel:" + sdwaSelect(inst.dstSel));
      text.modifier(std::string("dst_unused:") + kUnused[inst.dstUnused & 3]);
    }
    text.modifier("src0_sel:" + sdwaSelect(inst.srcSel[0]));
    if (row.format != Format::Vop1)
      text.modifier("src1_sel:" + sdwaSelect(inst.srcSel[1]));
  } else if (inst.variant == Variant::Dpp) {
    text.modifier(dppText(inst.dppControl));
    text.modifier(fmt::format("row_mask:{:#x}", inst.rowMask));
    text.modifier(fmt::format("bank_mask:{:#x}", inst.bankMask));
    text.flag(inst.boundControl, "bound_ctrl:1");
  }
}

std::string vectorText(const Inst &inst) {
  const Row &row = *inst.row;
  Text text(row.name + std::string(suffix(inst)));
  if (inst.destination.kind != OperandKind::None)
    text.operand(operandText(inst.destination));
  if (inst.scalarDestination.kind != OperandKind::None)
    text.operand(operandText(inst.scalarDestination));
  int shown = inst.sourceCount;
  if (row.use == Use::VccIn)
    --shown; // v_div_fmas reads VCC without saying so
  for (int i = 0; i < shown; ++i)
    text.operand(i < 3 ? modifiedText(inst, i) : operandText(inst.source[i]));
  vectorModifiers(inst, text);
  return text.take();
}

std::string packedText(const Inst &inst) {
  const Row &row = *inst.row;
  Text text((inst.size == 16 ? std::string("v_mfma_scale_") + (row.name + 7) : row.name));
  text.operand(operandText(inst.destination));
  for (int i = 0; i < inst.sourceCount; ++i) {
    bool mix = row.use == Use::Mix;
    std::string operand = operandText(inst.source[i]);
    if (mix && (inst.negHi >> i) & 1)
      operand = fmt::format("|{}|", operand);
    bool constant = inst.source[i].kind == OperandKind::Constant && operand[0] != '|';
    if (mix && (inst.neg >> i) & 1)
      operand = constant ? "neg(" + operand + ")" : "-" + operand;
    text.operand(operand);
  }
  if (row.use == Use::Matrix || row.use == Use::SparseMatrix) {
    if (inst.size == 16) {
      text.operand(operandText(inst.scale[0]));
      text.operand(operandText(inst.scale[1]));
      unsigned low = (inst.scaleSel[0] & 1u) | (inst.scaleSel[1] & 1u) << 1;
      unsigned high = (inst.scaleSel[0] >> 1 & 1u) | (inst.scaleSel[1] >> 1 & 1u) << 1;
      if (low)
        text.modifier("op_sel:" + bitList(low, 3));
      text.modifier("op_sel_hi:" + bitList(high, 3));
    }
    if (inst.cbsz)
      text.modifier(fmt::format("cbsz:{}", inst.cbsz));
    if (inst.abid && inst.size != 16)
      text.modifier(fmt::format("abid:{}", inst.abid));
    bool isDouble = std::string_view(row.name).find("f64") < 12;
    if (inst.blgp)
      text.modifier(isDouble ? "neg:" + bitList(inst.blgp, 3) : fmt::format("blgp:{}", inst.blgp));
    return text.take();
  }
  if (row.use == Use::AccumRead || row.use == Use::AccumWrite)
    return text.take();
  int count = inst.sourceCount;
  unsigned all = (1u << count) - 1;
  if (inst.opSel & all)
    text.modifier("op_sel:" + bitList(inst.opSel, count));
  unsigned usual = row.use == Use::Mix ? 0 : all;
  bool halves = row.use != Use::Dot || row.opcode < 0x28;
  if (halves && (inst.opSelHi & all) != usual)
    text.modifier("op_sel_hi:" + bitList(inst.opSelHi, count));
  if (row.use != Use::Mix) {
    if (inst.neg & all)
      text.modifier("neg_lo:" + bitList(inst.neg, count));
    if (inst.negHi & all)
      text.modifier("neg_hi:" + bitList(inst.negHi, count));
  }
  text.flag(inst.clamp, "clamp");
  return text.take();
}

std::string swizzleText(unsigned offset) {
  if (offset >= 0xc000)
    return fmt::format("offset:{}", offset);
  if (offset & 0x8000)
    return fmt::format("offset:swizzle(QUAD_PERM,{},{},{},{})", offset & 3, (offset >> 2) & 3,
                       (offset >> 4) & 3, (offset >> 6) & 3);
  unsigned andMask = offset & 31, orMask = (offset >> 5) & 31, xorMask = (offset >> 10) & 31;
  if (andMask == 31 && orMask == 0 && xorMask && !(xorMask & (xorMask - 1)))
    return fmt::format("offset:swizzle(SWAP,{})", xorMask);
  if (andMask == 31 && orMask == 0 && xorMask && !(xorMask & (xorMask + 1)))
    return fmt::format("offset:swizzle(REVERSE,{})", xorMask + 1);
  unsigned group = 32 - andMask;
  if (andMask && xorMask == 0 && !(group & (group - 1)) && orMask < group)
    return fmt::format("offset:swizzle(BROADCAST,{},{})", group, orMask);
  std::string mask;
  for (int bit = 4; bit >= 0; --bit) {
    bool keep = (andMask >> bit) & 1, set = (orMask >> bit) & 1, flip = (xorMask >> bit) & 1;
    mask += set ? (flip ? '0' : '1') : keep ? (flip ? 'i' : 'p') : (flip ? '1' : '0');
  }
  return fmt::format("offset:swizzle(BITMASK_PERM,\"{}\")", mask);
}

std::string dsText(const Inst &inst) {
  const Row &row = *inst.row;
  Text text(row.name);
  if (inst.destination.kind != OperandKind::None)
    text.operand(operandText(inst.destination));
  for (int i = 0; i < inst.sourceCount; ++i)
    if (inst.source[i].kind != OperandKind::None)
      text.operand(operandText(inst.source[i]));
  if (row.access.count == 2) {
    if (inst.immediate)
      text.modifier(fmt::format("offset0:{}", inst.immediate));
    if (inst.offset1)
      text.modifier(fmt::format("offset1:{}", inst.offset1));
  } else if (row.handler == swizzleLanes) {
    if (inst.immediate)
      text.modifier(swizzleText(static_cast<unsigned>(inst.immediate)));
  } else if (inst.immediate) {
    text.modifier(fmt::format("offset:{}", inst.immediate));
  }
  return text.take();
}

void cachePolicy(const Inst &inst, Text &text) {
  text.flag(inst.sc0, "sc0");
  text.flag(inst.nt, "nt");
  text.flag(inst.sc1, "sc1");
}

/// The format of MTBUF; 8 bits and unorm go without saying.
std::string bufferFormatText(const Inst &inst) {
  static constexpr const char *kData[] = {
      "INVALID",     "8",        "16",          "8_8",        "32",      "16_16",
      "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10", "8_8_8_8", "32_32",
      "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
  static constexpr const char *kNumber[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                            "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  std::string text;
  if (inst.dataFormat != 1)
    text = std::string("BUF_DATA_FORMAT_") + kData[inst.dataFormat];
  if (inst.numberFormat)
    text += std::string(text.empty() ? "" : ",") + "BUF_NUM_FORMAT_" + kNumber[inst.numberFormat];
  return text.empty() ? text : "format:[" + text + "]";
}

std::string bufferText(const Inst &inst) {
  const Row &row = *inst.row;
  Text text(row.name);
  if (row.use != Use::Cache) {
    if (!inst.lds)
      text.operand(operandText(row.use == Use::Load ? inst.destination : inst.source[2]));
    if (inst.source[0].kind != OperandKind::None || !inst.lds)
      text.operand(operandText(inst.source[0]));
    else
      text.operand("off");
    text.operand(operandText(inst.source[1]));
    text.operand(operandText(inst.source[3]));
    if (row.format == Format::Mtbuf && !bufferFormatText(inst).empty())
      text.modifier(bufferFormatText(inst));
    text.flag(inst.idxen, "idxen");
    text.flag(inst.offen, "offen");
    if (inst.immediate)
      text.modifier(fmt::format("offset:{}", inst.immediate));
  }
  cachePolicy(inst, text);
  text.flag(inst.lds, "lds");
  return text.take();
}

std::string flatText(const Inst &inst) {
  const Row &row = *inst.row;
  Text text(row.name);
  bool store = row.use == Use::Store || row.use == Use::Atomic;
  if (inst.destination.kind != OperandKind::None)
    text.operand(operandText(inst.destination));
  text.operand(operandText(inst.source[0]));
  if (store)
    text.operand(operandText(inst.source[2]));
  if (row.format != Format::Flat)
    text.operand(operandText(inst.source[1]));
  if (inst.immediate)
    text.modifier(fmt::format("offset:{}", inst.immediate));
  cachePolicy(inst, text);
  return text.take();
}

} // namespace

Expected<std::string> disassemble(std::span<const std::uint32_t> words, std::uint64_t pc,
                                  std::string_view target, std::size_t *size) {
  if (target != "gfx942" && target != "gfx950")
    return error(StatusCode::Unsupported, "unknown target '{}': expected gfx942 or gfx950", target);
  if (words.empty())
    return error(StatusCode::InvalidArgument, "no instruction words at {:#x}", pc);
  Inst inst;
  if (!decodeInst(words, pc, {target == "gfx950", 0}, inst)) {
    std::string bytes;
    for (std::size_t i = 0; i < words.size() && i < 2; ++i)
      bytes += fmt::format(" {:#010x}", words[i]);
    return error(StatusCode::InvalidArgument, "{:#x}: not an instruction of {}:{}", pc, target,
                 bytes);
  }
  if (size)
    *size = inst.size;
  switch (inst.row->format) {
  case Format::Smem:
    return scalarMemoryText(inst);
  case Format::Vop1:
  case Format::Vop2:
  case Format::Vopc:
  case Format::Vop3:
    return vectorText(inst);
  case Format::Vop3p:
    return packedText(inst);
  case Format::Ds:
    return dsText(inst);
  case Format::Mubuf:
  case Format::Mtbuf:
    return bufferText(inst);
  case Format::Flat:
  case Format::Global:
  case Format::Scratch:
    return flatText(inst);
  default:
    return scalarText(inst);
  }
}

} // namespace wavesmith::emulator
