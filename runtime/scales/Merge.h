#pragma once
// From the shards of all ranks to one artifact. Nothing is guessed: a rank or layer that is missing
// or there twice, a field in which two shards differ, a number that cannot be, is an error that
// names the files. Pure; any thread.

#include <optional>
#include <string>
#include <vector>

#include "runtime/scales/Artifact.h"
#include "runtime/scales/Shard.h"
#include "runtime/support/Status.h"

namespace wavesmith {

struct NamedShard {
  std::string origin; ///< the file, for messages
  CalibrationShard shard;
};

struct MergeOptions {
  ScaleSchema schema = ScaleSchema::Ours; ///< of the result
  /// Maxima know no format and no margin, so these may differ from what the shards state.
  std::optional<Fp8Format> fp8;
  std::optional<double> margin;
  /// Below 100: a scale covers this share of a head's magnitudes, which needs their histograms.
  double percentile = 100;
  /// Layers that there must be, for shards that do not state it (the published schema).
  int numLayers = 0;
};

/// InvalidArgument when the shards are not one whole calibration.
Expected<ScaleArtifact> mergeShards(const std::vector<NamedShard> &shards,
                                    const MergeOptions &options = {});

} // namespace wavesmith
