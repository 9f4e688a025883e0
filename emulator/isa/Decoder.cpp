#include "emulator/isa/Decoder.h"

#include <algorithm>

#include "emulator/isa/OperandDecoder.h"
#include "emulator/isa/Table.h"

namespace wavesmith::emulator {
namespace {

constexpr u32 bits(u32 word, int low, int count) { return (word >> low) & ((1u << count) - 1); }
constexpr i32 signedBits(u32 word, int low, int count) {
  return static_cast<i32>(word << (32 - low - count)) >> (32 - count);
}

/// One instruction being decoded: the fields of each format into an Inst.
class Decoding {
public:
  Decoding(std::span<const u32> words, const DecodeContext &context, Inst &inst)
      : words_(words), context_(context), inst_(inst), operands_(words, context, inst) {}

  bool run() {
    u32 word = words_[0];
    // A scale prefix occupies the VOP3P space in front of its matrix instruction.
    if (context_.gfx950 && (word & 0xffff0000) == 0xd3ac0000)
      return scaledMatrix();
    const FormatInfo *info = formatOf(word);
    if (!info || words_.size() * 4 < info->bytes)
      return false;
    u32 opcode = bits(word, info->opcodeShift, info->opcodeBits);
    inst_.size = info->bytes;
    inst_.row = info->format == Format::Vop3 ? findLongRow(opcode, context_.gfx950)
                                             : findRow(info->format, opcode, context_.gfx950);
    if (!inst_.row)
      return false;
    inst_.handler = inst_.row->handler;
    if (!fields(info->format))
      return false;
    operands_.finish();
    return operands_.ok();
  }

private:
  const Row &row() const { return *inst_.row; }
  u32 low() const { return words_[0]; }
  u32 high() const { return words_[1]; }

  bool fields(Format format) {
    switch (format) {
    case Format::Sop1:
      return sop1();
    case Format::Sop2:
      addSource(bits(low(), 0, 8), 0);
      addSource(bits(low(), 8, 8), 1);
      setDestination(operands_.scalar(bits(low(), 16, 7), row().signature.result));
      return true;
    case Format::Sopc:
      addSource(bits(low(), 0, 8), 0);
      addSource(bits(low(), 8, 8), 1);
      inst_.writesScc = true;
      return true;
    case Format::Sopk:
      return sopk();
    case Format::Sopp:
      inst_.immediate = signedBits(low(), 0, 16);
      inst_.readsScc = row().opcode == 4 || row().opcode == 5;
      if (row().opcode == 6 || row().opcode == 7)
        operands_.readScalar(kVcc, 2, 0);
      inst_.readsExec = row().opcode == 8 || row().opcode == 9;
      return true;
    case Format::Smem:
      return smem();
    case Format::Vop1:
    case Format::Vop2:
    case Format::Vopc:
      return shortVector(format);
    case Format::Vop3:
      return longVector();
    case Format::Vop3p:
      return row().use == Use::Matrix ? matrix(0) : packed();
    case Format::Ds:
      return ds();
    case Format::Mubuf:
      return mubuf();
    default:
      return flat(format);
    }
  }

  void addSource(u32 code, int index) {
    Operand operand = operands_.source(code, row().signature.sources[index]);
    inst_.source[inst_.sourceCount++] = operand;
    operands_.read(operand, index);
  }
  void setDestination(const Operand &operand) {
    inst_.destination = operand;
    operands_.write(operand);
    if (row().signature.readsOld)
      operands_.read(operand, 3);
    if (row().signature.setsScc && !row().signature.isCompare)
      inst_.writesScc = true;
    if (row().signature.readsCarry && operand.kind == OperandKind::Scalar)
      inst_.readsScc = true;
  }

  bool sop1() {
    Type result = row().signature.result, type = row().signature.sources[0];
    if (row().use != Use::WriteOnly)
      addSource(bits(low(), 0, 8), 0);
    if (row().use == Use::WriteOnly || row().use == Use::ReadOnly || row().handler == swapPc)
      result = type = Type::B64;
    if (row().use != Use::ReadOnly)
      setDestination(operands_.scalar(bits(low(), 16, 7), result));
    if (row().use == Use::SaveExec) {
      operands_.readScalar(kExec, 2, 1);
      operands_.writeScalar(kExec, 2);
      inst_.writesScc = true;
      inst_.readsExec = true;
    }
    return true;
  }

