#pragma once
// The scales of a model, merged from all ranks of a calibration: one safetensors file with a
// descale for each layer and head and the maxima that it was made from. Two schemas, told apart by
// the metadata's "schema": ours ("wavesmith-1", with a digest over the content) and the published
// "1". docs/calibration.md lists the keys. Plain values; any thread, each file one writer.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scales/Calibration.h"
#include "runtime/scales/Safetensors.h"
#include "runtime/support/Status.h"

namespace wavesmith {

enum class ScaleSchema : std::uint8_t { Ours, Published };
std::string_view scaleSchemaName(ScaleSchema schema); ///< "wavesmith-1", "1"

struct LayerScales {
  int index = 0;
  std::string runtimeName; ///< empty in the published schema
  HeadValues descale;      ///< of every head of the model, rank after rank
  HeadValues amax;         ///< likewise; empty in the published schema

  bool operator==(const LayerScales &) const = default;
};

struct ScaleArtifact {
  ScaleSchema schema = ScaleSchema::Ours;
  CalibrationRun run; ///< numLayers is that of `layers`
  /// Whether the file states run.margin; the published schema may not.
  bool statesMargin = true;
  double percentile = 100;         ///< of magnitudes that a scale covers; 100 = all, above 0
  std::uint64_t tokens = 0;        ///< the fewest that a rank saw; 0 = not counted
  int calibrationShards = 0;       ///< files that were merged; 0 = not stated
  std::vector<LayerScales> layers; ///< by rising index, at least one

  bool operator==(const ScaleArtifact &) const = default;

  /// Ok, or the field, its value and what would be right: every number finite and positive, counts
  /// those of the model, and each descale the one that its maximum gives (with a percentile: at
  /// most that). In the published schema only what it can say: fnuz, 192/128, one key/value head
  /// for each head, no rotation, no percentile.
  Status validate() const;
  /// Null when the file has no such layer.
  const LayerScales *find(int index) const;
  /// SHA-256 over metadata and tensors, as docs/calibration.md defines it; of ours it stands in the
  /// file.
  std::string digest() const;

  /// The file's bytes.
  Expected<std::vector<std::byte>> print() const;
  /// Validates, then writes so that readers see the older file or the whole new one.
  Status write(const std::string &path) const;
  /// Corrupt for anything that does not fit, led by `origin`: unknown and missing keys and tensors
  /// too.
  static Expected<ScaleArtifact> parse(std::span<const std::byte> file, std::string_view origin);
  static Expected<ScaleArtifact> read(const std::string &path);

  /// The same scales for ranks of another number. Exact, since they are kept for the whole model;
  /// InvalidArgument when the heads cannot be dealt so.
  Expected<ScaleArtifact> reshard(int tpSize, int ppSize) const;
};

/// Everything besides the layers by the names of the files, for people.
std::vector<RunField> artifactFields(const ScaleArtifact &artifact);

} // namespace wavesmith
