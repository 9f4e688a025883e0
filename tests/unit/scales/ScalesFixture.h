#pragma once
// A small calibration: two stages of two ranks, four heads over two key/value heads, layers 0, 2
// and 5; every head of every layer has maxima of its own.

#include <string>
#include <vector>

#include "runtime/scales/Artifact.h"
#include "runtime/scales/Merge.h"
#include "runtime/scales/Shard.h"

namespace wavesmith::test {

inline CalibrationRun smallRun() {
  CalibrationRun run;
  run.model = "example/Model-7B";
  run.revision = "main";
  run.checkpointId = "0123456789abcdef0123456789abcdef01234567";
  run.calibrationId = "2026-11-30-prompts-a";
  run.tpSize = run.ppSize = 2;
  run.heads = 4;
  run.kvHeads = 2;
  run.headDimQk = 192;
  run.headDimV = 128;
  run.fp8 = Fp8Format::E4M3Fnuz;
  run.cacheMode = "bf16_latent_cache";
  run.margin = 1.1;
  run.numLayers = 3;
  return run;
}

/// Of a head of the model: no two are alike, and none is a round number.
inline float maximumOf(int layer, Qkv which, int head) {
  return 0.7F + 1.3F * static_cast<float>(layer) + 17.1F * static_cast<float>(which) +
         0.31F * static_cast<float>(head);
}

inline LayerMaxima layerOf(const CalibrationRun &run, int index, int tpRank) {
  LayerMaxima layer;
  layer.index = index;
  layer.runtimeName = "model.layers." + std::to_string(index) + ".self_attn.attn";
  for (const Qkv which : kQkv)
    for (int head = 0; head < localCount(run, which); ++head)
      layer.amax[which].push_back(maximumOf(index, which, firstHead(run, which, tpRank) + head));
  return layer;
}

inline CalibrationShard shardOf(const CalibrationRun &run, int ppRank, int tpRank,
                                const std::vector<int> &layers) {
  CalibrationShard shard;
  shard.run = run;
  shard.tpRank = tpRank;
  shard.ppRank = ppRank;
  shard.tokens = 70'000;
  for (const int index : layers)
    shard.layers.push_back(layerOf(run, index, tpRank));
  return shard;
}

/// The small calibration's four shards, by stage and rank.
inline std::vector<CalibrationShard> smallShards(const CalibrationRun &run = smallRun()) {
  return {shardOf(run, 0, 0, {0, 2}), shardOf(run, 0, 1, {0, 2}), shardOf(run, 1, 0, {5}),
          shardOf(run, 1, 1, {5})};
}

/// The same scales in either schema; the published one knows no key/value heads of their own.
inline ScaleArtifact smallArtifact(ScaleSchema schema = ScaleSchema::Ours) {
  CalibrationRun run = smallRun();
  if (schema == ScaleSchema::Published)
    run.kvHeads = run.heads;
  std::vector<NamedShard> shards;
  for (CalibrationShard &shard : smallShards(run))
    shards.push_back({"shard " + std::to_string(shards.size()), std::move(shard)});
  MergeOptions options;
  options.schema = schema;
  return *mergeShards(shards, options);
}

} // namespace wavesmith::test
