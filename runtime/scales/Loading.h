#pragma once
// From a configured artifact to the descales that a process hands to its quantisers. Everything is
// checked before anything is compiled, and an artifact that does not fit is an error: a process
// that was told to use calibrated scales never runs on others. Pure but for reading the file.

#include <string>
#include <vector>

#include "runtime/scales/Artifact.h"
#include "runtime/scales/Calibration.h"
#include "runtime/support/Status.h"

namespace wavesmith {

/// What the process is going to run.
struct ScaleExpectation {
  /// All but `revision` and `margin` must be the artifact's; `calibrationId` too unless it is
  /// empty. `fp8` is the target's format (parseTarget), `numLayers` counts all stages.
  CalibrationRun run;
  int tpRank = 0;
  struct Layer {
    int index = 0;
    std::string runtimeName; ///< compared when both sides have one
  };
  std::vector<Layer> layers; ///< that this process runs; a stage may have none
};

/// One rank's share of an artifact.
struct LoadedScales {
  std::string path;   ///< of the file
  std::string digest; ///< ScaleArtifact::digest, for logs and reports
  ScaleSchema schema = ScaleSchema::Ours;
  CalibrationRun run; ///< as the file has it
  struct Layer {
    int index = 0;
    /// float32 [localHeads] for q, [localKvHeads] for k and v: what quantisers and attention take.
    HeadValues descale;
  };
  std::vector<Layer> layers; ///< in the order of ScaleExpectation::layers

  /// Null when the process has no such layer.
  const Layer *find(int index) const;
};

/// Ok, or the first field that does not fit: its name, both values and the file.
Status checkScales(const ScaleArtifact &artifact, const std::string &path,
                   const ScaleExpectation &expectation);
/// NotFound, Corrupt or InvalidArgument, each with the path, as the file is missing, broken or not
/// for this process.
Expected<LoadedScales> loadScales(const std::string &path, const ScaleExpectation &expectation);

} // namespace wavesmith
