#include "compiler/library/TemplateLibrary.h"

#include <algorithm>
#include <array>

#include "runtime/spec/AttentionAbi.h"
#include "runtime/support/Files.h"

namespace wavesmith::compiler {
namespace {

struct BuiltinTemplate {
  std::string_view name, text;
};
#include "compiler/library/Templates.inc"

// Start values from hand-scheduled prototypes and the cycle model; no tuner has looked at them yet.
// FP8 on gfx942, cycles of a step of both wave groups with sums by the vector ALU, windowed, and by
// the matrix core, pipelined: 2844 and 2939 (192x128), 2748 and 2562 (128x128), 2496 and 2273
// (64x64), from which a ring that fills over several slots since took 26 to 55. Up to 128 the
// vector ALU is the bound. BF16 keeps the matrix core busy for 94.6 and 94.3 % of it on gfx942
// (192x128, 128x128), 96.9 and 98.2 on gfx950; there the start of a phase costs less with a ring of
// 5 than of 7.
constexpr std::array kSchedules{
    // 256x256: docs/adr/0012-head-dim-256.md.
    ScheduleRow{.target = "gfx942",
                .dtype = DType::BF16,
                .headDimQk = 256,
                .blockN = 32,
                .ring = 4,
                .pre = 3,
                .keyBuffers = 2,
                .valueBuffers = 2,
                .registerAhead = 1,
                .order = "windowed"},
    ScheduleRow{.target = "gfx950",
                .dtype = DType::BF16,
                .headDimQk = 256,
                .blockN = 32,
                .ring = 4,
                .pre = 3,
                .keyBuffers = 3,
                .valueBuffers = 4},
    ScheduleRow{.target = "gfx942",
                .dtype = DType::FP8,
                .headDimQk = 256,
                .blockN = 64,
                .ring = 4,
                .pre = 3,
                .keyBuffers = 2,
                .valueBuffers = 2,
                .order = "windowed",
                .exponent = 4,
                .threshold = 3.9},
    ScheduleRow{.target = "gfx950",
                .dtype = DType::FP8,
                .headDimQk = 256,
                .blockN = 64,
                .ring = 4,
                .pre = 3,
                .keyBuffers = 3,
                .valueBuffers = 4,
                .exponent = 4,
                .threshold = 4.8},
    ScheduleRow{.target = "gfx942",
                .dtype = DType::BF16,
                .blockN = 32,
                .ring = 6,
                .pre = 3,
                .keyBuffers = 2,
                .valueBuffers = 2},
    ScheduleRow{.target = "gfx950",
                .dtype = DType::BF16,
                .blockN = 64,
                .ring = 5,
                .pre = 3,
                .keyBuffers = 3,
                .valueBuffers = 4},
    ScheduleRow{.target = "gfx942",
                .dtype = DType::FP8,
                .headDimQk = 192,
                .blockN = 64,
                .ring = 5,
                .pre = 3,
                .keyBuffers = 2,
                .valueBuffers = 2,
                .order = "windowed",
                .exponent = 4,
                .threshold = 3.9},
    ScheduleRow{.target = "gfx942",
                .dtype = DType::FP8,
                .blockN = 64,
                .ring = 5,
                .pre = 3,
                .keyBuffers = 2,
                .valueBuffers = 2,
                .rowSum = "matrix",
                .exponent = 4,
                .threshold = 3.9},
    ScheduleRow{.target = "gfx950",
                .dtype = DType::FP8,
                .blockN = 128,
                .ring = 4,
                .pre = 3,
                .keyBuffers = 3,
                .valueBuffers = 4,
                .rowSum = "matrix",
                .exponent = 4,
                .threshold = 4.8},
};

constexpr std::uint64_t kTemplateLimit = 1u << 20;

/// The target's FP8 in MLIR's spelling.
std::string_view fp8TypeName(const Target &target) {
  return target.fp8 == Fp8Format::E4M3Fnuz ? "f8E4M3FNUZ" : "f8E4M3FN";
}

/// A row kernel's values are those of its template but for the name of FP8, which the target says.
Expected<Selection> selectRowKernel(const KernelSpec &spec) {
  WAVESMITH_ASSIGN(const RowKernel *kernel, findRowKernel(spec.row.kernel));
  WAVESMITH_ASSIGN(const Target target, parseTarget(spec.target));
  Selection selection;
  selection.templateName = kernel->name;
  selection.rows = kernel->rows;
  for (std::size_t i = 0; i < kernel->parameters.size(); ++i) {
    std::string_view value = spec.row.values[i];
    if (value == "fp8")
      value = fp8TypeName(target);
    selection.parameters +=
        fmt::format("{}{}={}", i == 0 ? "" : ",", kernel->parameters[i].name, value);
  }
  return selection;
}

} // namespace

Expected<std::string> templateText(std::string_view name, const std::string &directory) {
  if (directory.empty()) {
    const auto *found =
        std::ranges::find(kBuiltinTemplates, name, [](const BuiltinTemplate &t) { return t.name; });
    if (found == std::end(kBuiltinTemplates))
      return error(StatusCode::NotFound, "there is no built-in template '{}'", name);
    return std::string(found->text);
  }
  WAVESMITH_ASSIGN(const std::vector<std::byte> bytes,
                   readFile(fmt::format("{}/{}.mlir", directory, name), kTemplateLimit));
  return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

Expected<Selection> select(const KernelSpec &spec) {
  WAVESMITH_TRY(spec.validate());
  if (spec.isRowKernel())
    return selectRowKernel(spec);
  const AttentionSpec &attention = spec.attention;
  const std::string wanted = spec.schedule.empty() ? "default" : spec.schedule;
  const auto *row = std::ranges::find_if(kSchedules, [&](const ScheduleRow &candidate) {
    return candidate.name == wanted && candidate.target == spec.target &&
           candidate.dtype == attention.dtype &&
           (candidate.headDimQk == 0 || candidate.headDimQk == attention.headDimQk);
  });
  if (row == kSchedules.end())
    return error(StatusCode::Unsupported, "no schedule '{}' for {} on {}; known: default", wanted,
                 dtypeName(attention.dtype), spec.target);
  auto flag = [](bool value) { return value ? "true" : "false"; };
  const bool fp8 = attention.dtype == DType::FP8;
  WAVESMITH_ASSIGN(const Target target, parseTarget(spec.target));
  const std::string_view input = fp8 ? fp8TypeName(target) : "bf16";
  Selection selection;
  selection.templateName = "attention";
  selection.schedule = row;
  selection.parameters = fmt::format(
      "block_m={},block_n={},head_dim_qk={},head_dim_v={},input={},scaled={},causal={},"
      "write_lse={},split_kv={}",
      kAttentionBlockM, row->blockN, attention.headDimQk, attention.headDimV, input, flag(fp8),
      flag(attention.causal), flag(attention.writeLse), flag(attention.splitKv));
  return selection;
}

} // namespace wavesmith::compiler
