// Which 32 bits an inline float constant stands for. LLVM's answer is asked for: without a literal
// to fall back on llvm-mc takes a hexadecimal number only where it equals a constant, so a case
// with another number would not assemble. The instruction must do with the constant what it does
// with the number in a register, whichever halves it takes.

#include "tests/emulator/rows/Cases.h"

namespace wavesmith::emulator::rows {
namespace {

constexpr const char *kHalf = "0x3c00", *kBrain = "0x3f80", *kSingle = "0x3f800000"; // 1.0

struct Form {
  const char *name, *constant;
  const char *before, *after = ""; ///< operands around the constant
  bool packed = false;             ///< has op_sel and op_sel_hi for the operands
  bool only950 = false;
};

constexpr Form kForms[] = {
    {"v_pk_mad_i16", kSingle, "v2, v4, ", "", true},
    {"v_pk_mul_lo_u16", kSingle, "v2, ", "", true},
    {"v_pk_add_i16", kSingle, "v2, ", "", true},
    {"v_pk_sub_i16", kSingle, "v2, ", "", true},
    {"v_pk_lshlrev_b16", kSingle, "v2, ", "", true},
    {"v_pk_lshrrev_b16", kSingle, "v2, ", "", true},
    {"v_pk_ashrrev_i16", kSingle, "v2, ", "", true},
    {"v_pk_max_i16", kSingle, "v2, ", "", true},
    {"v_pk_min_i16", kSingle, "v2, ", "", true},
    {"v_pk_mad_u16", kSingle, "v2, v4, ", "", true},
    {"v_pk_add_u16", kSingle, "v2, ", "", true},
    {"v_pk_sub_u16", kSingle, "v2, ", "", true},
    {"v_pk_max_u16", kSingle, "v2, ", "", true},
    {"v_pk_min_u16", kSingle, "v2, ", "", true},
    {"v_pk_fma_f16", kHalf, "v2, v4, ", "", true},
    {"v_pk_add_f16", kHalf, "v2, ", "", true},
    {"v_pk_mul_f16", kHalf, "v2, ", "", true},
    {"v_pk_min_f16", kHalf, "v2, ", "", true},
    {"v_pk_max_f16", kHalf, "v2, ", "", true},
    {"v_pk_minimum3_f16", kHalf, "v2, v4, ", "", true, true},
    {"v_pk_maximum3_f16", kHalf, "v2, v4, ", "", true, true},
    {"v_dot2_f32_f16", kHalf, "v2, ", ", v4"},
    {"v_dot2_f32_bf16", kBrain, "v2, ", ", v4", false, true},
    {"v_dot2_i32_i16", kSingle, "v2, ", ", v4"},
    {"v_dot2_u32_u16", kSingle, "v2, ", ", v4"},
    {"v_dot4_i32_i8", kSingle, "v2, ", ", v4"},
    {"v_dot8_u32_u4", kSingle, "v2, ", ", v4"},
    {"v_dot2c_f32_f16_e64", kHalf, "v2, "},
    {"v_dot2c_f32_bf16_e64", kBrain, "v2, ", "", false, true},
    {"v_dot2c_i32_i16_e64", kSingle, "v2, "},
    {"v_dot4c_i32_i8_e64", kSingle, "v2, "},
    {"v_pk_fmac_f16_e64", kHalf, "v2, "},
    {"v_cvt_f32_bf16_e64", kBrain, "", "", false, true},
    {"v_sat_pk_u8_i16_e64", kSingle, ""},
    {"v_sad_u16", kSingle, "v2, ", ", v4"},
    {"v_mad_u32_u16", kSingle, "v2, v4, "},
    {"v_add_f16_e64", kHalf, "v2, "},
    {"v_add_f32_e64", kSingle, "v2, "},
    {"v_xor_b32_e64", kSingle, "v2, "},
    {"v_cvt_scalef32_pk_fp8_f16", kHalf, "", ", v4", false, true},
    {"v_cvt_scalef32_pk_bf8_f16", kHalf, "", ", v4", false, true},
    {"v_cvt_scalef32_pk_fp4_f16", kHalf, "", ", v4", false, true},
    {"v_cvt_scalef32_pk_fp8_bf16", kBrain, "", ", v4", false, true},
    {"v_cvt_scalef32_pk_bf8_bf16", kBrain, "", ", v4", false, true},
    {"v_cvt_scalef32_pk_fp4_bf16", kBrain, "", ", v4", false, true},
    {"v_cvt_scalef32_sr_fp8_f16", kHalf, "", ", v2, v4", false, true},
    {"v_cvt_scalef32_sr_bf8_f16", kHalf, "", ", v2, v4", false, true},
    {"v_cvt_scalef32_sr_fp8_bf16", kBrain, "", ", v2, v4", false, true},
    {"v_cvt_scalef32_sr_bf8_bf16", kBrain, "", ", v2, v4", false, true},
    {"v_cvt_scalef32_sr_pk_fp4_f16", kHalf, "", ", v2, v4", false, true},
    {"v_cvt_scalef32_sr_pk_fp4_bf16", kBrain, "", ", v2, v4", false, true},
};

Case constantCase(const Form &form, bool crossed) {
  const bool three = std::string(form.before).find("v4") != std::string::npos;
  const std::string halves = !crossed ? ""
                             : three  ? " op_sel:[0,0,1] op_sel_hi:[1,1,0]"
                                      : " op_sel:[0,1] op_sel_hi:[1,0]";
  auto with = [&](const char *result, const std::string &operand) {
    return std::string(form.name) + " " + result + ", " + form.before + operand + form.after +
           halves + "\n";
  };
  Case test;
  test.body = "v_mov_b32 v10, v8\nv_mov_b32 v9, " + std::string(form.constant) + "\n" +
              with("v8", form.constant) + with("v10", "v9");
  test.only950 = form.only950;
  test.verify = [](const Run &run) -> std::string {
    for (const BlockOut &out : run.out)
      for (int lane = 0; lane < kLanes; ++lane)
        if (out.lane[lane][kOutD] != out.lane[lane][kOutD + 2])
          return differs("lane", lane, out.lane[lane][kOutD], out.lane[lane][kOutD + 2]);
    return "";
  };
  return test;
}

} // namespace

std::vector<Case> constantCases() {
  std::vector<Case> cases;
  for (const Form &form : kForms) {
    cases.push_back(constantCase(form, false));
    if (form.packed)
      cases.push_back(constantCase(form, true));
  }
  return cases;
}

} // namespace wavesmith::emulator::rows