  bool sopk() {
    inst_.immediate = signedBits(low(), 0, 16);
    u32 code = bits(low(), 16, 7);
    switch (row().use) {
    case Use::WriteOnly: // getreg
      setDestination(operands_.scalar(code, Type::B32));
      return true;
    case Use::ReadOnly: // setreg
      inst_.source[inst_.sourceCount++] = operands_.scalar(code, Type::B32);
      operands_.read(inst_.source[0], 0);
      return true;
    case Use::Literal: // setreg_imm32
      inst_.source[inst_.sourceCount++] = operands_.source(255, Type::B32);
      return true;
    case Use::Branch: // call
      setDestination(operands_.scalar(code, Type::B64));
      return true;
    default:
      break;
    }
    inst_.source[inst_.sourceCount++] =
        operands_.constant(static_cast<u64>(i64{inst_.immediate}), Type::B32);
    Operand reg = operands_.scalar(code, Type::B32);
    if (row().signature.isCompare) {
      inst_.destination = reg;
      operands_.read(reg, 0);
      inst_.writesScc = true;
    } else {
      setDestination(reg);
    }
    return true;
  }

  bool smem() {
    if (row().use == Use::Cache)
      return true;
    int words = row().access.bytes / 4;
    Operand data = operands_.scalarWords(bits(low(), 6, 7), words);
    inst_.destination = data;
    if (row().use == Use::WriteOnly) {
      operands_.write(data);
      return true;
    }
    Operand base = operands_.scalarWords(bits(low(), 0, 6) * 2, row().access.count == 4 ? 4 : 2);
    inst_.source[0] = base;
    inst_.sourceCount = 1;
    operands_.read(base, 0);
    bool immediate = bits(low(), 17, 1), offset = bits(low(), 14, 1);
    inst_.sc0 = bits(low(), 16, 1);
    if (immediate)
      inst_.immediate = signedBits(high(), 0, 21);
    if (offset || !immediate) {
      inst_.source[1] =
          operands_.source(offset ? bits(high(), 25, 7) : bits(high(), 0, 7), Type::B32);
      inst_.sourceCount = 2;
      operands_.read(inst_.source[1], 1);
    }
    if (row().use == Use::Store)
      operands_.read(data, 2);
    else
      operands_.write(data);
    return true;
  }

  Operand vectorDestination(u32 code) {
    Type type = row().signature.result;
    switch (row().use) {
    case Use::ToScalar:
      return operands_.scalar(code, Type::B32);
    case Use::AccumMove:
    case Use::AccumWrite:
      return operands_.vector(code, 1, true);
    case Use::AccumRead:
    case Use::Swap:
      return operands_.vector(code, 1, false);
    default:
      return operands_.vector(code, wordsOf(type), false);
    }
  }

  void finishVector() {
    inst_.isVector = true;
    inst_.readsExec = row().use != Use::ToScalar || row().handler == readFirstLane;
  }

  /// The mask operands that the row's signature implies: VCC in the short forms.
  void maskOperands(u32 resultCode, bool fromThird) {
    const Signature &signature = row().signature;
    if (signature.isCompare || signature.setsCarry) {
      inst_.scalarDestination = operands_.scalar(resultCode, Type::B64);
      operands_.writeScalar(resultCode, 2);
      if (row().use == Use::WriteExec)
        operands_.writeScalar(kExec, 2);
    }
    if (signature.readsCarry && !fromThird) {
      inst_.source[inst_.sourceCount] = operands_.scalar(kVcc, Type::B64);
      ++inst_.sourceCount;
      operands_.readScalar(kVcc, 2, 3);
    }
  }

