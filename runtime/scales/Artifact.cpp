#include "runtime/scales/Artifact.h"

#include <algorithm>
#include <cmath>

#include "runtime/scales/ArtifactTensors.h"
#include "runtime/scales/Histogram.h"
#include "runtime/support/Files.h"

namespace wavesmith {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;
// The published schema was made for one model's attention.
constexpr int kPublishedDimQk = 192, kPublishedDimV = 128;

Status validatePublished(const ScaleArtifact &artifact) {
  const CalibrationRun &run = artifact.run;
  const auto cannot = [](std::string_view field, const auto &value, std::string_view want) {
    return error(StatusCode::InvalidArgument, "{} is {}; schema 1 has only {}", field, value, want);
  };
  if (run.fp8 != Fp8Format::E4M3Fnuz)
    return cannot("fp8_dtype", fp8DtypeName(run.fp8), fp8DtypeName(Fp8Format::E4M3Fnuz));
  if (run.headDimQk != kPublishedDimQk)
    return cannot("qk_head_dim", run.headDimQk, std::to_string(kPublishedDimQk));
  if (run.headDimV != kPublishedDimV)
    return cannot("v_head_dim", run.headDimV, std::to_string(kPublishedDimV));
  if (run.kvHeads != run.heads)
    return cannot("kv_heads", run.kvHeads, fmt::format("as many as heads, {}", run.heads));
  if (run.rotationSeed != 0)
    return cannot("rotation_seed", run.rotationSeed, "scales without rotation");
  if (artifact.percentile != 100)
    return cannot("percentile", artifact.percentile, "scales of the maxima");
  return Status::ok();
}

Status validateNumbers(std::string_view what, const std::vector<float> &values, int count) {
  if (values.size() != static_cast<std::size_t>(count))
    return error(StatusCode::InvalidArgument, "{} has {} values; the model has {} heads", what,
                 values.size(), count);
  for (std::size_t head = 0; head < values.size(); ++head)
    if (!std::isfinite(values[head]) || values[head] <= 0)
      return error(StatusCode::InvalidArgument,
                   "{} of head {} is {}; want a finite positive number", what, head, values[head]);
  return Status::ok();
}

/// Whether the descales are those of the maxima.
Status validateDescales(const ScaleArtifact &artifact, const LayerScales &layer, Qkv which) {
  for (std::size_t head = 0; head < layer.descale[which].size(); ++head) {
    const float descale = layer.descale[which][head], amax = layer.amax[which][head];
    WAVESMITH_ASSIGN(const float all, descaleOf(amax, artifact.run.margin, artifact.run.fp8));
    const bool fits = artifact.percentile == 100 ? descale == all : descale <= all;
    if (!fits)
      return error(StatusCode::InvalidArgument,
                   "{}_descale of head {} is {}; the maximum {}, margin {} and {} give {}",
                   qkvName(which), head, descale, amax, artifact.run.margin,
                   fp8DtypeName(artifact.run.fp8), all);
  }
  return Status::ok();
}

Status validateLayer(const ScaleArtifact &artifact, const LayerScales &layer) {
  const bool ours = artifact.schema == ScaleSchema::Ours;
  if (ours)
    WAVESMITH_TRY(validateText("runtime_name", layer.runtimeName));
  for (const Qkv which : kQkv) {
    const int count = totalCount(artifact.run, which);
    WAVESMITH_TRY(
        validateNumbers(fmt::format("{}_descale", qkvName(which)), layer.descale[which], count));
    if (!ours)
      continue;
    WAVESMITH_TRY(
        validateNumbers(fmt::format("{}_amax", qkvName(which)), layer.amax[which], count));
    WAVESMITH_TRY(validateDescales(artifact, layer, which));
  }
  return Status::ok();
}

} // namespace

std::string_view scaleSchemaName(ScaleSchema schema) {
  return schema == ScaleSchema::Ours ? "wavesmith-1" : "1";
}

Status ScaleArtifact::validate() const {
  WAVESMITH_TRY(validateRun(run));
  WAVESMITH_TRY(validatePercentile(percentile));
  if (schema == ScaleSchema::Published)
    WAVESMITH_TRY(validatePublished(*this));
  else if (!statesMargin)
    return error(StatusCode::InvalidArgument, "margin is missing; schema {} states it",
                 scaleSchemaName(schema));
  if (layers.empty() || layers.size() != static_cast<std::size_t>(run.numLayers))
    return error(StatusCode::InvalidArgument, "num_layers is {}; q, k and v have scales of {}",
                 run.numLayers, describeLayers(*this));
  int last = -1;
  for (const LayerScales &layer : layers) {
    if (layer.index <= last || layer.index >= kMaxLayers)
      return error(StatusCode::InvalidArgument,
                   "layer {} stands behind layer {}; want rising indices from 0 to {}", layer.index,
                   last, kMaxLayers - 1);
    last = layer.index;
    if (const Status status = validateLayer(*this, layer); !status.isOk())
      return status.withContext(fmt::format("layer {}", layer.index));
  }
  return Status::ok();
}

const LayerScales *ScaleArtifact::find(int index) const {
  const auto found = std::ranges::lower_bound(layers, index, {}, &LayerScales::index);
  return found == layers.end() || found->index != index ? nullptr : &*found;
}

std::string ScaleArtifact::digest() const { return contentDigest(toSafetensors(*this)); }

Expected<std::vector<std::byte>> ScaleArtifact::print() const {
  WAVESMITH_TRY(validate());
  return toSafetensors(*this).print();
}

Status ScaleArtifact::write(const std::string &path) const {
  const Expected<std::vector<std::byte>> bytes = print();
  if (!bytes)
    return bytes.status().withContext("write " + path);
  return publishFile(path, *bytes);
}

Expected<ScaleArtifact> ScaleArtifact::parse(std::span<const std::byte> file,
                                             std::string_view origin) {
  WAVESMITH_ASSIGN(const Safetensors container, Safetensors::parse(file, origin));
  Expected<ScaleArtifact> artifact = fromSafetensors(container);
  Status status = artifact.status();
  if (status.isOk())
    status = artifact->validate();
  if (!status.isOk())
    return error(StatusCode::Corrupt, "{}: {}", origin, status.message());
  return artifact;
}

Expected<ScaleArtifact> ScaleArtifact::read(const std::string &path) {
  WAVESMITH_ASSIGN(const std::vector<std::byte> file, readFile(path, kMaxFileBytes));
  return parse(file, path);
}

Expected<ScaleArtifact> ScaleArtifact::reshard(int tpSize, int ppSize) const {
  ScaleArtifact other = *this;
  other.run.tpSize = tpSize;
  other.run.ppSize = ppSize;
  WAVESMITH_TRY(validateRun(other.run));
  return other;
}

std::vector<RunField> artifactFields(const ScaleArtifact &artifact) {
  std::vector<RunField> fields = runFields(artifact.run);
  for (RunField &field : fields)
    if (field.name == "margin" && !artifact.statesMargin)
      field.value = "not stated";
  fields.push_back({"schema", std::string(scaleSchemaName(artifact.schema))});
  fields.push_back({"percentile", fmt::format("{}", artifact.percentile)});
  fields.push_back({"tokens", std::to_string(artifact.tokens)});
  fields.push_back({"calibration_shards", std::to_string(artifact.calibrationShards)});
  return fields;
}

} // namespace wavesmith
