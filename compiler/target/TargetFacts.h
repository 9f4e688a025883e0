#pragma once
// What the compiler knows of a gfx target: one struct of facts and rows of MFMA atoms. A new target
// is rows here, never a second lowering. Constant data, any thread.

#include <cstdint>
#include <span>
#include <string_view>

namespace wavesmith::compiler {

inline constexpr int kWaveLanes = 64;

enum class ElementType : std::uint8_t { BF16, F16, F8E4M3Fnuz, F8E4M3Ocp };
constexpr bool isHalf(ElementType element) {
  return element == ElementType::BF16 || element == ElementType::F16;
}
constexpr int bytesOf(ElementType element) { return isHalf(element) ? 2 : 1; }
std::string_view nameOf(ElementType element); ///< "bf16", "f16", "e4m3fnuz", "e4m3"
/// Largest finite value and the bits of 1.
double largestOf(ElementType element);
std::uint32_t oneOf(ElementType element);

struct TargetFacts {
  std::string_view name; ///< "gfx942"
  int ldsBytes;          ///< per workgroup
  int ldsBanks;          ///< 4-byte banks
  int vgprsPerSimdLane;  ///< 512: VGPR + AGPR of all waves of a SIMD
  int maxDmaBytes;       ///< widest global-to-LDS transfer of a lane
  bool transposeReads;   ///< ds_read_*_tr_*
  bool packedConvert;    ///< v_cvt_pk_bf16_f32, v_cvt_pk_f16_f32
  bool permlaneSwap;     ///< v_permlane32_swap_b32
  int mfmaResultStates;  ///< wait states beyond its passes until others may use an MFMA's result
  ElementType fp8;       ///< the FP8 format of its matrix core
};

/// The type in which an LLVM intrinsic takes one matrix operand of a lane.
enum class OperandForm : std::uint8_t { I16x4, F16x4, BF16x8, F16x8, I64, I32x8 };

/// One matrix instruction D[m][n] += sum_k A[m][k] B[k][n]. Lane maps (64 lanes, h = lane / m):
/// A: row = lane % m, k = (k/(64/m)) * h + item; B: the same with the column; D: register i holds
/// row 8*(i/4) + 4*h + i%4 (m = 32), column lane % n. Source: AMD's matrix instruction calculator.
struct MfmaAtom {
  std::string_view name; ///< as in the IR: "mfma_f32_32x32x8_bf16"
  std::string_view op;   ///< of the ROCDL dialect
  OperandForm form;
  ElementType input;
  int m, n, k;
  int passes;               ///< of 4 clocks
  int operandRegisters;     ///< VGPRs of A (and of B) per lane
  int accumulatorRegisters; ///< VGPRs of C/D per lane

  /// Row of D that register `index` holds in the lanes of `group` (lane / n).
  constexpr int accumulatorRow(int index, int group = 0) const {
    const int groups = 64 / n;
    return 4 * groups * (index / 4) + 4 * group + index % 4;
  }
};

const TargetFacts *findTarget(std::string_view name); ///< null when unknown
std::span<const TargetFacts> targets();
/// Atoms of a target for an input type, widest k first.
std::span<const MfmaAtom> atoms(const TargetFacts &target, ElementType input);
/// The instruction that adds up an operand's columns cheaply when A is ones; null if there is none.
/// m = n = 16 and the same operand registers as the atoms' B.
const MfmaAtom *rowSumAtom(const TargetFacts &target, ElementType input);
const MfmaAtom *findAtom(const TargetFacts &target, std::string_view name);

} // namespace wavesmith::compiler
