#include "runtime/scales/Calibration.h"

#include <algorithm>
#include <cmath>

#include "runtime/support/Text.h"

namespace wavesmith {
namespace {

constexpr std::size_t kMaxTextBytes = 4096, kMinCommitDigits = 7, kMaxCommitDigits = 64;
constexpr float kSmallestDescale = 1e-12F;

Status validateCount(std::string_view field, std::int64_t value, std::int64_t low,
                     std::int64_t high) {
  if (value >= low && value <= high)
    return Status::ok();
  return error(StatusCode::InvalidArgument, "{} is {}; want {} to {}", field, value, low, high);
}

bool isCommit(std::string_view text) {
  return text.size() >= kMinCommitDigits && text.size() <= kMaxCommitDigits &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

} // namespace

Status validateText(std::string_view field, std::string_view value) {
  if (value.empty())
    return error(StatusCode::InvalidArgument, "{} is empty", field);
  if (value.size() > kMaxTextBytes)
    return error(StatusCode::InvalidArgument, "{} has {} bytes; want at most {}", field,
                 value.size(), kMaxTextBytes);
  if (const std::string shown = printable(value);
      shown != value || value.find_first_of("\t\n") != std::string_view::npos)
    return error(StatusCode::InvalidArgument, "{} is \"{}\"; want one line of printable UTF-8",
                 field, shown);
  return Status::ok();
}

Status validateRun(const CalibrationRun &run) {
  WAVESMITH_TRY(validateText("model", run.model));
  if (!run.revision.empty())
    WAVESMITH_TRY(validateText("revision", run.revision));
  WAVESMITH_TRY(validateText("checkpoint_id", run.checkpointId));
  WAVESMITH_TRY(checkpointCommit(run.checkpointId).status());
  WAVESMITH_TRY(validateText("calibration_id", run.calibrationId));
  WAVESMITH_TRY(validateText("cache_mode", run.cacheMode));
  WAVESMITH_TRY(validateCount("tp_size", run.tpSize, 1, kMaxRanks));
  WAVESMITH_TRY(validateCount("pp_size", run.ppSize, 1, kMaxRanks));
  WAVESMITH_TRY(validateCount("heads", run.heads, 1, kMaxModelHeads));
  WAVESMITH_TRY(validateCount("kv_heads", run.kvHeads, 1, kMaxModelHeads));
  WAVESMITH_TRY(validateCount("qk_head_dim", run.headDimQk, 1, kMaxHeadDim));
  WAVESMITH_TRY(validateCount("v_head_dim", run.headDimV, 1, kMaxHeadDim));
  WAVESMITH_TRY(validateCount("num_layers", run.numLayers, 0, kMaxLayers));
  WAVESMITH_TRY(validateCount("rotation_seed", run.rotationSeed, 0, kMaxRotationSeed));
  if (run.heads % run.kvHeads != 0)
    return error(StatusCode::InvalidArgument,
                 "heads is {}; want a multiple of kv_heads, which is {}", run.heads, run.kvHeads);
  if (run.heads % run.tpSize != 0)
    return error(StatusCode::InvalidArgument,
                 "heads is {}; want a multiple of tp_size, which is {}", run.heads, run.tpSize);
  if (run.kvHeads % run.tpSize != 0 && run.tpSize % run.kvHeads != 0)
    return error(StatusCode::InvalidArgument,
                 "kv_heads is {}; want a multiple or a divisor of tp_size, which is {}",
                 run.kvHeads, run.tpSize);
  if (run.fp8 == Fp8Format::None)
    return Status(StatusCode::InvalidArgument,
                  "fp8_dtype is none; want float8_e4m3fnuz or float8_e4m3fn");
  if (!std::isfinite(run.margin) || run.margin < 1)
    return error(StatusCode::InvalidArgument, "margin is {}; want a finite number of at least 1",
                 run.margin);
  return Status::ok();
}

std::vector<RunField> runFields(const CalibrationRun &run) {
  const Expected<std::string> commit = checkpointCommit(run.checkpointId);
  return {{"model", run.model},
          {"revision", run.revision},
          {"checkpoint_id", commit ? *commit : run.checkpointId},
          {"calibration_id", run.calibrationId},
          {"tp_size", std::to_string(run.tpSize)},
          {"pp_size", std::to_string(run.ppSize)},
          {"heads", std::to_string(run.heads)},
          {"kv_heads", std::to_string(run.kvHeads)},
          {"qk_head_dim", std::to_string(run.headDimQk)},
          {"v_head_dim", std::to_string(run.headDimV)},
          {"fp8_dtype", std::string(fp8DtypeName(run.fp8))},
          {"cache_mode", run.cacheMode},
          {"margin", fmt::format("{}", run.margin)},
          {"rotation_seed", std::to_string(run.rotationSeed)},
          {"num_layers", std::to_string(run.numLayers)}};
}

int localHeads(const CalibrationRun &run) { return run.heads / run.tpSize; }
int localKvHeads(const CalibrationRun &run) { return std::max(1, run.kvHeads / run.tpSize); }
int localCount(const CalibrationRun &run, Qkv which) {
  return which == Qkv::Q ? localHeads(run) : localKvHeads(run);
}
int totalCount(const CalibrationRun &run, Qkv which) {
  return which == Qkv::Q ? run.heads : run.kvHeads;
}
int firstHead(const CalibrationRun &run, Qkv which, int tpRank) {
  return static_cast<int>(std::int64_t{tpRank} * totalCount(run, which) / run.tpSize);
}

Expected<std::string> checkpointCommit(std::string_view checkpointId) {
  // A snapshot of a hub's cache: .../models--ORG--NAME/snapshots/COMMIT[/]
  static constexpr std::string_view kSnapshots = "snapshots/";
  std::string_view commit = checkpointId;
  if (const std::size_t slash = commit.rfind(kSnapshots);
      slash != std::string_view::npos && (slash == 0 || commit[slash - 1] == '/')) {
    commit.remove_prefix(slash + kSnapshots.size());
    while (commit.ends_with('/'))
      commit.remove_suffix(1);
  }
  if (!isCommit(commit))
    return error(
        StatusCode::InvalidArgument,
        "checkpoint_id is \"{}\"; want what cannot change: a commit of {} to {} hex digits "
        "or a path that ends in snapshots/COMMIT",
        printable(checkpointId), kMinCommitDigits, kMaxCommitDigits);
  std::string lower(commit);
  for (char &c : lower)
    if (c >= 'A' && c <= 'F')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string_view fp8DtypeName(Fp8Format format) {
  switch (format) {
  case Fp8Format::None:
    return "none";
  case Fp8Format::E4M3Fnuz:
    return "float8_e4m3fnuz";
  case Fp8Format::E4M3Ocp:
    return "float8_e4m3fn";
  }
  return "none";
}

Expected<Fp8Format> parseFp8Dtype(std::string_view name) {
  for (const Fp8Format format : {Fp8Format::E4M3Fnuz, Fp8Format::E4M3Ocp})
    if (name == fp8DtypeName(format))
      return format;
  return error(StatusCode::InvalidArgument,
               "fp8_dtype is \"{}\"; want float8_e4m3fnuz or float8_e4m3fn", printable(name));
}

float fp8Max(Fp8Format format) { return format == Fp8Format::E4M3Fnuz ? 240.0F : 448.0F; }

Expected<float> descaleOf(float amax, double margin, Fp8Format format) {
  if (!std::isfinite(amax) || amax <= 0)
    return error(StatusCode::InvalidArgument, "the maximum is {}; want a finite positive number",
                 amax);
  const float widened = amax * static_cast<float>(margin);
  const float descale = widened / fp8Max(format);
  if (!std::isfinite(descale))
    return error(StatusCode::InvalidArgument,
                 "the maximum {} times the margin {} is beyond float32", amax, margin);
  return std::max(descale, kSmallestDescale);
}

} // namespace wavesmith
