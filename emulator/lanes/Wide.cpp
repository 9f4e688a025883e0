// Lane functions of the rows in isa/rows/Wide.def, in row order.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {
namespace {

/// Four sums over the byte windows of a, each added to a word of c.
void maskedQuadSad(LaneIo &io) {
  for (int i = 0; i < 4; ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      u64 a = loadLane<u64>(io.source[0], lane);
      u32 sum = maskedSadBytes(static_cast<u32>(a >> (8 * i)), io.source[1][lane]);
      io.result[i * kLanes + lane] = sum + io.source[2][i * kLanes + lane];
    }
}

// How the items of a block of 32 lie in registers, and what they make of a scaled value.
struct Floats {
  static float load(const LaneIo &io, int item, int lane) {
    float x = floatOf(io.source[0][item * kLanes + lane]);
    return io.mode.flushes32 ? flushed(x) : x;
  }
  static void store(LaneIo &io, int item, int lane, float x, float scale) {
    io.result[item * kLanes + lane] = bitsOf(x * scaleFactor(scale));
  }
};
/// Sixteen each in sources 0 and 1, by turns.
struct InterleavedFloats {
  static float load(const LaneIo &io, int item, int lane) {
    float x = floatOf(io.source[item % 2][item / 2 * kLanes + lane]);
    return io.mode.flushes32 ? flushed(x) : x;
  }
};
template <typename Convert> struct Pairs {
  static float load(const LaneIo &io, int item, int lane) {
    u32 word = io.source[0][item / 2 * kLanes + lane];
    return Convert::load(item % 2 ? word >> 16 : word & 0xffff);
  }
  static void store(LaneIo &io, int item, int lane, float x, float scale) {
    u32 &word = io.result[item / 2 * kLanes + lane];
    u32 bits = Convert::store(x, scale, io.mode) & 0xffff;
    word = item % 2 ? word | bits << 16 : bits;
  }
};
struct ConvertHalf {
  static float load(u32 bits) { return halfToFloat({static_cast<u16>(bits)}); }
  static u32 store(float x, float scale, Mode m) {
    return scaledHalf(x, scale, m.fp16Overflow).bits;
  }
};
struct ConvertBf16 {
  static float load(u32 bits) { return bf16ToFloat(bits); }
  static u32 store(float x, float scale, Mode) { return floatToBf16(x * scaleFactor(scale)); }
};
using Halves = Pairs<ConvertHalf>;
using Bf16s = Pairs<ConvertBf16>;

template <int kExponent, int kMantissa> struct ToSixBits {
  static u32 nearest(float x) { return toTiny<kExponent, kMantissa>(x); }
  static u32 noisy(float x, u32 noise) { return toTinyNoisy<kExponent, kMantissa>(x, noise); }
};
using ToFp6 = ToSixBits<2, 3>;
using ToBf6 = ToSixBits<3, 2>;
struct FromFp6 {
  static float value(u32 code) { return fromFp6(code); }
};
struct FromBf6 {
  static float value(u32 code) { return fromBf6(code); }
};

constexpr int kBlock = 32, kSix = 6;

template <typename Items, typename To, bool kStochastic> void narrowBlock(LaneIo &io) {
  // The scale is the last source; two blocks of sixteen take two sources, noise one.
  constexpr bool kThree = kStochastic || __is_same(Items, InterleavedFloats);
  const u32 *scales = io.source[kThree ? 2 : 1];
  alignas(64) u32 noise[kLanes];
  alignas(64) float factor[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    factor[lane] = scaleFactor(floatOf(scales[lane]));
    noise[lane] = kStochastic ? io.source[1][lane] : 0;
  }
  for (int i = 0; i < kSix * kLanes; ++i)
    io.result[i] = 0;
  for (int item = 0; item < kBlock; ++item) {
    int word = item * kSix / 32, shift = item * kSix % 32;
    for (int lane = 0; lane < kLanes; ++lane) {
      float x = Items::load(io, item, lane) / factor[lane];
      u32 code = kStochastic ? To::noisy(x, noise[lane]) : To::nearest(x);
      io.result[word * kLanes + lane] |= code << shift;
      if (shift > 32 - kSix)
        io.result[(word + 1) * kLanes + lane] |= code >> (32 - shift);
      // The next value has the next number of the generator.
      noise[lane] = nextRandom(noise[lane]);
    }
  }
}

template <typename From, typename Items> void widenBlock(LaneIo &io) {
  for (int item = 0; item < kBlock; ++item) {
    int word = item * kSix / 32, shift = item * kSix % 32;
    for (int lane = 0; lane < kLanes; ++lane) {
      u32 code = io.source[0][word * kLanes + lane] >> shift;
      if (shift > 32 - kSix)
        code |= io.source[0][(word + 1) * kLanes + lane] << (32 - shift);
      Items::store(io, item, lane, From::value(code & 63), floatOf(io.source[1][lane]));
    }
  }
}

} // namespace

#define WIDE(name, opcode, targets, result, s0, s1, s2, ...) __VA_ARGS__,
extern const LaneFunction kWide[];
const LaneFunction kWide[] = {
#include "emulator/isa/rows/Wide.def"
};

} // namespace wavesmith::emulator::WAVESMITH_LANES
