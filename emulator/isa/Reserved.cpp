#include "emulator/isa/Reserved.h"

#include <algorithm>
#include <string_view>

#include "emulator/isa/Decoding.h"

namespace wavesmith::emulator {
namespace {

using std::string_view;

bool isFloat(Type type) { return type == Type::F16 || type == Type::F32 || type == Type::F64; }

template <std::size_t kCount> bool isOneOf(string_view name, const string_view (&list)[kCount]) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}
bool startsWith(string_view name, string_view prefix) {
  return name.substr(0, prefix.size()) == prefix;
}
bool endsWith(string_view name, string_view suffix) {
  return name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
}

constexpr string_view kIntegerClamp[] = {
    "v_mul_i32_i24",    "v_mul_u32_u24",    "v_add_u16",         "v_sub_u16",
    "v_subrev_u16",     "v_add_u32",        "v_sub_u32",         "v_subrev_u32",
    "v_mad_i32_i24",    "v_mad_u32_u24",    "v_alignbit_b32",    "v_alignbyte_b32",
    "v_sad_u8",         "v_sad_hi_u8",      "v_sad_u16",         "v_sad_u32",
    "v_msad_u8",        "v_qsad_pk_u16_u8", "v_mqsad_pk_u16_u8", "v_mqsad_u32_u8",
    "v_mad_legacy_u16", "v_mad_legacy_i16", "v_mad_u32_u16",     "v_mad_i32_i16",
    "v_min3_i16",       "v_min3_u16",       "v_max3_i16",        "v_max3_u16",
    "v_med3_i16",       "v_med3_u16",       "v_mad_u16",         "v_mad_i16",
    "v_add_i32",        "v_sub_i32",        "v_add_i16",         "v_sub_i16",
    "v_dot2c_i32_i16",  "v_dot4c_i32_i8",   "v_dot8c_i32_i4"};
/// op_sel selects halves (or bytes) of these; elsewhere its bits mean nothing.
constexpr string_view kThreeHalves[] = {
    "v_alignbit_b32", "v_alignbyte_b32", "v_mad_u32_u16",   "v_mad_i32_i16", "v_min3_f16",
    "v_min3_i16",     "v_min3_u16",      "v_max3_f16",      "v_max3_i16",    "v_max3_u16",
    "v_med3_f16",     "v_med3_i16",      "v_med3_u16",      "v_mad_f16",     "v_mad_u16",
    "v_mad_i16",      "v_fma_f16",       "v_div_fixup_f16", "v_bitop3_b16"};
constexpr string_view kTwoHalves[] = {
    "v_cvt_pknorm_i16_f16", "v_cvt_pknorm_u16_f16", "v_add_i16",        "v_sub_i16",
    "v_pack_b32_f16",       "v_cvt_pk_fp8_f32",     "v_cvt_pk_bf8_f32", "v_cvt_sr_f16_f32",
    "v_cvt_sr_bf16_f32"};
constexpr string_view kNoOmod[] = {
    "v_cvt_rpi_i32_f32",    "v_cvt_flr_i32_f32",    "v_frexp_exp_i32_f32", "v_cndmask_b32",
    "v_cvt_pknorm_i16_f16", "v_cvt_pknorm_u16_f16", "v_pack_b32_f16",      "v_cvt_pknorm_i16_f32",
    "v_cvt_pknorm_u16_f32", "v_cvt_pkaccum_u8_f32", "v_cvt_pk_u8_f32",     "v_dot2c_i32_i16",
    "v_dot4c_i32_i8",       "v_dot8c_i32_i4"};

/// One IEEE operation with one rounding, which MODE directs.
constexpr string_view kRounds[] = {
    "v_add_f32",       "v_sub_f32",        "v_subrev_f32",     "v_mul_f32",      "v_fma_f32",
    "v_fmac_f32",      "v_fmaak_f32",      "v_fmamk_f32",      "v_pk_add_f32",   "v_pk_mul_f32",
    "v_pk_fma_f32",    "v_mul_legacy_f32", "v_add_f64",        "v_mul_f64",      "v_fma_f64",
    "v_fmac_f64",      "v_cvt_f32_i32",    "v_cvt_f32_u32",    "v_cvt_f32_f64",  "v_ldexp_f32",
    "v_add_f16",       "v_sub_f16",        "v_subrev_f16",     "v_mul_f16",      "v_fma_f16",
    "v_mac_f16",       "v_mad_f16",        "v_cvt_f16_f32",    "v_cvt_f16_i16",  "v_cvt_f16_u16",
    "v_pk_add_f16",    "v_pk_mul_f16",     "v_pk_fma_f16",     "v_ldexp_f16",    "v_madmk_f16",
    "v_madak_f16",     "v_mad_legacy_f16", "v_fma_legacy_f16", "v_pk_fmac_f16",  "v_fma_mix_f32",
    "v_fma_mixlo_f16", "v_fma_mixhi_f16",  "v_ldexp_f64",      "v_div_fmas_f32", "v_div_fmas_f64"};

bool isSmallFloatConversion(string_view name) {
  return startsWith(name, "v_cvt_scalef32_") || startsWith(name, "v_cvt_sr_") ||
         name == "v_cvt_pk_fp8_f32" || name == "v_cvt_pk_bf8_f32";
}
/// Whole blocks of 32 values; no modifiers at all.
bool isBlockConversion(string_view name) {
  return name.find("pk32_") != string_view::npos || name.find("pk16_") != string_view::npos;
}

} // namespace

