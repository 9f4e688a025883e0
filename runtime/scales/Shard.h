#pragma once
// What one (pp, tp) rank measured in a calibration run: for each of its layers and heads the
// largest magnitude of q, k and v. The file is JSON with a digest; a rank without layers writes one
// too, so that a missing file is always a mistake. Maxima know no FP8 format: merging turns them
// into scales. Plain values; any thread, each file one writer.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scales/Calibration.h"
#include "runtime/scales/Histogram.h"
#include "runtime/support/Status.h"

namespace wavesmith {

/// Of one layer on one rank. With CalibrationRun::rotationSeed, of the rotated q and k.
struct LayerMaxima {
  int index = 0;           ///< in the model, from 0; layers without FP8 attention leave gaps
  std::string runtimeName; ///< "model.layers.3.self_attn.attn"
  HeadValues amax;         ///< localCount(run, which) values, each finite and positive
  /// For percentile scales: one for each head, of the magnitudes that amax is the largest of.
  /// Empty when the collector made none.
  PerQkv<std::vector<MagnitudeHistogram>> histograms;

  bool operator==(const LayerMaxima &) const = default;
};

struct CalibrationShard {
  CalibrationRun run;
  int tpRank = 0, ppRank = 0;
  std::uint64_t tokens = 0;        ///< that the rank saw while it measured; 0 = not counted
  std::vector<LayerMaxima> layers; ///< by rising index; may be empty

  bool operator==(const CalibrationShard &) const = default;

  /// Ok, or the field (a layer's with its index and head), its value and what would be right.
  Status validate() const;
  /// "fp8-scales-pp00-tp03.json": every rank its own.
  static std::string fileName(int ppRank, int tpRank);
  /// The file's text; the identity of the checkpoint is written as its commit.
  Expected<std::string> print() const;
  /// Validates, then writes so that readers see the older file or the whole new one, also after a
  /// crash. An error leaves the older file as it is.
  Status write(const std::string &path) const;

  /// Reads ours, and those of the published schema 1 (which say neither num_layers nor kv_heads: as
  /// many as heads). Corrupt for anything that does not fit, led by `origin`.
  static Expected<CalibrationShard> parse(std::string_view text, std::string_view origin);
  static Expected<CalibrationShard> read(const std::string &path);
};

} // namespace wavesmith
