#include "emulator/machine/VectorForms.h"

#include <algorithm>
#include <bit>
#include <cfenv>

namespace wavesmith::emulator {
namespace {

void applyDpp(Wave &wave, const Inst &inst, LaneIo &io, u32 *scratch, int words, u64 &mask) {
  int from[kLanes];
  dppSources(inst.dppControl, from);
  u64 exec = wave.exec(), fetched = 0, enabled = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    bool available = from[lane] >= 0 && ((exec >> from[lane]) & 1);
    fetched |= u64{available} << lane;
    bool on = ((inst.rowMask >> (lane / 16)) & 1) && ((inst.bankMask >> (lane % 16 / 4)) & 1);
    enabled |= u64{on} << lane;
  }
  u32 permuted[2 * kLanes];
  for (int word = 0; word < words; ++word)
    for (int lane = 0; lane < kLanes; ++lane)
      permuted[word * kLanes + lane] =
          (fetched >> lane) & 1 ? io.source[0][word * kLanes + from[lane]] : 0;
  std::memcpy(scratch, permuted, sizeof(u32) * kLanes * words);
  io.source[0] = scratch;
  mask &= enabled;
  if (!inst.boundControl)
    mask &= fetched;
}

void applySdwa(const Inst &inst, LaneIo &io, int index, u32 *scratch) {
  int select = inst.srcSel[index];
  if (select == 6)
    return;
  int shift = select < 4 ? 8 * select : 16 * (select - 4);
  int width = select < 4 ? 8 : 16;
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 part = io.source[index][lane] << (32 - width - shift);
    scratch[lane] = inst.srcSext[index] ? static_cast<u32>(static_cast<i32>(part) >> (32 - width))
                                        : part >> (32 - width);
  }
  io.source[index] = scratch;
}

/// What saturates under clamp: sums and differences, and x * y + z.
struct Saturating {
  Format format;
  u16 opcode;
  enum : u8 { Add, Sub, SubReversed, MultiplyAdd } operation;
  u8 bits; ///< of operands and result; 24 for factors of that size in a sum of 32
  bool isSigned;
};
constexpr Saturating kSaturating[] = {
    {Format::Vop2, 0x34, Saturating::Add, 32, false},
    {Format::Vop2, 0x35, Saturating::Sub, 32, false},
    {Format::Vop2, 0x36, Saturating::SubReversed, 32, false},
    {Format::Vop2, 0x26, Saturating::Add, 16, false},
    {Format::Vop2, 0x27, Saturating::Sub, 16, false},
    {Format::Vop2, 0x28, Saturating::SubReversed, 16, false},
    {Format::Vop3, 0x29c, Saturating::Add, 32, true},
    {Format::Vop3, 0x29d, Saturating::Sub, 32, true},
    {Format::Vop3, 0x29e, Saturating::Add, 16, true},
    {Format::Vop3, 0x29f, Saturating::Sub, 16, true},
    {Format::Vop3, 0x204, Saturating::MultiplyAdd, 16, false},
    {Format::Vop3, 0x205, Saturating::MultiplyAdd, 16, true},
    {Format::Vop3, 0x1c2, Saturating::MultiplyAdd, 24, true},
    {Format::Vop3, 0x1c3, Saturating::MultiplyAdd, 24, false},
    {Format::Vop3p, 0x00, Saturating::MultiplyAdd, 16, true},
    {Format::Vop3p, 0x02, Saturating::Add, 16, true},
    {Format::Vop3p, 0x03, Saturating::Sub, 16, true},
    {Format::Vop3p, 0x09, Saturating::MultiplyAdd, 16, false},
    {Format::Vop3p, 0x0a, Saturating::Add, 16, false},
    {Format::Vop3p, 0x0b, Saturating::Sub, 16, false},
};