  bool shortVector(Format format) {
    finishVector();
    u32 code = bits(low(), 0, 9);
    const Signature &signature = row().signature;
    if (row().use == Use::Literal) {
      // D = S0*K + S1 or S0*S1 + K; which one shows in the opcode's low bit.
      bool constantLast = row().opcode == 0x18 || row().opcode == 0x25;
      addSource(code, 0);
      Operand k = operands_.source(255, signature.sources[1]);
      Operand v = operands_.source(256 + bits(low(), 9, 8), signature.sources[2]);
      inst_.source[inst_.sourceCount++] = constantLast ? v : k;
      inst_.source[inst_.sourceCount++] = constantLast ? k : v;
      operands_.read(v, 1);
    } else {
      if (code == 249 || code == 250) {
        if (!extended(code == 249, format))
          return false;
        code = 256 + bits(words_[1], 0, 8);
        if (inst_.variant == Variant::Sdwa && bits(words_[1], 23, 1))
          code -= 256;
      }
      if (signature.sourceCount > 0) {
        if (row().use == Use::AccumMove)
          addRegister(code & 0xff, true);
        else
          addSource(code, 0);
      }
      if (format != Format::Vop1) {
        u32 second = bits(low(), 9, 8) + 256;
        if (inst_.variant == Variant::Sdwa && bits(words_[1], 31, 1))
          second -= 256;
        addSource(second, 1);
      }
    }
    u32 maskCode = kVcc;
    if (inst_.variant == Variant::Sdwa && format == Format::Vopc && bits(words_[1], 15, 1))
      maskCode = bits(words_[1], 8, 7);
    maskOperands(maskCode, false);
    if (format != Format::Vopc && !(row().opcode == 0 && format == Format::Vop1)) {
      setDestination(vectorDestination(bits(low(), 17, 8)));
      if (row().use == Use::Swap)
        operands_.write(inst_.source[0]), operands_.read(inst_.destination, 1);
    }
    // A partial write keeps lanes or bytes of the old value.
    if (inst_.variant == Variant::Sdwa && inst_.dstUnused == 2 && inst_.dstSel != 6)
      operands_.read(inst_.destination, 3);
    return true;
  }

  void addRegister(u32 code, bool accumulator) {
    inst_.source[inst_.sourceCount] = operands_.vector(code, 1, accumulator);
    operands_.read(inst_.source[inst_.sourceCount], inst_.sourceCount);
    ++inst_.sourceCount;
  }

  bool extended(bool sdwa, Format format) {
    if (words_.size() < 2)
      return false;
    u32 word = words_[1];
    inst_.size = 8;
    if (sdwa) {
      inst_.variant = Variant::Sdwa;
      if (format != Format::Vopc) {
        inst_.dstSel = bits(word, 8, 3);
        inst_.dstUnused = bits(word, 11, 2);
        inst_.clamp = bits(word, 13, 1);
        inst_.omod = bits(word, 14, 2);
      }
      inst_.srcSel[0] = bits(word, 16, 3);
      inst_.srcSext[0] = bits(word, 19, 1);
      inst_.srcSel[1] = bits(word, 24, 3);
      inst_.srcSext[1] = bits(word, 27, 1);
      inst_.neg = bits(word, 20, 1) | bits(word, 28, 1) << 1;
      inst_.abs = bits(word, 21, 1) | bits(word, 29, 1) << 1;
      // Without a second source its fields mean nothing.
      if (format == Format::Vop1)
        inst_.srcSel[1] = 6;
      // Reserved encodings.
      if (inst_.dstSel == 7 || inst_.dstUnused == 3 || inst_.srcSel[0] == 7 || inst_.srcSel[1] == 7)
        return false;
    } else {
      inst_.variant = Variant::Dpp;
      inst_.dppControl = bits(word, 8, 9);
      inst_.boundControl = bits(word, 19, 1);
      inst_.neg = bits(word, 20, 1) | bits(word, 22, 1) << 1;
      inst_.abs = bits(word, 21, 1) | bits(word, 23, 1) << 1;
      inst_.bankMask = bits(word, 24, 4);
      inst_.rowMask = bits(word, 28, 4);
    }
    inst_.modified = true;
    return true;
  }

