#include "emulator/isa/OperandText.h"

#include <fmt/format.h>

namespace wavesmith::emulator {
namespace {

std::string range(char file, int first, int count) {
  return count == 1 ? fmt::format("{}{}", file, first)
                    : fmt::format("{}[{}:{}]", file, first, first + count - 1);
}

std::string scalarName(int code, int words) {
  struct Named {
    int code;
    const char *pair, *low, *high;
  };
  static constexpr Named kNamed[] = {
      {kFlatScratch, "flat_scratch", "flat_scratch_lo", "flat_scratch_hi"},
      {kXnackMask, "xnack_mask", "xnack_mask_lo", "xnack_mask_hi"},
      {kVcc, "vcc", "vcc_lo", "vcc_hi"},
      {kExec, "exec", "exec_lo", "exec_hi"},
  };
  for (const Named &named : kNamed)
    if (code == named.code || code == named.code + 1)
      return words > 1 ? named.pair : (code == named.code ? named.low : named.high);
  if (code == kM0)
    return "m0";
  if (code == kNull)
    return "null";
  if (code >= kTtmp0 && code < kTtmp0 + 16)
    return words == 1 ? fmt::format("ttmp{}", code - kTtmp0)
                      : fmt::format("ttmp[{}:{}]", code - kTtmp0, code - kTtmp0 + words - 1);
  return range('s', code, words);
}

std::string constantText(const Operand &operand) {
  if (operand.literal && (operand.type == Type::F16 || operand.type == Type::B16))
    return fmt::format("{:#x}", operand.value & 0xffff);
  if (operand.literal)
    return fmt::format(
        "{:#x}", static_cast<u32>(operand.type == Type::F64 ? operand.value >> 32 : operand.value));
  if (operand.code == kNull)
    return "null";
  if (operand.code >= 240 && operand.code <= 248) {
    // Integers of 16 bits take the half's bits, which LLVM shows.
    if (operand.type == Type::B16)
      return fmt::format("{:#x}", operand.value);
    static constexpr const char *kFloats[] = {"0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
                                              "-2.0", "4.0",  "-4.0", "0.15915494"};
    if (operand.code == 248 && wordsOf(operand.type) == 2)
      return "0.15915494309189532";
    return kFloats[operand.code - 240];
  }
  int value = operand.code <= 192 ? operand.code - 128 : 192 - operand.code;
  return fmt::format("{}", value);
}

} // namespace

std::string operandText(const Operand &operand) {
  switch (operand.kind) {
  case OperandKind::Vector:
    return range(operand.accumulator ? 'a' : 'v', operand.code, operand.words);
  case OperandKind::Scalar:
    return scalarName(operand.code, operand.words);
  case OperandKind::Constant:
    return constantText(operand);
  case OperandKind::Special: {
    static constexpr const char *kNames[] = {
        "src_vccz",         "src_execz",        "src_scc",          "src_shared_base",
        "src_shared_limit", "src_private_base", "src_private_limit"};
    return kNames[operand.index];
  }
  default:
    return "off";
  }
}

std::string modifiedText(const Inst &inst, int index) {
  std::string text = operandText(inst.source[index]);
  if (inst.variant == Variant::Sdwa && index < 2 && inst.srcSext[index])
    return fmt::format("sext({})", text);
  if ((inst.abs >> index) & 1)
    text = fmt::format("|{}|", text);
  // -1 would read as a constant of its own.
  bool plain = inst.source[index].kind != OperandKind::Constant ||
               inst.source[index].code == kNull || (inst.abs >> index & 1);
  if ((inst.neg >> index) & 1)
    text = plain ? "-" + text : "neg(" + text + ")";
  return text;
}

std::string hardwareRegisterText(unsigned immediate) {
  static constexpr const char *kNames[] = {"",
                                           "HW_REG_MODE",
                                           "HW_REG_STATUS",
                                           "HW_REG_TRAPSTS",
                                           "HW_REG_HW_ID",
                                           "HW_REG_GPR_ALLOC",
                                           "HW_REG_LDS_ALLOC",
                                           "HW_REG_IB_STS",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "HW_REG_SH_MEM_BASES",
                                           "HW_REG_TBA_LO",
                                           "HW_REG_TBA_HI",
                                           "HW_REG_TMA_LO",
                                           "HW_REG_TMA_HI",
                                           "HW_REG_XCC_ID",
                                           "HW_REG_SQ_PERF_SNAPSHOT_DATA",
                                           "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
                                           "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
                                           "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"};
  unsigned id = immediate & 63, offset = (immediate >> 6) & 31, size = ((immediate >> 11) & 31) + 1;
  std::string name = id < std::size(kNames) && *kNames[id] ? kNames[id] : fmt::format("{}", id);
  if (offset == 0 && size == 32)
    return fmt::format("hwreg({})", name);
  return fmt::format("hwreg({}, {}, {})", name, offset, size);
}

std::string dppText(unsigned control) {
  unsigned n = control & 15;
  if (control <= 0xff)
    return fmt::format("quad_perm:[{},{},{},{}]", control & 3, (control >> 2) & 3,
                       (control >> 4) & 3, (control >> 6) & 3);
  switch (control & ~15u) {
  case 0x100:
    return fmt::format("row_shl:{}", n);
  case 0x110:
    return fmt::format("row_shr:{}", n);
  case 0x120:
    return fmt::format("row_ror:{}", n);
  case 0x130:
    return n == 0 ? "wave_shl:1" : n == 4 ? "wave_rol:1" : n == 8 ? "wave_shr:1" : "wave_ror:1";
  case 0x140:
    return n == 0   ? "row_mirror"
           : n == 1 ? "row_half_mirror"
           : n == 2 ? "row_bcast:15"
                    : "row_bcast:31";
  default:
    return fmt::format("row_newbcast:{}", n);
  }
}

} // namespace wavesmith::emulator
