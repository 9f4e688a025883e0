// Saves a calibration again and again, for tests/fault/scales_fault_test.py, which kills it and
// lets its calls fail.
//
//   scale_worker shard|artifact FILE a|b   once, with the one content or the other
//   scale_worker shard|artifact FILE       FILE.a and FILE.b, the two contents that FILE may have;
//                                          "ready" on stdout; then FILE in turn, for ever, with
//                                          "saved" on stdout after each

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "runtime/scales/Merge.h"
#include "runtime/scales/Shard.h"

using namespace wavesmith;

namespace {

/// One rank with every layer of a large model: more than a page and a pipe hold.
CalibrationShard shardOf(float factor) {
  CalibrationShard shard;
  shard.run.model = "example/Model";
  shard.run.checkpointId = "0123456789abcdef";
  shard.run.calibrationId = "run";
  shard.run.heads = shard.run.kvHeads = 16;
  shard.run.headDimQk = 192;
  shard.run.headDimV = 128;
  shard.run.fp8 = Fp8Format::E4M3Fnuz;
  shard.run.cacheMode = "bf16_latent_cache";
  shard.run.numLayers = 61;
  for (int index = 0; index < shard.run.numLayers; ++index) {
    LayerMaxima layer;
    layer.index = index;
    layer.runtimeName = fmt::format("model.layers.{}.self_attn.attn", index);
    for (const Qkv which : kQkv)
      for (int head = 0; head < 16; ++head)
        layer.amax[which].push_back(factor * static_cast<float>(1 + index * 16 + head));
    shard.layers.push_back(std::move(layer));
  }
  return shard;
}

Status write(const CalibrationShard &shard, bool artifact, const std::string &path) {
  if (!artifact)
    return shard.write(path);
  WAVESMITH_ASSIGN(const ScaleArtifact merged, mergeShards({{"shard", shard}}));
  return merged.write(path);
}

int fail(const Status &status) {
  fmt::print(stderr, "{}\n", status.message());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const bool artifact = argv[1] == std::string_view("artifact");
  const std::string path = argv[2];
  const std::vector<CalibrationShard> shards = {shardOf(0.7F), shardOf(1.3F)};
  if (argc > 3) {
    const Status status = write(shards[argv[3] == std::string_view("b")], artifact, path);
    return status.isOk() ? 0 : fail(status);
  }
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (const Status status = write(shards[i], artifact, path + (i == 0 ? ".a" : ".b"));
        !status.isOk())
      return fail(status);
  fmt::print("ready\n");
  std::fflush(stdout);
  for (std::size_t round = 0;; ++round) {
    if (const Status status = write(shards[round % 2], artifact, path); !status.isOk())
      return fail(status);
    fmt::print("saved\n");
    std::fflush(stdout);
  }
}