  bool longVector() {
    finishVector();
    inst_.variant = Variant::Long;
    const Signature &signature = row().signature;
    // With a scalar destination (VOP3b) these bits name it.
    if (!signature.setsCarry) {
      inst_.abs = bits(low(), 8, 3);
      inst_.opSel = bits(low(), 11, 4);
    }
    inst_.clamp = bits(low(), 15, 1);
    inst_.omod = bits(high(), 27, 2);
    inst_.neg = bits(high(), 29, 3);
    if (row().use == Use::Bitop) {
      inst_.immediate = static_cast<i32>(inst_.neg | inst_.abs << 3 | inst_.omod << 6);
      inst_.neg = inst_.abs = inst_.omod = 0;
    }
    static constexpr int kShift[3] = {0, 9, 18};
    int encoded = std::min<int>(signature.sourceCount, 3);
    if (row().use == Use::Bitop)
      encoded = 3;
    for (int i = 0; i < encoded; ++i) {
      u32 code = bits(high(), kShift[i], 9);
      if (code == 255 || code == 249 || code == 250)
        return false;
      if (row().use == Use::AccumMove)
        addRegister(code & 0xff, true);
      else
        addSource(code, i);
    }
    bool fromThird = signature.readsCarry && row().format == Format::Vop2;
    if (fromThird) {
      inst_.source[inst_.sourceCount] = operands_.source(bits(high(), 18, 9), Type::B64);
      operands_.read(inst_.source[inst_.sourceCount], 3);
      ++inst_.sourceCount;
    }
    u32 code = bits(low(), 0, 8);
    maskOperands(row().format == Format::Vopc ? code & 0x7f : bits(low(), 8, 7), fromThird);
    if (row().format != Format::Vopc && !(row().opcode == 0 && row().format == Format::Vop1)) {
      setDestination(vectorDestination(code));
      if (row().use == Use::Swap)
        operands_.write(inst_.source[0]), operands_.read(inst_.destination, 1);
      bool partial = row().use == Use::HalfResult || row().use == Use::ByteResult ||
                     (inst_.opSel & 8) || row().handler == writeLane;
      if (partial)
        operands_.read(inst_.destination, 3);
    }
    inst_.modified = inst_.neg || inst_.abs || inst_.omod || inst_.clamp || inst_.opSel;
    return true;
  }

  bool packed() {
    finishVector();
    inst_.variant = Variant::Long;
    inst_.negHi = bits(low(), 8, 3);
    inst_.opSel = bits(low(), 11, 3);
    inst_.opSelHi = bits(high(), 27, 2) | bits(low(), 14, 1) << 2;
    inst_.clamp = bits(low(), 15, 1);
    inst_.neg = bits(high(), 29, 3);
    if (row().use == Use::AccumRead || row().use == Use::AccumWrite) {
      if (row().use == Use::AccumRead)
        addRegister(bits(high(), 0, 8), true);
      else
        addSource(bits(high(), 0, 9), 0);
      setDestination(vectorDestination(bits(low(), 0, 8)));
      return true;
    }
    int count = row().use == Use::PackedMove ? 2 : row().signature.sourceCount;
    bool wide = row().use == Use::Packed32 || row().use == Use::PackedMove;
    for (int i = 0; i < count; ++i) {
      u32 code = bits(high(), 9 * i, 9);
      if (code == 255)
        return false;
      Type type = wide ? Type::B64 : row().signature.sources[i];
      Operand operand = wide ? operands_.packedFloats(code)
                             : operands_.source(code, row().use == Use::Mix ? Type::F32 : type);
      inst_.source[inst_.sourceCount++] = operand;
      operands_.read(operand, i);
    }
    setDestination(operands_.vector(bits(low(), 0, 8), wide ? 2 : 1, false));
    if (row().use == Use::Mix && row().opcode != 0x20)
      operands_.read(inst_.destination, 3);
    return true;
  }