VectorFields vectorFieldsOf(const Row &row) {
  VectorFields fields;
  string_view name = row.name;
  const Signature &signature = row.signature;
  int sources = std::min<int>(signature.sourceCount, 3);
  bool anyFloat = false;
  for (int i = 0; i < sources; ++i)
    anyFloat |= isFloat(signature.sources[i]);
  for (int i = 0; i < sources; ++i)
    fields.signsUsed |= static_cast<u8>(isFloat(signature.sources[i]) << i);
  if (name == "v_cndmask_b32" || name == "v_pk_fmac_f16" || startsWith(name, "v_dot2c_f32"))
    fields.signsUsed = 3;
  if (name == "v_cvt_f32_bf16")
    fields.signsUsed = 1;
  const Type first = signature.sources[0];
  if (startsWith(name, "v_cvt_scalef32_") && (endsWith(name, "f16")) &&
      signature.result == Type::B32 &&
      (first == Type::B32 || first == Type::B16 || first == Type::Brain || first == Type::Halves ||
       first == Type::Brains))
    fields.signsUsed |= 1;
  bool cvtFloat8 = row.format == Format::Vop1 && (endsWith(name, "_fp8") || endsWith(name, "_bf8"));
  bool fromInteger = isFloat(signature.result) && !anyFloat;
  anyFloat |= name == "v_cndmask_b32" || name == "v_pk_fmac_f16" || startsWith(name, "v_dot") ||
              name == "v_cvt_f32_bf16" || isSmallFloatConversion(name);
  fields.signs = static_cast<u8>(anyFloat ? (1 << sources) - 1 : 0);
  fields.clamp = anyFloat || fromInteger || cvtFloat8 || isOneOf(name, kIntegerClamp);
  fields.omod =
      (anyFloat || fromInteger || cvtFloat8) && !signature.isCompare && !isOneOf(name, kNoOmod);
  fields.opSel = 0xf;
  if (name == "v_cndmask_b32")
    fields.clamp = false;
  if (startsWith(name, "v_cmp_class") || startsWith(name, "v_cmpx_class")) {
    fields.signs = 1;
    fields.clamp = false;
  }
  bool threeSources = isSmallFloatConversion(name) && sources == 3;
  if (startsWith(name, "v_ashr_pk_") || startsWith(name, "v_cvt_scalef32_pk_fp4_") ||
      name == "v_cvt_sr_fp8_f32" || name == "v_cvt_sr_bf8_f32")
    threeSources = true;
  if (isBlockConversion(name)) {
    fields.signs = 0;
    fields.clamp = fields.omod = false;
  } else if (threeSources) {
    fields.signs = 7;
    fields.clamp = fields.omod = false;
    fields.opSelShown = 4;
  } else if (isSmallFloatConversion(name)) {
    fields.signs = 3;
    fields.clamp = fields.omod = false;
    fields.opSel = 0xb;
    fields.opSelShown = 3;
  }
  if (isOneOf(name, kThreeHalves))
    fields.opSelShown = 4;
  if (isOneOf(name, kTwoHalves)) {
    fields.opSelShown = 3;
    fields.opSel = 0xb;
  }
  if (name == "v_cvt_pk_bf16_f32")
    fields.opSel = 0xb;
  if (name == "v_bitop3_b32")
    fields.opSel = 0;
  // The short forms' SDWA modifiers follow the type of each source.
  for (int i = 0; i < std::min(sources, 2); ++i) {
    bool plainFloat = isFloat(signature.sources[i]) || name == "v_cndmask_b32" ||
                      name == "v_pk_fmac_f16" || name == "v_cvt_f32_bf16";
    if (plainFloat)
      fields.sdwaSigns |= 1 << i;
    else
      fields.sdwaExtends |= 1 << i;
  }
  fields.sdwaOmod = cvtFloat8 || isFloat(signature.result) || name == "v_pk_fmac_f16";
  fields.dppSigns = fields.signs;
  fields.rounds = isOneOf(name, kRounds);
  return fields;
}

