#include "compiler/target/TargetFacts.h"

#include <array>

namespace wavesmith::compiler {
namespace {

constexpr std::array<TargetFacts, 2> kTargets{{
    {.name = "gfx942",
     .ldsBytes = 65536,
     .ldsBanks = 32,
     .vgprsPerSimdLane = 512,
     .maxDmaBytes = 4,
     .transposeReads = false,
     .packedConvert = false,
     .permlaneSwap = false,
     .mfmaResultStates = 3,
     .fp8 = ElementType::F8E4M3Fnuz},
    {.name = "gfx950",
     .ldsBytes = 163840,
     .ldsBanks = 64,
     .vgprsPerSimdLane = 512,
     .maxDmaBytes = 16,
     .transposeReads = true,
     .packedConvert = true,
     .permlaneSwap = true,
     .mfmaResultStates = 4,
     .fp8 = ElementType::F8E4M3Ocp},
}};

constexpr std::array<MfmaAtom, 1> kGfx942Bf16{{
    {.name = "mfma_f32_32x32x8_bf16",
     .op = "rocdl.mfma.f32.32x32x8bf16.1k",
     .form = OperandForm::I16x4,
     .input = ElementType::BF16,
     .m = 32,
     .n = 32,
     .k = 8,
     .passes = 8,
     .operandRegisters = 2,
     .accumulatorRegisters = 16},
}};

constexpr std::array<MfmaAtom, 1> kGfx942F16{{
    {.name = "mfma_f32_32x32x8_f16",
     .op = "rocdl.mfma.f32.32x32x8f16",
     .form = OperandForm::F16x4,
     .input = ElementType::F16,
     .m = 32,
     .n = 32,
     .k = 8,
     .passes = 8,
     .operandRegisters = 2,
     .accumulatorRegisters = 16},
}};

constexpr std::array<MfmaAtom, 1> kGfx942Fp8{{
    {.name = "mfma_f32_32x32x16_fp8_fp8",
     .op = "rocdl.mfma.f32.32x32x16.fp8.fp8",
     .form = OperandForm::I64,
     .input = ElementType::F8E4M3Fnuz,
     .m = 32,
     .n = 32,
     .k = 16,
     .passes = 8,
     .operandRegisters = 2,
     .accumulatorRegisters = 16},
}};

constexpr std::array<MfmaAtom, 1> kGfx950Bf16{{
    {.name = "mfma_f32_32x32x16_bf16",
     .op = "rocdl.mfma.f32.32x32x16.bf16",
     .form = OperandForm::BF16x8,
     .input = ElementType::BF16,
     .m = 32,
     .n = 32,
     .k = 16,
     .passes = 8,
     .operandRegisters = 4,
     .accumulatorRegisters = 16},
}};

constexpr std::array<MfmaAtom, 1> kGfx950F16{{
    {.name = "mfma_f32_32x32x16_f16",
     .op = "rocdl.mfma.f32.32x32x16.f16",
     .form = OperandForm::F16x8,
     .input = ElementType::F16,
     .m = 32,
     .n = 32,
     .k = 16,
     .passes = 8,
     .operandRegisters = 4,
     .accumulatorRegisters = 16},
}};

constexpr MfmaAtom kGfx942Fp8RowSum{
    .name = "mfma_f32_16x16x32_fp8_fp8",
    .op = "rocdl.mfma.f32.16x16x32.fp8.fp8",
    .form = OperandForm::I64,
    .input = ElementType::F8E4M3Fnuz,
    .m = 16,
    .n = 16,
    .k = 32,
    .passes = 4,
    .operandRegisters = 2,
    .accumulatorRegisters = 4,
};

constexpr std::array<MfmaAtom, 1> kGfx950Fp8{{
    {.name = "mfma_f32_32x32x64_f8f6f4",
     .op = "rocdl.mfma.scale.f32.32x32x64.f8f6f4",
     .form = OperandForm::I32x8,
     .input = ElementType::F8E4M3Ocp,
     .m = 32,
     .n = 32,
     .k = 64,
     .passes = 16,
     .operandRegisters = 8,
     .accumulatorRegisters = 16},
}};

constexpr MfmaAtom kGfx950Fp8RowSum{
    .name = "mfma_f32_16x16x128_f8f6f4",
    .op = "rocdl.mfma.scale.f32.16x16x128.f8f6f4",
    .form = OperandForm::I32x8,
    .input = ElementType::F8E4M3Ocp,
    .m = 16,
    .n = 16,
    .k = 128,
    .passes = 8,
    .operandRegisters = 8,
    .accumulatorRegisters = 4,
};

} // namespace

std::string_view nameOf(ElementType element) {
  switch (element) {
  case ElementType::BF16:
    return "bf16";
  case ElementType::F16:
    return "f16";
  case ElementType::F8E4M3Fnuz:
    return "e4m3fnuz";
  case ElementType::F8E4M3Ocp:
    return "e4m3";
  }
  __builtin_unreachable();
}

double largestOf(ElementType element) {
  switch (element) {
  case ElementType::BF16:
    return 0x1.fep127;
  case ElementType::F16:
    return 65504;
  case ElementType::F8E4M3Fnuz:
    return 240;
  case ElementType::F8E4M3Ocp:
    return 448;
  }
  __builtin_unreachable();
}

std::uint32_t oneOf(ElementType element) {
  switch (element) {
  case ElementType::BF16:
    return 0x3f80;
  case ElementType::F16:
    return 0x3c00;
  case ElementType::F8E4M3Fnuz:
    return 0x40;
  case ElementType::F8E4M3Ocp:
    return 0x38;
  }
  __builtin_unreachable();
}

std::span<const TargetFacts> targets() { return kTargets; }

const TargetFacts *findTarget(std::string_view name) {
  for (const TargetFacts &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

std::span<const MfmaAtom> atoms(const TargetFacts &target, ElementType input) {
  const bool newer = target.name == "gfx950";
  if (input == ElementType::BF16)
    return newer ? kGfx950Bf16 : kGfx942Bf16;
  if (input == ElementType::F16)
    return newer ? kGfx950F16 : kGfx942F16;
  if (input == target.fp8)
    return newer ? kGfx950Fp8 : kGfx942Fp8;
  return {};
}

const MfmaAtom *rowSumAtom(const TargetFacts &target, ElementType input) {
  if (input != target.fp8)
    return nullptr;
  return target.name == "gfx942" ? &kGfx942Fp8RowSum : &kGfx950Fp8RowSum;
}

const MfmaAtom *findAtom(const TargetFacts &target, std::string_view name) {
  for (ElementType input : {ElementType::BF16, ElementType::F16, target.fp8})
    for (const MfmaAtom &atom : atoms(target, input))
      if (atom.name == name)
        return &atom;
  return nullptr;
}

} // namespace wavesmith::compiler
