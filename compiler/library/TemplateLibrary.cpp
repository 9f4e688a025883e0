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

// Start values from hand-scheduled prototypes; no tuner has looked at them yet.
constexpr std::array<ScheduleRow, 2> kSchedules{{
    {.name = "default",
     .target = "gfx942",
     .dtype = DType::BF16,
     .blockN = 32,
     .ring = 6,
     .pre = 3,
     .keyBuffers = 2,
     .valueBuffers = 2,
     .threshold = 8},
    {.name = "default",
     .target = "gfx950",
     .dtype = DType::BF16,
     .blockN = 64,
     .ring = 7,
     .pre = 3,
     .keyBuffers = 3,
     .valueBuffers = 4,
     .threshold = 8},
}};

constexpr std::uint64_t kTemplateLimit = 1u << 20;

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
      value = target.fp8 == Fp8Format::E4M3Fnuz ? "f8E4M3FNUZ" : "f8E4M3FN";
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
           candidate.dtype == attention.dtype;
  });
  if (row == kSchedules.end())
    return error(StatusCode::Unsupported, "no schedule '{}' for {} on {}; known: default", wanted,
                 dtypeName(attention.dtype), spec.target);
  auto flag = [](bool value) { return value ? "true" : "false"; };
  Selection selection;
  selection.templateName = "attention";
  selection.schedule = row;
  selection.parameters = fmt::format(
      "block_m={},block_n={},head_dim_qk={},head_dim_v={},input=bf16,scaled=false,causal={},"
      "write_lse={},split_kv={}",
      kAttentionBlockM, row->blockN, attention.headDimQk, attention.headDimV,
      flag(attention.causal), flag(attention.writeLse), flag(attention.splitKv));
  return selection;
}

} // namespace wavesmith::compiler
