#include "tests/emulator/rows/Forms.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace wavesmith::emulator::rows {
namespace {

struct Control {
  const char *text;
  int (*from)(int lane); ///< -1: none
};
constexpr Control kControls[] = {
    {"quad_perm:[3,0,2,1]",
     [](int l) {
       constexpr int kOrder[] = {3, 0, 2, 1};
       return l / 4 * 4 + kOrder[l % 4];
     }},
    {"row_shl:5", [](int l) { return l % 16 + 5 < 16 ? l + 5 : -1; }},
    {"row_shr:3", [](int l) { return l % 16 >= 3 ? l - 3 : -1; }},
    {"row_ror:7", [](int l) { return l / 16 * 16 + (l % 16 + 9) % 16; }},
    {"wave_shl:1", [](int l) { return l < 63 ? l + 1 : -1; }},
    {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
    {"wave_shr:1", [](int l) { return l - 1; }},
    {"wave_ror:1", [](int l) { return (l + 63) % 64; }},
    {"row_mirror", [](int l) { return l / 16 * 16 + 15 - l % 16; }},
    {"row_half_mirror", [](int l) { return l / 8 * 8 + 7 - l % 8; }},
    {"row_bcast:15", [](int l) { return l < 16 ? -1 : l / 16 * 16 - 1; }},
    {"row_bcast:31", [](int l) { return l < 32 ? -1 : 31; }},
    {"row_newbcast:9", [](int l) { return l / 16 * 16 + 9; }},
};

constexpr int kFirst[3] = {6, 2, 4}; // registers of the sources
constexpr int kWord[3] = {kA, kB, kC};

std::string reg(char file, int first, int words) {
  std::string f(1, file);
  return words == 1
             ? f + std::to_string(first)
             : f + "[" + std::to_string(first) + ":" + std::to_string(first + words - 1) + "]";
}

std::string sourceText(const Operation &op, const Form &form, int i) {
  std::string text = reg('v', kFirst[i], wordsOf(op.sources[i]));
  if (form.variant == Form::Sdwa && ((form.extend >> i) & 1))
    return "sext(" + text + ")";
  if ((form.absolute >> i) & 1)
    text = "|" + text + "|";
  return (form.negate >> i) & 1 ? "-" + text : text;
}

std::string vectorText(const std::string &row, Encoding encoding, const Operation &op,
                       const Form &form) {
  static const char *const kSuffix[] = {"_e32", "_e64", "_sdwa", "_dpp"};
  static const char *const kSelect[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD"};
  static const char *const kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  bool compare = encoding == Encoding::Vopc || encoding == Encoding::VopcX;
  bool longForm = form.variant == Form::Long || encoding == Encoding::Vop3;
  std::ostringstream s;
  if (form.flush)
    s << "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0\n";
  if (!form.ieee)
    s << "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0\n";
  s << row << (encoding == Encoding::Vop3 ? "" : kSuffix[form.variant]) << " ";
  std::string mask = longForm ? "s[40:41]" : "vcc";
  if (compare)
    s << mask;
  else
    s << reg('v', 8, wordsOf(op.result)) << (op.flag ? ", " + mask : "");
  for (int i = 0; i < op.count; ++i)
    s << ", " << sourceText(op, form, i);
  if (op.carryIn)
    s << ", " << (form.variant == Form::Long ? "s[22:23]" : "vcc");
  if (form.opSel) {
    s << " op_sel:[";
    for (int i = 0; i < op.count; ++i)
      s << ((form.opSel >> i) & 1) << ",";
    s << ((form.opSel >> 3) & 1) << "]";
  }
  if (form.clamp)
    s << " clamp";
  if (form.omod)
    s << (form.omod == 1 ? " mul:2" : (form.omod == 2 ? " mul:4" : " div:2"));
  if (form.variant == Form::Sdwa) {
    if (!compare)
      s << " dst_sel:" << kSelect[form.to] << " dst_unused:" << kUnused[form.unused];
    for (int i = 0; i < op.count && i < 2; ++i)
      s << " src" << i << "_sel:" << kSelect[form.select[i]];
  }
  if (form.variant == Form::Dpp)
    s << " " << kControls[form.dpp].text << " row_mask:" << form.rows << " bank_mask:" << form.banks
      << (form.bound ? " bound_ctrl:0" : "");
  return s.str() + "\n";
}

u64 flushed(Type type, u64 bits) {
  u64 exponent = type == Type::F16 ? 0x7c00 : (type == Type::F32 ? 0x7f800000 : 0x7ff0000000000000);
  u64 sign = u64{1} << (bitsOf(type) - 1);
  return isFloat(type) && !(bits & exponent) ? bits & sign : bits;
}

u64 clamped(Type type, u64 bits) {
  if (isNanBits(type, bits))
    return 0; // DX10_CLAMP is on
  if (type == Type::F32)
    return toBits(std::fmin(std::fmax(fromBits<float>(bits), 0.0f), 1.0f) + 0.0f);
  if (type == Type::F64)
    return toBits(std::fmin(std::fmax(fromBits<double>(bits), 0.0), 1.0) + 0.0);
  return half(std::fmin(std::fmax(number({static_cast<u16>(bits)}), 0.0), 1.0) + 0.0).bits;
}

/// Denormals become zero, and zero is positive.
u64 scaled(Type type, u64 bits, double factor) {
  if (type == Type::F32)
    return toBits(static_cast<float>(fromBits<float>(bits) * factor));
  if (type == Type::F64)
    return toBits(fromBits<double>(bits) * factor);
  if (type == Type::F16)
    return half(number({static_cast<u16>(bits)}) * factor).bits;
  return bits;
}

u32 selected(u32 word, int select, bool extend) {
  if (select == 6)
    return word;
  if (select < 4) {
    auto byte = static_cast<u8>(word >> (8 * select));
    return extend ? static_cast<u32>(static_cast<i32>(static_cast<i8>(byte))) : byte;
  }
  auto part = static_cast<u16>(word >> (16 * (select - 4)));
  return extend ? static_cast<u32>(static_cast<i32>(static_cast<i16>(part))) : part;
}

/// The register after an SDWA result.
u32 placed(const Form &form, u32 result, u32 before) {
  if (form.to == 6)
    return result;
  int shift = form.to < 4 ? 8 * form.to : 16 * (form.to - 4), width = form.to < 4 ? 8 : 16;
  u32 field = ((1u << width) - 1) << shift, value = (result << shift) & field;
  if (form.unused == 2)
    return value | (before & ~field);
  bool negative = (result >> (width - 1)) & 1;
  u32 above = shift + width == 32 ? 0 : ~0u << (shift + width);
  return form.unused == 1 && negative ? value | above : value;
}

struct Expected {
  bool written; ///< the lane's destination
  u64 bits;
  bool flag;
  bool nan = false;
};

Expected expectLane(const Operation &op, const Form &form, const BlockIn &in, int lane) {
  u64 exec = pairOf(&in.scalar[kExec]);
  Context c{};
  c.lane = static_cast<u32>(lane);
  c.ieee = form.ieee;
  c.carry = (pairOf(&in.scalar[kVcc]) >> lane) & 1;
  c.before = pairOf(&in.lane[lane][kD]);
  Expected expected{((exec >> lane) & 1) != 0, 0, false};
  for (int i = 0; i < op.count; ++i) {
    Type type = op.sources[i];
    int from = lane;
    bool zero = false;
    if (form.variant == Form::Dpp && i == 0) {
      from = kControls[form.dpp].from(lane);
      if (from < 0 || !((exec >> from) & 1)) {
        zero = true;
        from = lane;
        expected.written = expected.written && form.bound;
      }
      if (!((form.rows >> (lane / 16)) & 1) || !((form.banks >> (lane % 16 / 4)) & 1))
        expected.written = false;
    }
    u64 bits = zero ? 0 : pairOf(&in.lane[from][kWord[i]]);
    if (wordsOf(type) == 1)
      bits &= 0xffffffff;
    if (form.variant == Form::Sdwa && i < 2)
      bits = selected(static_cast<u32>(bits), form.select[i], (form.extend >> i) & 1);
    if (bitsOf(type) == 16)
      bits = (form.opSel >> i) & 1 ? bits >> 16 : bits & 0xffff;
    u64 sign = u64{1} << (bitsOf(type) - 1);
    if ((form.absolute >> i) & 1)
      bits &= ~sign;
    if ((form.negate >> i) & 1)
      bits ^= sign;
    c.source[i] = form.flush ? flushed(type, bits) : bits;
  }
  Result result = op.call(c);
  expected.flag = result.flag;
  u64 bits = result.bits;
  if (form.flush)
    bits = flushed(op.result, bits);
  if (form.omod)
    bits = flushed(op.result, scaled(op.result, bits, form.omod == 3 ? 0.5 : 2.0 * form.omod));
  if (form.omod && isFloat(op.result) && bits == u64{1} << (bitsOf(op.result) - 1))
    bits = 0;
  if (form.clamp && isFloat(op.result))
    bits = clamped(op.result, bits);
  expected.nan = isNanBits(op.result, bits);
  auto before = static_cast<u32>(c.before);
  if (form.variant == Form::Sdwa)
    bits = placed(form, static_cast<u32>(bits), before);
  if (form.opSel & 8)
    bits = (before & 0xffff) | bits << 16;
  expected.bits = bits;
  return expected;
}

void fillTuples(const Operation &op, int block, Random &random, BlockIn &in) {
  for (int lane = 0; lane < kLanes; ++lane) {
    auto tuple = static_cast<std::size_t>(block * kLanes + lane);
    for (int i = 0; i < op.count; ++i) {
      const std::vector<u64> &special = edges(op.sources[i]);
      // Every pair of edge values first, then draws.
      std::size_t pairs = op.count > 1 ? edges(op.sources[1]).size() : 1;
      std::size_t at = i == 0 ? tuple / pairs : tuple % pairs;
      bool enumerate = op.count < 3 && tuple / pairs < edges(op.sources[0]).size();
      u64 value = enumerate && at < special.size() ? special[at] : draw(op.sources[i], random);
      // What lies above a short operand must not matter.
      u64 above = bitsOf(op.sources[i]) == 16 ? u64{random()} << 16 : u64{random()} << 32;
      setPair(&in.lane[lane][kWord[i]], bitsOf(op.sources[i]) == 64 ? value : value | above);
    }
    if (op.reads)
      setPair(&in.lane[lane][kD], draw(op.result, random));
  }
  if (block % 2)
    setPair(&in.scalar[kExec], random() | u64{random()} << 32);
}

std::string verifyVector(const Operation &op, Encoding encoding, const Form &form, const Run &run) {
  bool compare = encoding == Encoding::Vopc || encoding == Encoding::VopcX;
  bool longForm = form.variant == Form::Long || encoding == Encoding::Vop3;
  Operation plain = op;
  bool whole = form.variant == Form::Sdwa || (form.opSel & 8);
  if (whole)
    plain.result = Type::B32;
  for (std::size_t block = 0; block < run.in.size(); ++block) {
    const BlockIn &in = run.in[block];
    const BlockOut &out = run.out[block];
    u64 exec = pairOf(&in.scalar[kExec]), flags = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      Expected expected = expectLane(op, form, in, lane);
      if ((exec >> lane) & 1)
        flags |= u64{expected.flag} << lane;
      const u32 *words = &out.lane[lane][kOutD], *before = &in.lane[lane][kD];
      u64 actual = wordsOf(op.result) == 2 ? pairOf(words) : words[0];
      if (compare || !expected.written) {
        if (pairOf(words) != pairOf(before))
          return differs("not to be written, lane", lane, pairOf(words), pairOf(before));
        continue;
      }
      // A NaN has no one right value, placed in a part of the register neither.
      if (!agrees(plain, actual, expected.bits) && !(whole && expected.nan))
        return differs("lane", lane, actual, expected.bits) +
               differs(", sources", 0, pairOf(&in.lane[lane][kA]), pairOf(&in.lane[lane][kB]));
      if (bitsOf(op.result) <= 32 && words[1] != before[1])
        return differs("beyond the destination, lane", lane, words[1], before[1]);
    }
    u64 vcc = pairOf(&in.scalar[kVcc]), pair = pairOf(&in.scalar[kOld]);
    if (op.flag)
      (longForm ? pair : vcc) = flags;
    if (encoding == Encoding::VopcX)
      exec = flags;
    if (u64 actual = pairOf(&out.scalar[kOutVcc]); actual != vcc)
      return differs("VCC, block", static_cast<int>(block), actual, vcc);
    if (u64 actual = pairOf(&out.scalar[kOutS]); actual != pair)
      return differs("s[40:41], block", static_cast<int>(block), actual, pair);
    if (u64 actual = pairOf(&out.scalar[kOutExec]); actual != exec)
      return differs("EXEC, block", static_cast<int>(block), actual, exec);
  }
  return "";
}

} // namespace

int dppControls() { return static_cast<int>(std::size(kControls)); }

Case vectorCase(const std::string &row, Encoding encoding, const Operation &op, const Form &form,
                int blocks) {
  Case test;
  test.row = row;
  test.body = vectorText(row, encoding, op, form);
  test.blocks = blocks;
  test.fill = [op](int block, Random &random, BlockIn &in) { fillTuples(op, block, random, in); };
  test.verify = [=](const Run &run) { return verifyVector(op, encoding, form, run); };
  return test;
}

Case scalarCase(const std::string &row, Encoding encoding, const Operation &op) {
  Case test;
  test.row = row;
  test.blocks = 64;
  int words = wordsOf(op.result);
  std::ostringstream s;
  s << row << " ";
  if (encoding == Encoding::Sopc)
    s << reg('s', 16, wordsOf(op.sources[0])) << ", " << reg('s', 18, wordsOf(op.sources[1]));
  else
    s << reg('s', 40, words) << ", " << reg('s', 16, wordsOf(op.sources[0]));
  if (encoding == Encoding::Sop2)
    s << ", " << reg('s', 18, wordsOf(op.sources[1]));
  test.body = s.str() + "\n";
  test.fill = [op](int block, Random &random, BlockIn &in) {
    for (int i = 0; i < op.count; ++i)
      setPair(&in.scalar[i ? kS1 : kS0], draw(op.sources[i], random));
    if (op.count == 2 && block % 16 == 0)
      setPair(&in.scalar[kS1], pairOf(&in.scalar[kS0]));
    setPair(&in.scalar[kExec], draw(Type::B64, random));
  };
  test.verify = [op, words](const Run &run) -> std::string {
    for (std::size_t block = 0; block < run.in.size(); ++block) {
      const BlockIn &in = run.in[block];
      const BlockOut &out = run.out[block];
      Context c{};
      for (int i = 0; i < op.count; ++i)
        c.source[i] = pairOf(&in.scalar[i ? kS1 : kS0]) &
                      (wordsOf(op.sources[i]) == 2 ? ~u64{0} : 0xffffffff);
      c.before = pairOf(&in.scalar[kOld]);
      c.carry = in.scalar[kScc] & 1;
      Result result = op.call(c);
      u64 expected = c.before;
      if (words)
        expected =
            words == 2 ? result.bits : (c.before & ~u64{0xffffffff}) | (result.bits & 0xffffffff);
      auto index = static_cast<int>(block);
      if (u64 actual = pairOf(&out.scalar[kOutS]); actual != expected)
        return differs("block", index, actual, expected) +
               differs(", sources", 0, c.source[0], c.source[1]);
      u32 scc = op.flag ? result.flag : c.carry;
      if (out.scalar[kOutScc] != scc)
        return differs("SCC, block", index, out.scalar[kOutScc], scc) +
               differs(", sources", 0, c.source[0], c.source[1]);
      if (u64 actual = pairOf(&out.scalar[kOutVcc]); actual != pairOf(&in.scalar[kVcc]))
        return differs("VCC, block", index, actual, pairOf(&in.scalar[kVcc]));
      if (u64 actual = pairOf(&out.scalar[kOutExec]); actual != pairOf(&in.scalar[kExec]))
        return differs("EXEC, block", index, actual, pairOf(&in.scalar[kExec]));
    }
    return "";
  };
  return test;
}

std::vector<Case> casesOf(const std::vector<Entry> &entries) {
  std::vector<Case> cases;
  Random random(3);
  for (const Entry &entry : entries) {
    const Operation &op = entry.op;
    auto add = [&](Form form, int blocks) {
      cases.push_back(vectorCase(entry.row, entry.encoding, op, form, blocks));
      cases.back().only950 = entry.only950;
    };
    bool compare = entry.encoding == Encoding::Vopc || entry.encoding == Encoding::VopcX;
    bool onlyLong = entry.encoding == Encoding::Vop3;
    u32 all = (1u << op.count) - 1, floats = 0;
    for (int i = 0; i < op.count; ++i)
      floats |= u32{isFloat(op.sources[i])} << i;
    add({}, 10);
    Form longForm;
    longForm.variant = Form::Long;
    if (!onlyLong)
      add(longForm, 2);
    if (entry.forms & Entry::kSigns) {
      longForm.negate = 1 + random() % all;
      longForm.absolute = random() & all;
      longForm.negate &= floats;
      longForm.absolute &= floats;
      add(longForm, 3);
    }
    if (entry.forms & (Entry::kOmod | Entry::kClamp)) {
      Form changed = longForm;
      changed.clamp = entry.forms & Entry::kClamp;
      if (entry.forms & Entry::kOmod) {
        // Without IEEE mode and denormal results only (ISA 6.2.3).
        changed.omod = 1 + static_cast<int>(random() % 3);
        changed.flush = true;
        changed.ieee = false;
      }
      add(changed, 3);
    }
    if (floats && !(entry.forms & Entry::kOmod)) {
      Form flushing;
      flushing.flush = true;
      add(flushing, 3);
    }
    if (entry.forms & Entry::kOpSel) {
      Form halves;
      halves.variant = Form::Long;
      halves.opSel = random() & (all | (op.result == Type::F16 || op.result == Type::B16 ? 8 : 0));
      halves.opSel |= halves.opSel ? 0 : 1;
      add(halves, 3);
    }
    if (entry.forms & Entry::kSdwa) {
      Form part;
      part.variant = Form::Sdwa;
      for (int &select : part.select)
        select = static_cast<int>(random() % 7);
      if (entry.forms & Entry::kExtend)
        part.extend = random() & all;
      else if (entry.forms & Entry::kSigns)
        part.negate = random() & floats;
      if (!compare && !op.reads) {
        part.to = static_cast<int>(random() % 7);
        part.unused = static_cast<int>(random() % 3);
      }
      add(part, 3);
    }
    if (entry.forms & Entry::kDpp) {
      Form moved;
      moved.variant = Form::Dpp;
      moved.dpp = static_cast<int>(random() % static_cast<u32>(dppControls()));
      if (wordsOf(op.sources[0]) == 2)
        moved.dpp = dppControls() - 1;
      // What a lane without a source leaves in a mask is not documented.
      if (!op.flag && !compare) {
        moved.bound = random() % 2;
        moved.rows = random() % 2 ? 15 : 0xa;
        moved.banks = random() % 2 ? 15 : 0x6;
      }
      add(moved, 3);
    }
  }
  return cases;
}

} // namespace wavesmith::emulator::rows
