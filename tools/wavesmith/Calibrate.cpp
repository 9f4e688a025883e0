// wavesmith calibrate: merges the shards of a calibration run to FP8 scales; shows, verifies,
// re-shards and compares them.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/scales/Artifact.h"
#include "runtime/scales/Diff.h"
#include "runtime/scales/Merge.h"
#include "runtime/scales/Shard.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/CalibrateReport.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/Progress.h"

namespace wavesmith::cli {
namespace {

constexpr std::string_view kShardSuffix = ".json", kArtifactSuffix = ".safetensors";

/// The files given; of a directory all shards in it.
Expected<std::vector<std::string>> expandShards(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    std::error_code problem;
    if (!std::filesystem::is_directory(path, problem)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (std::filesystem::directory_iterator at(path, problem), end; !problem && at != end;
         at.increment(problem))
      if (at->path().filename().string().ends_with(kShardSuffix))
        inside.push_back(at->path().string());
    if (problem)
      return error(StatusCode::InvalidArgument, "list {}: {}", path, problem.message());
    if (inside.empty())
      return error(StatusCode::InvalidArgument, "{} has no file *{}", path, kShardSuffix);
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

/// A file that the user names and that cannot be read is bad input, not a broken machine.
template <typename T> Expected<T> input(Expected<T> read) {
  if (read || read.status().code() == StatusCode::Corrupt)
    return read;
  return Status(StatusCode::InvalidArgument, read.status().message());
}

/// "e4m3fnuz" as kernels are named, or "float8_e4m3fnuz" as files have it.
Expected<Fp8Format> parseFormat(std::string_view flag, std::string_view text) {
  for (const Fp8Format format : {Fp8Format::E4M3Fnuz, Fp8Format::E4M3Ocp})
    if (text == fp8FormatName(format) || text == fp8DtypeName(format))
      return format;
  return error(StatusCode::InvalidArgument, "{} is \"{}\"; expected e4m3fnuz or e4m3", flag, text);
}

class Calibrate final : public Command {
public:
  std::string name() const override { return "calibrate"; }
  std::string summary() const override {
    return "merge, show, verify, re-shard or compare FP8 scales";
  }

  void declare(CLI::App &app) override {
    app.add_option("action", action_, "merge, show, verify, reshard or diff")->required();
    app.add_option("files", files_,
                   "merge: SHARDS... OUT; show, verify: FILES...; reshard: IN OUT; diff: A B")
        ->required();
    app.add_option("--schema", schema_, "merge: wavesmith-1 (default) or 1, the published one");
    app.add_option("--fp8", fp8_, "merge: e4m3fnuz or e4m3; default: as the shards state");
    app.add_option("--margin", margin_, "merge: widens the maxima; default: as the shards state");
    app.add_option("--percentile", percentile_,
                   "merge: share of the magnitudes that a scale covers; default 100");
    app.add_option("--layers", layers_, "merge: how many layers there must be");
    app.add_option("--target", target_, "verify: the scales must be for this target's FP8 format");
    app.add_option("--tp", tp_, "reshard: ranks of the result; verify: ranks that it must be for");
    app.add_option("--pp", pp_, "reshard: stages of the result; default: as before");
  }

  Expected<Result> run() override {
    WAVESMITH_TRY(checkWord("action", action_, {"merge", "show", "verify", "reshard", "diff"}));
    WAVESMITH_TRY(checkOptions());
    if (action_ == "merge")
      return merge();
    if (action_ == "show")
      return show();
    if (action_ == "verify")
      return verify();
    if (action_ == "reshard")
      return reshard();
    return diff();
  }

private:
  Status checkOptions() const {
    struct Option {
      std::string_view name;
      const std::string &value;
      std::vector<std::string_view> actions;
    };
    const std::vector<Option> options = {
        {"--schema", schema_, {"merge"}},     {"--fp8", fp8_, {"merge"}},
        {"--margin", margin_, {"merge"}},     {"--percentile", percentile_, {"merge"}},
        {"--layers", layers_, {"merge"}},     {"--target", target_, {"verify"}},
        {"--tp", tp_, {"reshard", "verify"}}, {"--pp", pp_, {"reshard"}}};
    for (const Option &option : options)
      if (!option.value.empty() &&
          std::ranges::find(option.actions, action_) == option.actions.end())
        return error(StatusCode::InvalidArgument, "{} belongs to {}, not to {}", option.name,
                     fmt::join(option.actions, " and "), action_);
    return Status::ok();
  }

  /// Writing over a shard, because OUT was forgotten, would lose it.
  Status checkOutput() const {
    if (files_.size() < 2 || !files_.back().ends_with(kArtifactSuffix))
      return error(StatusCode::InvalidArgument,
                   "the last of the files is {}; expected the artifact to write, NAME{}",
                   files_.back(), kArtifactSuffix);
    return Status::ok();
  }

  Expected<MergeOptions> mergeOptions() const {
    MergeOptions options;
    if (!schema_.empty()) {
      WAVESMITH_TRY(
          checkWord("--schema", schema_,
                    {scaleSchemaName(ScaleSchema::Ours), scaleSchemaName(ScaleSchema::Published)}));
      if (schema_ == scaleSchemaName(ScaleSchema::Published))
        options.schema = ScaleSchema::Published;
    }
    if (!fp8_.empty()) {
      WAVESMITH_ASSIGN(options.fp8, parseFormat("--fp8", fp8_));
    }
    if (!margin_.empty()) {
      WAVESMITH_ASSIGN(options.margin, parseReal("--margin", margin_));
    }
    if (!percentile_.empty()) {
      WAVESMITH_ASSIGN(options.percentile, parseReal("--percentile", percentile_));
    }
    if (!layers_.empty()) {
      WAVESMITH_ASSIGN(const std::int64_t count, parseCount("--layers", layers_, 1, kMaxLayers));
      options.numLayers = static_cast<int>(count);
    }
    return options;
  }

  Expected<Result> merge() const {
    WAVESMITH_TRY(checkOutput());
    WAVESMITH_ASSIGN(const MergeOptions options, mergeOptions());
    WAVESMITH_ASSIGN(const std::vector<std::string> files,
                     expandShards({files_.begin(), files_.end() - 1}));
    std::vector<NamedShard> shards;
    {
      Progress progress(files.size());
      for (const std::string &file : files) {
        WAVESMITH_ASSIGN(CalibrationShard shard, input(CalibrationShard::read(file)));
        shards.push_back({file, std::move(shard)});
        progress.done(file);
      }
    }
    WAVESMITH_ASSIGN(const ScaleArtifact artifact, mergeShards(shards, options));
    WAVESMITH_TRY(artifact.write(files_.back()));
    return wroteArtifact(files_.back(), artifact);
  }

  Expected<Result> show() const {
    Result result;
    result.json = {{"ok", true}, {"files", Json::array()}};
    for (const std::string &file : files_) {
      if (file.ends_with(kShardSuffix)) {
        WAVESMITH_ASSIGN(const CalibrationShard shard, input(CalibrationShard::read(file)));
        result.json["files"].push_back(describeShard(file, shard));
        result.text += printShard(file, shard);
      } else {
        WAVESMITH_ASSIGN(const ScaleArtifact artifact, input(ScaleArtifact::read(file)));
        result.json["files"].push_back(describeArtifact(file, artifact));
        result.text += printArtifact(file, artifact);
      }
    }
    return result;
  }

  /// Ok, or why the file does not serve; an error that is not Corrupt is about reading it.
  Status verifyFile(const std::string &file, std::optional<Fp8Format> fp8,
                    std::optional<int> tp) const {
    CalibrationRun run;
    if (file.ends_with(kShardSuffix)) {
      WAVESMITH_ASSIGN(const CalibrationShard shard, input(CalibrationShard::read(file)));
      run = shard.run;
    } else {
      WAVESMITH_ASSIGN(const ScaleArtifact artifact, input(ScaleArtifact::read(file)));
      run = artifact.run;
    }
    if (fp8 && *fp8 != run.fp8)
      return error(StatusCode::Corrupt, "{}: fp8_dtype is {}, --target {} has {}", file,
                   fp8DtypeName(run.fp8), target_, fp8DtypeName(*fp8));
    if (tp && *tp != run.tpSize)
      return error(StatusCode::Corrupt, "{}: tp_size is {}, --tp asks for {}", file, run.tpSize,
                   *tp);
    return Status::ok();
  }

  Expected<Result> verify() const {
    std::optional<Fp8Format> fp8;
    if (!target_.empty()) {
      WAVESMITH_ASSIGN(const Target target, withFlag("--target", parseTarget(target_)));
      fp8 = target.fp8;
    }
    WAVESMITH_ASSIGN(const std::optional<int> tp, ranks("--tp", tp_));
    Result result;
    result.json = {{"ok", true}, {"files", Json::array()}};
    for (const std::string &file : files_) {
      const Status status = verifyFile(file, fp8, tp);
      if (!status.isOk() && status.code() != StatusCode::Corrupt)
        return status;
      result.json["files"].push_back(
          {{"file", file}, {"problem", status.isOk() ? Json(nullptr) : Json(status.message())}});
      if (status.isOk()) {
        result.text += fmt::format("ok       {}\n", file);
        continue;
      }
      result.text += fmt::format("failed   {}\n", status.message());
      result.exitCode = ExitCode::Failed;
      result.json["ok"] = false;
    }
    return result;
  }

  static Expected<std::optional<int>> ranks(std::string_view flag, const std::string &text) {
    if (text.empty())
      return std::optional<int>();
    WAVESMITH_ASSIGN(const std::int64_t count, parseCount(flag, text, 1, kMaxRanks));
    return std::optional(static_cast<int>(count));
  }

  Expected<Result> reshard() const {
    WAVESMITH_TRY(checkOutput());
    if (files_.size() != 2)
      return error(StatusCode::InvalidArgument, "reshard takes IN and OUT, {} files are given",
                   files_.size());
    WAVESMITH_ASSIGN(const std::optional<int> tp, ranks("--tp", tp_));
    WAVESMITH_ASSIGN(const std::optional<int> pp, ranks("--pp", pp_));
    if (!tp)
      return Status(StatusCode::InvalidArgument, "reshard needs --tp N");
    WAVESMITH_ASSIGN(const ScaleArtifact artifact, input(ScaleArtifact::read(files_[0])));
    const Expected<ScaleArtifact> other = artifact.reshard(*tp, pp.value_or(artifact.run.ppSize));
    if (!other)
      return other.status().withContext(files_[0]);
    WAVESMITH_TRY(other->write(files_[1]));
    return wroteArtifact(files_[1], *other);
  }

  Expected<Result> diff() const {
    if (files_.size() != 2)
      return error(StatusCode::InvalidArgument, "diff compares 2 artifacts, {} are given",
                   files_.size());
    WAVESMITH_ASSIGN(const ScaleArtifact a, input(ScaleArtifact::read(files_[0])));
    WAVESMITH_ASSIGN(const ScaleArtifact b, input(ScaleArtifact::read(files_[1])));
    return compared(files_[0], files_[1], compareArtifacts(a, b));
  }

  std::string action_, schema_, fp8_, margin_, percentile_, layers_, target_, tp_, pp_;
  std::vector<std::string> files_;
};

} // namespace

std::unique_ptr<Command> makeCalibrate() { return std::make_unique<Calibrate>(); }

} // namespace wavesmith::cli
