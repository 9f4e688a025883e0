#include "runtime/spec/KernelSpec.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/spec/AttentionAbi.h"
#include "runtime/spec/KernelFamily.h"
#include "runtime/spec/RowKernelAbi.h"
#include "runtime/support/Hash.h"

namespace wavesmith {
namespace {

constexpr std::string_view kDefaultSchedule = "default";

/// Text that comes from a user or a file goes into messages in bounded length.
std::string quoted(std::string_view text) {
  return text.size() <= 80 ? std::string(text) : std::string(text.substr(0, 77)) + "...";
}

/// Takes the next word; fails unless it is "name=value" (or "name" alone when value is null).
class WordReader {
public:
  explicit WordReader(std::string_view text) : rest_(text) {}

  Expected<std::string_view> value(std::string_view name) {
    const std::string_view word = next();
    if (word.size() <= name.size() || !word.starts_with(name) || word[name.size()] != '=')
      return error(StatusCode::InvalidArgument, "spec text: found \"{}\" where {}=... belongs",
                   quoted(word), name);
    return word.substr(name.size() + 1);
  }
  Expected<bool> flag(std::string_view name) {
    WAVESMITH_ASSIGN(const std::string_view text, value(name));
    if (text != "0" && text != "1")
      return error(StatusCode::InvalidArgument, "spec text: {}={} is neither 0 nor 1", name,
                   quoted(text));
    return text == "1";
  }
  /// Takes the next word if it is this one.
  bool optional(std::string_view word) {
    if (rest_.substr(0, rest_.find(' ')) != word)
      return false;
    next();
    return true;
  }
  std::string_view next() {
    const std::size_t space = rest_.find(' ');
    const std::string_view word = rest_.substr(0, space);
    atEnd_ = space == std::string_view::npos;
    rest_ = atEnd_ ? std::string_view() : rest_.substr(space + 1);
    return word;
  }
  bool atEnd() const { return atEnd_; }

private:
  std::string_view rest_;
  bool atEnd_ = false;
};

/// Canonical decimal only: "007" or "+7" would be a second text of the same spec.
Expected<int> parseNumber(std::string_view name, std::string_view text) {
  int number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || rest != end || number < 0 || fmt::format("{}", number) != text)
    return error(StatusCode::InvalidArgument, "spec text: {} is \"{}\", not a plain number", name,
                 quoted(text));
  return number;
}

bool isName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

/// What is off unless the text says so, in its order: texts without these words, and their keys,
/// are what they were before the words came.
struct OptionalWord {
  std::string_view name;
  bool AttentionSpec::*member;
};
constexpr std::array kOptionalWords = {OptionalWord{"softcap", &AttentionSpec::softCap},
                                       OptionalWord{"window", &AttentionSpec::window},
                                       OptionalWord{"sink", &AttentionSpec::sink},
                                       OptionalWord{"f16out", &AttentionSpec::f16Out}};

int abiVersionOf(const AttentionSpec &attention) {
  return attention.isScored() ? kScoredAttentionAbiVersion : kAttentionAbiVersion;
}

std::string rowText(const KernelSpec &spec) {
  const auto kernel = findRowKernel(spec.row.kernel);
  kernel.ignoreError("validate() reports it");
  std::string text = fmt::format("{} abi={} target={}", spec.row.kernel,
                                 kernel ? (*kernel)->abiVersion : 0, spec.target);
  for (std::size_t i = 0; i < spec.row.values.size(); ++i)
    text += fmt::format(" {}={}",
                        kernel && i < (*kernel)->parameters.size() ? (*kernel)->parameters[i].name
                                                                   : std::string_view("?"),
                        spec.row.values[i]);
  return text;
}

Expected<KernelSpec> parseRow(std::string_view name, WordReader &reader) {
  WAVESMITH_ASSIGN(const RowKernel *kernel, findRowKernel(name));
  KernelSpec spec;
  spec.row.kernel = name;
  WAVESMITH_ASSIGN(const std::string_view abi, reader.value("abi"));
  WAVESMITH_ASSIGN(const int abiVersion, parseNumber("abi", abi));
  if (abiVersion != kernel->abiVersion)
    return error(StatusCode::Unsupported, "spec text: abi={}, this build has abi={}", abiVersion,
                 kernel->abiVersion);
  WAVESMITH_ASSIGN(const std::string_view target, reader.value("target"));
  WAVESMITH_ASSIGN(const Target known, parseTarget(quoted(target)));
  spec.target = known.name;
  for (const RowParameter &parameter : kernel->parameters) {
    WAVESMITH_ASSIGN(const std::string_view value, reader.value(parameter.name));
    spec.row.values.emplace_back(value);
  }
  WAVESMITH_TRY(validateRowKernel(spec.row));
  if (!reader.atEnd())
    return error(StatusCode::InvalidArgument, "spec text: \"{}\" follows the last parameter",
                 quoted(reader.next()));
  return spec;
}

/// Numbers with their label, flags that are set by it, other values as they are.
std::string rowName(const KernelSpec &spec) {
  std::string name = "ws_" + spec.row.kernel;
  const auto kernel = findRowKernel(spec.row.kernel);
  kernel.ignoreError("validate() reports it");
  for (std::size_t i = 0; kernel && i < spec.row.values.size(); ++i) {
    const std::string &value = spec.row.values[i];
    const std::string_view label =
        i < (*kernel)->parameters.size() ? (*kernel)->parameters[i].label : "";
    if (value == "true")
      name += fmt::format("_{}", label);
    else if (value != "false")
      name += fmt::format("_{}{}", label, value);
  }
  return name;
}

} // namespace