/// The exact sum of a lane's products and addend under clamp: v_dot2, v_dot4 and v_dot8 of
/// integers.
void saturateDot(const Inst &inst, const LaneIo &io, u32 *result) {
  const int opcode = inst.row->opcode, width = opcode < 0x28 ? 16 : opcode < 0x2a ? 8 : 4;
  const bool isSigned = opcode % 2 == 0;
  auto item = [&](u32 word, int at) {
    const u64 field = u64{word >> at} << (64 - width);
    return isSigned ? static_cast<i64>(field) >> (64 - width)
                    : static_cast<i64>(field >> (64 - width));
  };
  const i64 low = isSigned ? INT32_MIN : 0, high = isSigned ? INT32_MAX : i64{UINT32_MAX};
  for (int lane = 0; lane < kLanes; ++lane) {
    const u32 addend = io.source[2][lane];
    i64 exact = isSigned ? i64{static_cast<i32>(addend)} : i64{addend};
    for (int at = 0; at < 32; at += width)
      exact += item(io.source[0][lane], at) * item(io.source[1][lane], at);
    result[lane] = static_cast<u32>(std::clamp(exact, low, high));
  }
}

} // namespace

void prepareDot(const Inst &inst, LaneIo &io, u32 (*scratch)[2 * kLanes]) {
  const bool isFloat = inst.row->signature.result == Type::F32;
  const u32 high = isFloat ? 0x8000 : 0;
  for (int i = 0; i < 2; ++i) {
    const int low = (inst.opSel >> i) & 1 ? 16 : 0, up = (inst.opSelHi >> i) & 1 ? 16 : 0;
    const u32 signs = ((inst.neg >> i) & 1 ? high : 0) | ((inst.negHi >> i) & 1 ? high << 16 : 0);
    for (int lane = 0; lane < kLanes; ++lane) {
      const u32 x = io.source[i][lane];
      scratch[i][lane] = (((x >> low) & 0xffff) | ((x >> up) & 0xffff) << 16) ^ signs;
    }
    io.source[i] = scratch[i];
  }
  if (!isFloat || !((inst.neg >> 2) & 1))
    return;
  for (int lane = 0; lane < kLanes; ++lane)
    scratch[2][lane] = io.source[2][lane] ^ 0x80000000;
  io.source[2] = scratch[2];
}

void finishDot(Machine &machine, const Inst &inst, const LaneIo &io, u32 *result) {
  if (inst.row->signature.result == Type::F32)
    machine.lanes.clampF32(result, io.mode.dx10Clamp);
  else
    saturateDot(inst, io, result);
}

bool saturate(const Inst &inst, const LaneIo &io, u32 *result) {
  const auto *form = std::find_if(
      std::begin(kSaturating), std::end(kSaturating), [&](const Saturating &candidate) {
        return candidate.format == inst.row->format && candidate.opcode == inst.row->opcode;
      });
  if (form == std::end(kSaturating))
    return false;
  const int bits = form->bits == 24 ? 32 : form->bits;
  const i64 low = form->isSigned ? -(i64{1} << (bits - 1)) : 0;
  const i64 high = (i64{1} << (form->isSigned ? bits - 1 : bits)) - 1;
  auto wide = [&](u32 x, int width) {
    const u64 field = u64{x} << (64 - width);
    return form->isSigned ? static_cast<i64>(field) >> (64 - width)
                          : static_cast<i64>(field >> (64 - width));
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const i64 a = wide(io.source[0][lane], form->bits), b = wide(io.source[1][lane], form->bits);
    i64 exact = 0;
    switch (form->operation) {
    case Saturating::Add:
      exact = a + b;
      break;
    case Saturating::Sub:
      exact = a - b;
      break;
    case Saturating::SubReversed:
      exact = b - a;
      break;
    case Saturating::MultiplyAdd:
      exact = a * b + wide(io.source[2][lane], bits);
      break;
    }
    result[lane] = static_cast<u32>(std::clamp(exact, low, high)) & (~0u >> (32 - bits));
  }
  return true;
}