namespace {

bool hasSdwa(const Row &row) {
  static constexpr string_view kWithout[] = {
      "v_readfirstlane_b32",   "v_swap_b32",       "v_accvgpr_mov_b32", "v_permlane16_swap_b32",
      "v_permlane32_swap_b32", "v_dot2c_f32_bf16", "v_dot2c_f32_f16",   "v_dot2c_i32_i16",
      "v_dot4c_i32_i8",        "v_dot8c_i32_i4",   "v_fmac_f32",        "v_mac_f16"};
  const Signature &signature = row.signature;
  bool wide = wordsOf(signature.result) == 2;
  for (int i = 0; i < signature.sourceCount; ++i)
    wide |= wordsOf(signature.sources[i]) == 2;
  if (endsWith(row.name, "_fp8") || endsWith(row.name, "_bf8"))
    wide = false;
  return !wide && row.use != Use::NoOperands && row.use != Use::Literal &&
         !isOneOf(row.name, kWithout);
}
bool hasDpp(const Row &row) {
  static constexpr string_view kWithout[] = {"v_readfirstlane_b32", "v_swap_b32",
                                             "v_accvgpr_mov_b32", "v_permlane16_swap_b32",
                                             "v_permlane32_swap_b32"};
  return row.use != Use::NoOperands && row.format != Format::Vopc && row.use != Use::Literal &&
         !isOneOf(row.name, kWithout);
}

bool longVector(const Inst &inst) {
  const Row &row = *inst.row;
  const VectorFields &fields = row.fields;
  u32 first = inst.words[0], second = inst.words[1];
  u32 signs = bits(second, 29, 3), abs = bits(first, 8, 3), omod = bits(second, 27, 2);
  bool clamp = bits(first, 15, 1);
  if (row.use == Use::Bitop)
    return !clamp && !(bits(first, 11, 4) & ~u32{fields.opSel});
  if (row.use == Use::Literal)
    return false;
  if (row.signature.setsCarry) {
    // VOP3b: these bits are the mask's register; only v_div_scale knows signs.
    bool scale = startsWith(row.name, "v_div_scale");
    return scale || (!signs && !omod);
  }
  if (row.use == Use::NoOperands)
    return !(first & 0xff) && !bits(second, 0, 27);
  return !(signs & ~u32{fields.signs}) && !(abs & ~u32{fields.signs}) && (fields.clamp || !clamp) &&
         (fields.omod || !omod) && !(bits(first, 11, 4) & ~u32{fields.opSel});
}

bool sdwa(const Inst &inst) {
  const Row &row = *inst.row;
  const VectorFields &fields = row.fields;
  if (!hasSdwa(row))
    return false;
  u32 word = inst.words[1];
  bool two = row.format != Format::Vop1;
  for (int i = 0; i < 2; ++i) {
    u32 extend = bits(word, 19 + 8 * i, 1), signs = bits(word, 20 + 8 * i, 2);
    if (i == 1 && !two)
      return !bits(word, 24, 6) && !bits(word, 31, 1);
    if ((extend && !((fields.sdwaExtends >> i) & 1)) || (signs && !((fields.sdwaSigns >> i) & 1)))
      return false;
    if (i == 0 && row.format != Format::Vopc && bits(word, 14, 2) && !fields.sdwaOmod)
      return false;
  }
  return true;
}

bool dpp(const Inst &inst) {
  const Row &row = *inst.row;
  if (!hasDpp(row))
    return false;
  u32 word = inst.words[1];
  u32 used = row.fields.dppSigns;
  if (row.name == string_view("v_ldexp_f16"))
    used = 3;
  return !(bits(word, 20, 2) && !(used & 1)) && !(bits(word, 22, 2) && !(used & 2));
}

bool packed(const Inst &inst) {
  const Row &row = *inst.row;
  u32 first = inst.words[0], second = inst.words[1];
  if (row.use == Use::Matrix) {
    bool mixed = row.opcode == 0x2d || row.opcode == 0x2e;
    return inst.size == 16 || !mixed || !bits(first, 11, 4);
  }
  if (row.use == Use::SparseMatrix)
    return !bits(second, 29, 3);
  if (row.use == Use::AccumRead || row.use == Use::AccumWrite)
    return !bits(first, 8, 6) && !bits(second, 29, 3);
  if (row.use == Use::Dot && row.opcode >= 0x28)
    return !bits(first, 11, 3);
  int sources = row.use == Use::PackedMove ? 2 : row.signature.sourceCount;
  u32 beyond = ~((1u << sources) - 1) & 7;
  return !(bits(first, 8, 3) & beyond) && !(bits(first, 11, 3) & beyond) &&
         !(bits(second, 29, 3) & beyond);
}

bool ds(const Inst &inst) {
  const Row &row = *inst.row;
  u32 word = inst.words[1];
  bool hasData = inst.sourceCount > 1, hasSecond = inst.sourceCount > 2;
  bool exchange = row.handler == permuteLanes || row.handler == bpermuteLanes;
  return (inst.destination.kind != OperandKind::None || !bits(word, 24, 8)) &&
         (hasData || !bits(word, 8, 8)) && (hasSecond || !bits(word, 16, 8)) &&
         (inst.source[0].kind != OperandKind::None || !bits(word, 0, 8)) &&
         !(exchange && bits(inst.words[0], 16, 1));
}

bool mubuf(const Inst &inst) {
  const Row &row = *inst.row;
  u32 first = inst.words[0], second = inst.words[1];
  if (row.use == Use::Cache)
    return !bits(first, 12, 2) && !bits(first, 16, 1) && !bits(second, 23, 1);
  return !(inst.lds && bits(second, 23, 1));
}

} // namespace