std::string KernelSpec::text() const {
  if (isRowKernel())
    return rowText(*this);
  std::string words;
  for (const OptionalWord &word : kOptionalWords)
    if (attention.*word.member)
      words += fmt::format(" {}=1", word.name);
  return fmt::format("attention abi={} target={} dtype={} d={}x{} causal={:d} lse={:d} split={:d}"
                     "{} schedule={}",
                     abiVersionOf(attention), target, dtypeName(attention.dtype),
                     attention.headDimQk, attention.headDimV, attention.causal, attention.writeLse,
                     attention.splitKv, words,
                     schedule.empty() ? kDefaultSchedule : std::string_view(schedule));
}

Expected<KernelSpec> KernelSpec::parse(std::string_view text) {
  WordReader reader(text);
  if (const std::string_view kind = reader.next(); kind != "attention")
    return parseRow(kind, reader);
  KernelSpec spec;
  WAVESMITH_ASSIGN(const std::string_view abi, reader.value("abi"));
  WAVESMITH_ASSIGN(const int abiVersion, parseNumber("abi", abi));
  WAVESMITH_ASSIGN(const std::string_view target, reader.value("target"));
  WAVESMITH_ASSIGN(const Target known, parseTarget(quoted(target)));
  spec.target = known.name;
  WAVESMITH_ASSIGN(const std::string_view dtype, reader.value("dtype"));
  WAVESMITH_ASSIGN(spec.attention.dtype, parseDType(quoted(dtype)));
  WAVESMITH_ASSIGN(const std::string_view dims, reader.value("d"));
  const std::size_t x = dims.find('x');
  if (x == std::string_view::npos)
    return error(StatusCode::InvalidArgument, "spec text: d={} is not QKxV", quoted(dims));
  WAVESMITH_ASSIGN(spec.attention.headDimQk, parseNumber("d", dims.substr(0, x)));
  WAVESMITH_ASSIGN(spec.attention.headDimV, parseNumber("d", dims.substr(x + 1)));
  WAVESMITH_ASSIGN(spec.attention.causal, reader.flag("causal"));
  WAVESMITH_ASSIGN(spec.attention.writeLse, reader.flag("lse"));
  WAVESMITH_ASSIGN(spec.attention.splitKv, reader.flag("split"));
  for (const OptionalWord &word : kOptionalWords)
    spec.attention.*word.member = reader.optional(fmt::format("{}=1", word.name));
  if (abiVersion != abiVersionOf(spec.attention))
    return error(StatusCode::Unsupported, "spec text: abi={}, this build has abi={} for it",
                 abiVersion, abiVersionOf(spec.attention));
  WAVESMITH_ASSIGN(const std::string_view schedule, reader.value("schedule"));
  if (!isName(schedule))
    return error(StatusCode::InvalidArgument, "spec text: schedule \"{}\" is not a name",
                 quoted(schedule));
  if (schedule != kDefaultSchedule)
    spec.schedule = schedule;
  if (!reader.atEnd())
    return error(StatusCode::InvalidArgument, "spec text: \"{}\" follows the schedule",
                 quoted(reader.next()));
  return spec;
}

std::string KernelSpec::key() const { return sha256Hex(text()); }

std::string KernelSpec::kernelName() const {
  if (isRowKernel())
    return fmt::format("{}_{}_{}", rowName(*this), target, key().substr(0, 6));
  std::string name = fmt::format("ws_attention_{}_d{}x{}", dtypeName(attention.dtype),
                                 attention.headDimQk, attention.headDimV);
  if (attention.causal)
    name += "_causal";
  for (const OptionalWord &word : kOptionalWords)
    if (attention.*word.member)
      name += fmt::format("_{}", word.name);
  if (!attention.writeLse)
    name += "_nolse";
  if (attention.splitKv)
    name += "_split";
  return fmt::format("{}_{}_{}", name, target, key().substr(0, 6));
}

std::string supportedHeadDims() {
  std::string list;
  for (const HeadDims &dims : headDims())
    list += fmt::format("{}{}x{}", list.empty() ? "" : ", ", dims.qk, dims.v);
  return list;
}

Expected<KernelAbi> KernelSpec::abi() const {
  if (!isRowKernel() && attention.isScored())
    return KernelAbi{kScoredAttentionLayout, sizeof(ScoredAttentionArguments), kAttentionThreads};
  if (!isRowKernel())
    return KernelAbi{kAttentionLayout, sizeof(AttentionArguments), kAttentionThreads};
  WAVESMITH_ASSIGN(const RowKernel *kernel, findRowKernel(row.kernel));
  return KernelAbi{kernel->layout, kernel->argumentBytes, kRowThreads};
}

Status KernelSpec::validate() const {
  WAVESMITH_TRY(parseTarget(quoted(target)).status());
  if (isRowKernel()) {
    if (!schedule.empty())
      return error(StatusCode::InvalidArgument, "{} has no schedules, but the spec names \"{}\"",
                   row.kernel, quoted(schedule));
    return validateRowKernel(row);
  }
  if (const HeadDims dims{attention.headDimQk, attention.headDimV};
      std::ranges::find(headDims(), dims) == headDims().end())
    return error(StatusCode::InvalidArgument, "no kernel for head dims {}x{}; supported: {}",
                 attention.headDimQk, attention.headDimV, supportedHeadDims());
  if (attention.f16Out && attention.dtype != DType::FP8)
    return error(StatusCode::InvalidArgument,
                 "f16out is of fp8 kernels; {} ones write what they read",
                 dtypeName(attention.dtype));
  if (!schedule.empty() && !isName(schedule))
    return error(StatusCode::InvalidArgument,
                 "schedule \"{}\" is not a name of lower-case letters, digits, '-', '_' and '.'",
                 quoted(schedule));
  return Status::ok();
}

} // namespace wavesmith