namespace {

void clampDoubles(u32 *values, bool nanToZero) {
  for (int lane = 0; lane < kLanes; ++lane) {
    auto x = std::bit_cast<double>(values[lane] | u64{values[lane + kLanes]} << 32);
    x = x != x ? (nanToZero ? 0 : x) : (x > 0 ? (x < 1 ? x : 1) : 0);
    u64 bits = std::bit_cast<u64>(x);
    values[lane] = static_cast<u32>(bits);
    values[lane + kLanes] = static_cast<u32>(bits >> 32);
  }
}

/// Times a power of two. Denormals become zero, and zero is positive (CDNA4 ISA 6.2.3).
template <typename U, int kMantissa> U moveExponent(U bits, int by) {
  constexpr int kExponents = static_cast<int>(8 * sizeof(U)) - 1 - kMantissa;
  constexpr U kTop = (U{1} << kExponents) - 1;
  U exponent = (bits >> kMantissa) & kTop, sign = bits & (U{1} << (8 * sizeof(U) - 1));
  if (exponent == kTop)
    return bits;
  int moved = static_cast<int>(exponent) + by;
  if (exponent == 0 || moved <= 0)
    return 0;
  if (moved >= static_cast<int>(kTop))
    return static_cast<U>(sign | kTop << kMantissa);
  return static_cast<U>((bits & ~(kTop << kMantissa)) | static_cast<U>(moved) << kMantissa);
}

void applyOmod(Type type, int by, u32 *values) {
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 &low = values[lane];
    if (type == Type::F32) {
      low = moveExponent<u32, 23>(low, by);
    } else if (type == Type::F16) {
      low = moveExponent<u16, 10>(static_cast<u16>(low), by);
    } else if (type == Type::F64) {
      u32 &high = values[lane + kLanes];
      u64 bits = moveExponent<u64, 52>(low | u64{high} << 32, by);
      low = static_cast<u32>(bits);
      high = static_cast<u32>(bits >> 32);
    }
  }
}

void placeSdwa(const Inst &inst, const LaneIo &io, u32 *result) {
  int select = inst.dstSel;
  if (select == 6)
    return;
  int shift = select < 4 ? 8 * select : 16 * (select - 4), width = select < 4 ? 8 : 16;
  u32 field = ((width == 8 ? 0xffu : 0xffffu) << shift);
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 value = result[lane] << shift & field;
    if (inst.dstUnused == 2)
      value |= io.old[lane] & ~field;
    else if (inst.dstUnused == 1)
      value =
          static_cast<u32>(static_cast<i32>(result[lane] << (32 - width)) >> (32 - width - shift)) |
          value;
    result[lane] = value;
  }
}

} // namespace

void dppSources(u16 control, int *from) {
  for (int lane = 0; lane < kLanes; ++lane) {
    int row = lane & ~15, in = lane & 15, n = control & 15;
    int source = -1;
    if (control <= 0xff)
      source = (lane & ~3) + ((control >> (2 * (lane & 3))) & 3);
    else if (control >= 0x101 && control <= 0x10f)
      source = in + n < 16 ? lane + n : -1;
    else if (control >= 0x111 && control <= 0x11f)
      source = in - n >= 0 ? lane - n : -1;
    else if (control >= 0x121 && control <= 0x12f)
      source = row + ((in - n) & 15);
    else if (control == 0x130)
      source = lane + 1 < kLanes ? lane + 1 : -1;
    else if (control == 0x134)
      source = (lane + 1) % kLanes;
    else if (control == 0x138)
      source = lane - 1;
    else if (control == 0x13c)
      source = (lane + kLanes - 1) % kLanes;
    else if (control == 0x140)
      source = row + 15 - in;
    else if (control == 0x141)
      source = (lane & ~7) + 7 - (lane & 7);
    else if (control == 0x142)
      source = lane >= 16 ? row - 1 : -1;
    else if (control == 0x143)
      source = lane >= 32 ? 31 : -1;
    else if (control >= 0x150 && control <= 0x15f)
      source = row + n;
    from[lane] = source;
  }
}

void callLanes(Machine &machine, const Wave &wave, const Inst &inst, LaneIo &io) {
  LaneFunction function = laneFunctionFor(machine.lanes, *inst.row);
  Type result = inst.row->signature.result;
  // Bits 1:0 of MODE round float32, bits 3:2 float16 and float64.
  u32 rounding = (wave.mode >> (result == Type::F32 ? 0 : 2)) & 3;
  if (!rounding || !inst.row->fields.rounds)
    return function(io);
  static constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int before = std::fegetround();
  std::fesetround(kModes[rounding]);
  function(io);
  std::fesetround(before);
}