  bool matrix(int at) {
    u32 first = words_[at], second = words_[at + 1];
    inst_.isVector = true;
    inst_.variant = Variant::Long;
    inst_.cbsz = bits(first, 8, 3);
    inst_.abid = bits(first, 11, 4);
    inst_.blgp = bits(second, 29, 3);
    bool accumD = bits(first, 15, 1);
    const MatrixShape &shape = matrixRow(row()).shape;
    bool mixed = row().opcode == 0x2d || row().opcode == 0x2e;
    int wordsA = mixed ? formatWords(inst_.cbsz) : inputWords(shape.a, shape.m, shape);
    int wordsB = mixed ? formatWords(inst_.blgp) : inputWords(shape.b, shape.n, shape);
    int wordsD = shape.m * shape.n * shape.blocks / kLanes * (shape.a == MatrixType::F64 ? 2 : 1);
    if (!wordsA || !wordsB)
      return false;
    auto input = [&](int shift, int words, bool accumulator) {
      u32 code = bits(second, shift, 9);
      return code >= 256 ? operands_.vector(code - 256, words, accumulator) : Operand();
    };
    inst_.source[0] = input(0, wordsA, bits(second, 27, 1));
    inst_.source[1] = input(9, wordsB, bits(second, 28, 1));
    u32 codeC = bits(second, 18, 9);
    inst_.source[2] =
        codeC >= 256 ? operands_.vector(codeC - 256, wordsD, accumD)
                     : operands_.source(codeC, shape.a == MatrixType::F64 ? Type::F64 : Type::F32);
    inst_.sourceCount = 3;
    if (inst_.source[0].kind != OperandKind::Vector || inst_.source[1].kind != OperandKind::Vector)
      return false;
    for (int i = 0; i < 3; ++i)
      operands_.read(inst_.source[i], i);
    setDestination(operands_.vector(bits(first, 0, 8), wordsD, accumD));
    return true;
  }
  static int formatWords(u8 format) {
    return format < 2 ? 8 : (format < 4 ? 6 : format == 4 ? 4 : 0);
  }
  static int inputWords(MatrixType type, int rows, const MatrixShape &shape) {
    int itemBits = type == MatrixType::F64                               ? 64
                   : type == MatrixType::F32 || type == MatrixType::Xf32 ? 32
                   : type == MatrixType::F16 || type == MatrixType::Bf16 ? 16
                                                                         : 8;
    return std::max(1, rows * shape.k * shape.blocks * itemBits / (32 * kLanes));
  }

  bool scaledMatrix() {
    if (words_.size() < 4)
      return false;
    u32 opcode = bits(words_[2], 16, 7);
    if ((words_[2] & 0xff800000) != 0xd3800000 || (opcode != 0x2d && opcode != 0x2e))
      return false;
    inst_.size = 16;
    inst_.row = findRow(Format::Vop3p, opcode, true);
    inst_.handler = inst_.row->handler;
    if (!matrix(2))
      return false;
    for (int i = 0; i < 2; ++i) {
      inst_.scale[i] = operands_.source(bits(words_[1], 9 * i, 9), Type::F32);
      operands_.read(inst_.scale[i], 3 + i);
      inst_.scaleSel[i] = bits(words_[0], 11 + i, 1) | bits(words_[1], 27 + i, 1) << 1;
    }
    operands_.finish();
    return operands_.ok();
  }

  bool ds() {
    inst_.readsExec = true;
    bool accumulator = bits(low(), 25, 1);
    const Access &access = row().access;
    inst_.immediate = static_cast<i32>(bits(low(), 0, 16));
    if (access.count == 2) {
      inst_.immediate = static_cast<i32>(bits(low(), 0, 8));
      inst_.offset1 = bits(low(), 8, 8);
    }
    int words = std::max(1, access.bytes / 4);
    inst_.source[0] = operands_.vector(bits(high(), 0, 8), 1, false);
    inst_.sourceCount = 1;
    operands_.read(inst_.source[0], 0);
    bool hasData = row().use == Use::Store || row().use == Use::Atomic ||
                   (row().use == Use::Exchange && access.second);
    if (hasData) {
      inst_.source[inst_.sourceCount++] = operands_.vector(bits(high(), 8, 8), words, accumulator);
      operands_.read(inst_.source[1], 1);
    }
    if (access.second && row().use != Use::Exchange) {
      inst_.source[inst_.sourceCount++] = operands_.vector(bits(high(), 16, 8), words, accumulator);
      operands_.read(inst_.source[2], 2);
    }
    if (row().use != Use::Store && (row().use != Use::Atomic || access.returns)) {
      inst_.destination = operands_.vector(bits(high(), 24, 8), words * access.count, accumulator);
      operands_.write(inst_.destination);
    }
    return true;
  }

