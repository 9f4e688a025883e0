#include "tests/differential/Builtins.h"

namespace wavesmith::differential {
namespace {

constexpr Type kU32{Element::U32, 1}, kI32{Element::I32, 1}, kU64{Element::U64, 1},
    kF32{Element::F32, 1}, kF64{Element::F64, 1};

const std::vector<Builtin> kBuiltins = {
    {"permute", kU32, {kU32, kU32, kU32}},
    {"alignByte", kU32, {kU32, kU32, kU32}},
    {"alignBit", kU32, {kU32, kU32, kU32}},
    {"sadBytes", kU32, {kU32, kU32, kU32}},
    {"sadHigh", kU32, {kU32, kU32, kU32}},
    {"sadWords", kU32, {kU32, kU32, kU32}},
    {"sadMasked", kU32, {kU32, kU32, kU32}},
    {"lerp", kU32, {kU32, kU32, kU32}},
    {"extractBits", kU32, {kU32, kU32, kU32}},
    {"extractSigned", kI32, {kI32, kU32, kU32}},
    {"quadSad", kU64, {kU64, kU32, kU64}},
    {"quadSadMasked", kU64, {kU64, kU32, kU64}},
    {"wideSad", {Element::U32, 4}, {kU64, kU32, {Element::U32, 4}}},
    {"dotBytes<false>", kI32, {kU32, kU32, kI32}},
    {"dotBytes<true>", kI32, {kU32, kU32, kI32}},
    {"dotUnsignedBytes<false>", kU32, {kU32, kU32, kU32}},
    {"dotUnsignedBytes<true>", kU32, {kU32, kU32, kU32}},
    {"dotNibbles<false>", kI32, {kU32, kU32, kI32}},
    {"dotNibbles<true>", kI32, {kU32, kU32, kI32}},
    {"dotUnsignedNibbles<false>", kU32, {kU32, kU32, kU32}},
    {"dotUnsignedNibbles<true>", kU32, {kU32, kU32, kU32}},
    {"dotWords<false>", kI32, {kU32, kU32, kI32}},
    {"dotWords<true>", kI32, {kU32, kU32, kI32}},
    {"dotUnsignedWords<false>", kU32, {kU32, kU32, kU32}},
    {"dotUnsignedWords<true>", kU32, {kU32, kU32, kU32}},
    {"packSigned", {Element::I16, 2}, {kI32, kI32}},
    {"packUnsigned", {Element::U16, 2}, {kU32, kU32}},
    {"packByte", kU32, {kF32, kU32, kU32}},
    {"packTowardsZero", {Element::F16, 2}, {kF32, kF32}},
    {"fraction", kF32, {kF32}},
    {"fraction", kF64, {kF64}},
    {"exponent", kI32, {kF32}},
    {"exponent", kI32, {kF64}},
    {"mantissa", kF32, {kF32}},
    {"mantissa", kF64, {kF64}},
    {"classify", kU32, {kF32, kU32}},
    {"median", kF32, {kF32, kF32, kF32}},
    {"cube", {Element::F32, 4}, {kF32, kF32, kF32}},
    {"anyOfThree<0x1b>", kU32, {kU32, kU32, kU32}},
    {"anyOfThree<0xca>", kU32, {kU32, kU32, kU32}},
    {"nextRandom", kU32, {kU32}},
    {"packShifted", kU32, {kI32, kI32, kU32}},
};

} // namespace

std::span<const Builtin> builtins() { return kBuiltins; }

} // namespace wavesmith::differential