bool reservedBitsClear(const Inst &inst) {
  const Row &row = *inst.row;
  switch (row.format) {
  case Format::Sopp:
    return row.use != Use::NoOperands || !(inst.words[0] & 0xffff) || row.opcode == 1;
  case Format::Smem:
    return (row.use != Use::Cache && row.use != Use::WriteOnly) || !bits(inst.words[0], 17, 1);
  case Format::Vop1:
  case Format::Vop2:
  case Format::Vopc:
  case Format::Vop3:
    switch (inst.variant) {
    case Variant::Long:
      return longVector(inst);
    case Variant::Sdwa:
      return sdwa(inst);
    case Variant::Dpp:
      return dpp(inst);
    default:
      return row.use != Use::NoOperands || !(inst.words[0] & 0x1fe0000);
    }
  case Format::Vop3p:
    return packed(inst);
  case Format::Ds:
    return ds(inst);
  case Format::Mubuf:
    return mubuf(inst);
  case Format::Flat:
    return !bits(inst.words[0], 13, 1) && !bits(inst.words[1], 16, 7);
  case Format::Global:
    return !bits(inst.words[0], 13, 1) && !(row.use == Use::LdsDma && bits(inst.words[1], 23, 1));
  case Format::Scratch:
    return !(row.use == Use::LdsDma && bits(inst.words[1], 23, 1));
  default:
    return true;
  }
}

} // namespace wavesmith::emulator
