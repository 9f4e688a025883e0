#include "runtime/scales/Loading.h"

#include <algorithm>
#include <utility>

#include "runtime/scales/ArtifactTensors.h"

namespace wavesmith {
namespace {

/// How to get an artifact that fits, where there is a way short of another calibration run.
std::string remedy(std::string_view field, const CalibrationRun &want) {
  if (field == "tp_size" || field == "pp_size")
    return fmt::format("; wavesmith calibrate reshard --tp {} --pp {} makes one that fits",
                       want.tpSize, want.ppSize);
  if (field == "fp8_dtype")
    return fmt::format("; codes of the two formats differ: merge the shards with --fp8 {}",
                       fp8FormatName(want.fp8));
  return "";
}

Status checkRun(const ScaleArtifact &artifact, const std::string &path,
                const ScaleExpectation &expectation) {
  const std::vector<RunField> have = runFields(artifact.run);
  const std::vector<RunField> want = runFields(expectation.run);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const std::string_view name = want[i].name;
    const bool free = name == "revision" || name == "margin" ||
                      (name == "calibration_id" && want[i].value.empty());
    if (!free && have[i].value != want[i].value)
      return error(StatusCode::InvalidArgument, "{}: {} is {}, this process has {}{}", path, name,
                   have[i].value, want[i].value, remedy(name, expectation.run));
  }
  return Status::ok();
}

} // namespace

const LoadedScales::Layer *LoadedScales::find(int index) const {
  const auto found = std::ranges::find(layers, index, &Layer::index);
  return found == layers.end() ? nullptr : &*found;
}

Status checkScales(const ScaleArtifact &artifact, const std::string &path,
                   const ScaleExpectation &expectation) {
  WAVESMITH_TRY(checkRun(artifact, path, expectation));
  if (expectation.tpRank < 0 || expectation.tpRank >= artifact.run.tpSize)
    return error(StatusCode::InvalidArgument, "{}: tp_size is {}, this process has tp_rank {}",
                 path, artifact.run.tpSize, expectation.tpRank);
  for (const ScaleExpectation::Layer &layer : expectation.layers) {
    const LayerScales *found = artifact.find(layer.index);
    if (!found)
      return error(StatusCode::InvalidArgument, "{}: has {}, this process runs layer {}", path,
                   describeLayers(artifact), layer.index);
    if (!found->runtimeName.empty() && !layer.runtimeName.empty() &&
        found->runtimeName != layer.runtimeName)
      return error(StatusCode::InvalidArgument,
                   "{}: runtime_name of layer {} is {}, this process has {}", path, layer.index,
                   found->runtimeName, layer.runtimeName);
  }
  return Status::ok();
}

Expected<LoadedScales> loadScales(const std::string &path, const ScaleExpectation &expectation) {
  // An identity that is not asked for has nothing to be checked.
  CalibrationRun wanted = expectation.run;
  if (wanted.calibrationId.empty())
    wanted.calibrationId = "any";
  if (const Status status = validateRun(wanted); !status.isOk())
    return status.withContext("the description of this process");
  const Expected<ScaleArtifact> artifact = ScaleArtifact::read(path);
  if (!artifact)
    return artifact.status().withContext("calibrated scales");
  if (const Status status = checkScales(*artifact, path, expectation); !status.isOk())
    return status.withContext("calibrated scales");
  LoadedScales scales{path, artifact->digest(), artifact->schema, artifact->run, {}};
  for (const ScaleExpectation::Layer &wantedLayer : expectation.layers) {
    LoadedScales::Layer layer;
    layer.index = wantedLayer.index;
    for (const Qkv which : kQkv) {
      const auto first = artifact->find(layer.index)->descale[which].begin() +
                         firstHead(artifact->run, which, expectation.tpRank);
      layer.descale[which].assign(first, first + localCount(artifact->run, which));
    }
    scales.layers.push_back(std::move(layer));
  }
  return scales;
}

} // namespace wavesmith
