#pragma once
// What `wavesmith calibrate` says about shards, artifacts and their differences: one JSON object
// and the same as text for people. Pure functions.

#include <string>

#include "runtime/scales/Artifact.h"
#include "runtime/scales/Diff.h"
#include "runtime/scales/Shard.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {

/// Of one file: fields, and for each layer the numbers of every head.
Json describeArtifact(const std::string &path, const ScaleArtifact &artifact);
Json describeShard(const std::string &path, const CalibrationShard &shard);
/// The fields, and one line a layer: smallest, median and largest of its heads.
std::string printArtifact(const std::string &path, const ScaleArtifact &artifact);
std::string printShard(const std::string &path, const CalibrationShard &shard);

/// After writing an artifact.
Result wroteArtifact(const std::string &path, const ScaleArtifact &artifact);
Result compared(const std::string &a, const std::string &b, const ScaleDifference &difference);

} // namespace wavesmith::cli
