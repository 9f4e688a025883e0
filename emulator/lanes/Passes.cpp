// The passes that drivers run around lane functions, and the table of this copy.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {

extern const LaneFunction kVop1[], kVop2[], kVop3[], kVopc[], kVop3p[], kWide[];
void matrixProduct(const MatrixIo &io);

namespace {

void splat(u32 *to, u32 value) {
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = value;
}
void copy(u32 *to, const u32 *from) { __builtin_memcpy(to, from, kLanes * sizeof(u32)); }
void blend(u32 *to, const u32 *from, u64 mask) {
#if defined(__AVX512F__)
  for (int i = 0; i < 4; ++i)
    _mm512_mask_storeu_epi32(to + 16 * i, static_cast<__mmask16>(mask >> (16 * i)),
                             _mm512_loadu_si512(from + 16 * i));
#else
  alignas(64) u32 bits[kLanes];
  unpackMask(bits, mask);
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = bits[lane] ? from[lane] : to[lane];
#endif
}
void flushF32(u32 *values) {
  for (int lane = 0; lane < kLanes; ++lane)
    values[lane] &= values[lane] & 0x7f800000 ? ~0u : 0x80000000u;
}
void flushF16(u32 *values) {
  for (int lane = 0; lane < kLanes; ++lane)
    values[lane] &= values[lane] & 0x7c00 ? ~0u : 0xffff8000u;
}
void flushF64(u32 *values) {
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 keep = values[lane + kLanes] & 0x7ff00000 ? ~0u : 0u;
    values[lane] &= keep;
    values[lane + kLanes] &= keep | 0x80000000u;
  }
}
void signs(u32 *to, const u32 *from, u32 andMask, u32 xorMask) {
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = (from[lane] & andMask) ^ xorMask;
}
void clampF32(u32 *values, bool nanToZero) {
  for (int lane = 0; lane < kLanes; ++lane) {
    float x = floatOf(values[lane]);
    float clamped = x < 0.0f ? 0.0f : (x > 1.0f ? 1.0f : x);
    clamped = x == 0.0f ? 0.0f : clamped;
    values[lane] = bitsOf(isNan(x) && nanToZero ? 0.0f : clamped);
  }
}
void addresses(u64 *to, u64 base, const u32 *offsets) {
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = base + offsets[lane];
}

#define WAVESMITH_TEXT_IMPL(name) #name
#define WAVESMITH_TEXT(name) WAVESMITH_TEXT_IMPL(name)

} // namespace

extern const LaneSet kLaneSet;
const LaneSet kLaneSet = {WAVESMITH_TEXT(WAVESMITH_LANES),
                          kVop1,
                          kVop2,
                          kVop3,
                          kVopc,
                          kVop3p,
                          kWide,
                          matrixProduct,
                          splat,
                          blend,
                          copy,
                          flushF32,
                          flushF16,
                          flushF64,
                          signs,
                          clampF32,
                          addresses};

} // namespace wavesmith::emulator::WAVESMITH_LANES