  /// Data operand of a vector memory row: destination of loads, source of stores and atomics.
  void memoryData(u32 code, u32 returnCode, bool accumulator, int dataIndex) {
    const Access &access = row().access;
    int words = std::max(1, access.bytes / 4);
    if (row().use == Use::Load) {
      inst_.destination = operands_.vector(returnCode, words, accumulator);
      operands_.write(inst_.destination);
    } else if (row().use != Use::LdsDma) {
      inst_.source[dataIndex] =
          operands_.vector(code, words * (access.second ? 2 : 1), accumulator);
      operands_.read(inst_.source[dataIndex], 2);
      if (row().use == Use::Atomic && inst_.sc0) {
        inst_.destination = operands_.vector(returnCode, words, accumulator);
        operands_.write(inst_.destination);
      }
    }
  }

  bool mubuf() {
    if (row().use == Use::Cache) {
      inst_.sc0 = bits(low(), 14, 1);
      inst_.sc1 = bits(low(), 15, 1);
      inst_.nt = bits(low(), 17, 1);
      return true;
    }
    inst_.readsExec = true;
    inst_.immediate = static_cast<i32>(bits(low(), 0, 12));
    inst_.offen = bits(low(), 12, 1);
    inst_.idxen = bits(low(), 13, 1);
    inst_.sc0 = bits(low(), 14, 1);
    inst_.sc1 = bits(low(), 15, 1);
    inst_.lds = bits(low(), 16, 1);
    inst_.nt = bits(low(), 17, 1);
    bool accumulator = bits(high(), 23, 1);
    if (inst_.lds && (row().use != Use::Load || row().access.half ||
                      (row().access.bytes > 4 && !context_.gfx950) || row().access.bytes == 8))
      return false;
    int addressWords = inst_.offen + inst_.idxen;
    inst_.sourceCount = 4;
    if (addressWords) {
      inst_.source[0] = operands_.vector(bits(high(), 0, 8), addressWords, false);
      operands_.read(inst_.source[0], 0);
    }
    inst_.source[1] = operands_.scalarWords(bits(high(), 16, 5) * 4, 4);
    operands_.read(inst_.source[1], 1);
    inst_.source[3] = operands_.source(bits(high(), 24, 8), Type::B32);
    operands_.read(inst_.source[3], 3);
    u32 data = bits(high(), 8, 8);
    if (inst_.lds)
      operands_.readScalar(kM0, 1, 3);
    else
      memoryData(data, data, accumulator, 2);
    return true;
  }

  bool flat(Format format) {
    inst_.readsExec = true;
    inst_.immediate = signedBits(low(), 0, 13);
    inst_.sc0 = bits(low(), 16, 1);
    inst_.nt = bits(low(), 17, 1);
    inst_.sc1 = bits(low(), 25, 1);
    bool accumulator = bits(high(), 23, 1);
    u32 scalarCode = bits(high(), 16, 7);
    bool hasScalar = scalarCode != 0x7f;
    inst_.sourceCount = 3;
    if (format == Format::Scratch) {
      inst_.offen = bits(low(), 13, 1);
      if (inst_.offen) {
        inst_.source[0] = operands_.vector(bits(high(), 0, 8), 1, false);
        operands_.read(inst_.source[0], 0);
      }
      if (hasScalar)
        inst_.source[1] = operands_.scalar(scalarCode, Type::B32);
    } else {
      bool base = format == Format::Global && hasScalar;
      if (format == Format::Flat)
        inst_.immediate = static_cast<i32>(bits(low(), 0, 12));
      inst_.source[0] = operands_.vector(bits(high(), 0, 8), base ? 1 : 2, false);
      operands_.read(inst_.source[0], 0);
      if (base)
        inst_.source[1] = operands_.scalar(scalarCode, Type::B64);
    }
    operands_.read(inst_.source[1], 1);
    if (row().use == Use::LdsDma)
      operands_.readScalar(kM0, 1, 3);
    memoryData(bits(high(), 8, 8), bits(high(), 24, 8), accumulator, 2);
    return true;
  }

  std::span<const u32> words_;
  const DecodeContext &context_;
  Inst &inst_;
  OperandDecoder operands_;
};

} // namespace

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
