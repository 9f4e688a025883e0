#include "compiler/library/TemplateLibrary.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>

#include "runtime/spec/AttentionAbi.h"
#include "runtime/support/Files.h"

namespace wavesmith::compiler {
namespace {

struct BuiltinTemplate {
  std::string_view name, text;
};
#include "compiler/library/Templates.inc"

// Figures of the cycle model; no tuner has looked at them yet. Clocks of a step of both wave
// groups, and how much of them the matrix core is busy, as `wavesmith run --heads 1 --q-len 256
// --kv-len 6144 --splits 1 --model-cycles` says:
//               gfx942 BF16    gfx942 FP8     gfx950 BF16    gfx950 FP8
//   256x256     4175  98.1 %   4222  97.0 %   2084  98.3 %   2078  98.6 %
//   192x128     2652  96.5     2762  92.7     2631  97.3     2734  98.3
//   128x128     2140  95.7     2436  89.3     2115  96.8     2486  87.5
//   64x64       1418  72.2     2059  55.9     1678  61.0     2398  48.0
// FP8 on gfx942: up to 128 the vector ALU is the bound, so the matrix core sums. There the softmax
// in windows is better than the pipeline by 1 %, from 192 on by 3. On gfx950 every fragment that is
// read before the barrier costs FP8 128x128 1.5 %.
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
                .valueBuffers = 2,
                .rounding = "truncated"},
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
                .order = "windowed",
                .exponent = 4,
                .threshold = 3.9},
    ScheduleRow{.target = "gfx950",
                .dtype = DType::FP8,
                .blockN = 128,
                .ring = 3,
                .pre = 1,
                .keyBuffers = 3,
                .valueBuffers = 4,
                .rowSum = "matrix",
                .exponent = 4,
                .threshold = 4.8},
};

/// BF16's schedules at float16's rate. Its weights are twice as fine in eight octaves, and vanish
/// 24 below 1: a factor puts them as high as the threshold lets it.
constexpr ScheduleRow forFloat16(ScheduleRow row) {
  row.dtype = DType::F16;
  row.exponent = 7;
  if (row.target == "gfx942")
    row.rounding = "truncated";
  return row;
}
constexpr auto kFloat16Schedules = [] {
  std::array<ScheduleRow, std::ranges::count(kSchedules, DType::BF16, &ScheduleRow::dtype)> rows;
  std::ranges::transform(kSchedules | std::views::filter([](const ScheduleRow &row) {
                           return row.dtype == DType::BF16;
                         }),
                         rows.begin(), forFloat16);
  return rows;
}();

const ScheduleRow *findSchedule(const KernelSpec &spec, std::string_view name) {
  const AttentionSpec &attention = spec.attention;
  const std::span<const ScheduleRow> rows =
      attention.dtype == DType::F16 ? std::span<const ScheduleRow>(kFloat16Schedules) : kSchedules;
  const auto row = std::ranges::find_if(rows, [&](const ScheduleRow &candidate) {
    return candidate.name == name && candidate.target == spec.target &&
           candidate.dtype == attention.dtype &&
           (candidate.headDimQk == 0 || candidate.headDimQk == attention.headDimQk);
  });
  return row == rows.end() ? nullptr : &*row;
}

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
  const ScheduleRow *row = findSchedule(spec, wanted);
  if (!row)
    return error(StatusCode::Unsupported, "no schedule '{}' for {} on {}; known: default", wanted,
                 dtypeName(attention.dtype), spec.target);
  auto flag = [](bool value) { return value ? "true" : "false"; };
  const bool fp8 = attention.dtype == DType::FP8;
  WAVESMITH_ASSIGN(const Target target, parseTarget(spec.target));
  const std::string_view input = fp8 ? fp8TypeName(target) : dtypeName(attention.dtype);
  Selection selection;
  selection.templateName = "attention";
  selection.schedule = row;
  selection.parameters =
      fmt::format("block_m={},block_n={},head_dim_qk={},head_dim_v={},input={},output={},scaled={},"
                  "causal={},window={},sink={},soft_cap={},write_lse={},split_kv={}",
                  kAttentionBlockM, row->blockN, attention.headDimQk, attention.headDimV, input,
                  dtypeName(attention.outType()), flag(fp8), flag(attention.causal),
                  flag(attention.window), flag(attention.sink), flag(attention.softCap),
                  flag(attention.writeLse), flag(attention.splitKv));
  return selection;
}

} // namespace wavesmith::compiler