void prepareSources(Machine &machine, Wave &wave, const Inst &inst, LaneIo &io,
                    u32 (*scratch)[2 * kLanes], u64 &mask) {
  const Signature &signature = inst.row->signature;
  if (inst.variant == Variant::Dpp)
    applyDpp(wave, inst, io, scratch[0], wordsOf(signature.sources[0]), mask);
  for (int i = 0; i < signature.sourceCount && i < 3; ++i) {
    Type type = signature.sources[i];
    if (inst.variant == Variant::Sdwa && i < 2)
      applySdwa(inst, io, i, scratch[i]);
    bool is16 = type == Type::B16 || type == Type::F16;
    bool fromByte = inst.row->use == Use::ByteOperand || inst.row->use == Use::ByteToHalf;
    if (fromByte && i == 0 && inst.opSel) {
      for (int lane = 0; lane < kLanes; ++lane)
        scratch[0][lane] = io.source[0][lane] >> (8 * (inst.opSel & 3));
      io.source[0] = scratch[0];
    }
    if (inst.variant == Variant::Long && is16 && ((inst.opSel >> i) & 1)) {
      for (int lane = 0; lane < kLanes; ++lane)
        scratch[i][lane] = io.source[i][lane] >> 16;
      io.source[i] = scratch[i];
    }
    bool absolute = (inst.abs >> i) & 1, negate = (inst.neg >> i) & 1;
    if (!absolute && !negate)
      continue;
    // A B32 source with signs holds two halves, but for v_cndmask_b32.
    bool twoHalves = type == Type::B32 && inst.row->opcode != 0;
    u32 bit = is16 ? 0x8000u : (twoHalves ? 0x80008000u : 0x80000000u);
    u32 keep = absolute ? ~bit : ~0u, flip = negate ? bit : 0;
    if (wordsOf(type) == 2) {
      u32 low[kLanes], high[kLanes];
      machine.lanes.copy(low, io.source[i]);
      machine.lanes.signs(high, io.source[i] + kLanes, keep, flip);
      machine.lanes.copy(scratch[i], low);
      machine.lanes.copy(scratch[i] + kLanes, high);
    } else {
      machine.lanes.signs(scratch[i], io.source[i], keep, flip);
    }
    io.source[i] = scratch[i];
  }
}

void clampHalves(u32 *values, bool nanToZero) {
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 x = values[lane] & 0xffff, body = x & 0x7fff;
    if (body > 0x7c00)
      x = nanToZero ? 0 : x;
    else if (x & 0x8000)
      x = 0;
    else if (body > 0x3c00)
      x = 0x3c00;
    values[lane] = (values[lane] & 0xffff0000) | x;
  }
}

void finishResult(Machine &machine, Wave &wave, const Inst &inst, const LaneIo &io, u32 *result) {
  Type type = inst.row->signature.result;
  // Bits 5 and 7 of MODE keep denormal results of float32 and of float16 and float64.
  if (inst.omod && !io.mode.ieee && !((wave.mode >> (type == Type::F32 ? 5 : 7)) & 1))
    applyOmod(type, inst.omod == 3 ? -1 : inst.omod, result);
  if (inst.clamp) {
    if (type == Type::F32)
      machine.lanes.clampF32(result, io.mode.dx10Clamp);
    else if (type == Type::F16)
      clampHalves(result, io.mode.dx10Clamp);
    else if (type == Type::F64)
      clampDoubles(result, io.mode.dx10Clamp);
    else if (!saturate(inst, io, result) && inst.row->use != Use::HalfResult)
      machine.fault(CheckKind::Registers, wave, inst, -1,
                    "clamp on this integer instruction is not implemented");
  }
  switch (inst.row->use) {
  case Use::HalfResult:
  case Use::ByteToHalf:
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] = inst.opSel & 8 ? (io.old[lane] & 0xffff) | result[lane] << 16
                                    : (io.old[lane] & 0xffff0000) | (result[lane] & 0xffff);
    return;
  case Use::ByteResult: {
    int shift = 8 * (inst.opSel >> 2);
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] = (io.old[lane] & ~(0xffu << shift)) | (result[lane] & 0xff) << shift;
    return;
  }
  default:
    break;
  }
  if (inst.variant == Variant::Sdwa)
    placeSdwa(inst, io, result);
  else if (inst.variant == Variant::Long && (inst.opSel & 8) &&
           (type == Type::F16 || type == Type::B16))
    for (int lane = 0; lane < kLanes; ++lane)
      result[lane] = (io.old[lane] & 0xffff) | result[lane] << 16;
}

} // namespace wavesmith::emulator
