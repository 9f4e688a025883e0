#include "runtime/scales/Merge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/scales/ArtifactTensors.h"

namespace wavesmith {
namespace {

/// By (pp, tp).
using Ranks = std::map<std::pair<int, int>, const NamedShard *>;

std::string rankName(std::pair<int, int> rank) {
  return fmt::format("pp {}, tp {}", rank.first, rank.second);
}

Status checkSameRun(const NamedShard &first, const NamedShard &other) {
  const std::vector<RunField> want = runFields(first.shard.run);
  const std::vector<RunField> have = runFields(other.shard.run);
  for (std::size_t i = 0; i < want.size(); ++i)
    if (have[i].value != want[i].value)
      return error(StatusCode::InvalidArgument, "{}: {} is {}; {} has {}", other.origin,
                   have[i].name, have[i].value, first.origin, want[i].value);
  return Status::ok();
}

Expected<Ranks> arrangeRanks(const std::vector<NamedShard> &shards) {
  Ranks ranks;
  for (const NamedShard &named : shards) {
    const std::pair rank(named.shard.ppRank, named.shard.tpRank);
    if (const auto [at, isNew] = ranks.emplace(rank, &named); !isNew)
      return error(StatusCode::InvalidArgument, "{} and {} are both of rank {}", at->second->origin,
                   named.origin, rankName(rank));
  }
  const CalibrationRun &run = shards.front().shard.run;
  const std::size_t want = std::size_t(run.ppSize) * std::size_t(run.tpSize);
  if (ranks.size() == want)
    return ranks;
  // Every rank is in range and there once, so some are missing.
  std::pair missing(0, 0);
  for (const auto &[rank, named] : ranks) {
    if (rank != missing)
      break;
    missing = missing.second + 1 < run.tpSize ? std::pair(rank.first, rank.second + 1)
                                              : std::pair(rank.first + 1, 0);
  }
  return error(StatusCode::InvalidArgument, "no shard of rank {}{}; pp_size is {} and tp_size {}",
               rankName(missing),
               want - ranks.size() > 1 ? fmt::format(" and of {} others", want - ranks.size() - 1)
                                       : "",
               run.ppSize, run.tpSize);
}

const LayerMaxima *findLayer(const CalibrationShard &shard, int index) {
  const auto found = std::ranges::lower_bound(shard.layers, index, {}, &LayerMaxima::index);
  return found == shard.layers.end() || found->index != index ? nullptr : &*found;
}

/// The ranks of a stage have the same layers, no two stages have one in common.
Status checkLayers(const Ranks &ranks) {
  std::map<int, const NamedShard *> owners;
  for (const auto &[rank, named] : ranks) {
    const NamedShard &first = *ranks.at({rank.first, 0});
    for (const LayerMaxima &layer : named->shard.layers) {
      const LayerMaxima *same = findLayer(first.shard, layer.index);
      if (!same)
        return error(StatusCode::InvalidArgument,
                     "{} has no layer {}, which {} of the same stage has", first.origin,
                     layer.index, named->origin);
      if (same->runtimeName != layer.runtimeName)
        return error(StatusCode::InvalidArgument, "{}: layer {} is {}; {} has {}", named->origin,
                     layer.index, layer.runtimeName, first.origin, same->runtimeName);
    }
    for (const LayerMaxima &layer : first.shard.layers)
      if (!findLayer(named->shard, layer.index))
        return error(StatusCode::InvalidArgument,
                     "{} has no layer {}, which {} of the same stage has", named->origin,
                     layer.index, first.origin);
    if (rank.second != 0)
      continue;
    for (const LayerMaxima &layer : first.shard.layers)
      if (const auto [at, isNew] = owners.emplace(layer.index, &first); !isNew)
        return error(StatusCode::InvalidArgument, "{} and {} both have layer {}",
                     at->second->origin, first.origin, layer.index);
  }
  return Status::ok();
}

/// A head's magnitudes over all ranks that hold it.
struct HeadStatistics {
  float amax = 0;
  const NamedShard *from = nullptr; ///< that has it
  MagnitudeHistogram histogram;
};

Expected<std::vector<HeadStatistics>> gatherHeads(const Ranks &ranks, int stage, int index,
                                                  Qkv which, bool histograms) {
  const CalibrationRun &run = ranks.begin()->second->shard.run;
  std::vector<HeadStatistics> heads(static_cast<std::size_t>(totalCount(run, which)));
  for (int tpRank = 0; tpRank < run.tpSize; ++tpRank) {
    const NamedShard &named = *ranks.at({stage, tpRank});
    const LayerMaxima &layer = *findLayer(named.shard, index);
    if (histograms && layer.histograms[which].empty())
      return error(StatusCode::InvalidArgument,
                   "{}: layer {} has no {}_histogram; a percentile needs one of each head",
                   named.origin, index, qkvName(which));
    const auto first = static_cast<std::size_t>(firstHead(run, which, tpRank));
    for (std::size_t i = 0; i < layer.amax[which].size(); ++i) {
      HeadStatistics &head = heads[first + i];
      // Ranks that share a key/value head saw the same; should rounding differ, the larger counts.
      if (layer.amax[which][i] > head.amax) { // maxima are positive, so one is
        head.amax = layer.amax[which][i];
        head.from = &named;
      }
      if (histograms)
        head.histogram = head.histogram.counts.empty()
                             ? layer.histograms[which][i]
                             : addHistograms(head.histogram, layer.histograms[which][i]);
    }
  }
  return heads;
}

Expected<LayerScales> mergeLayer(const Ranks &ranks, int stage, const LayerMaxima &first,
                                 const ScaleArtifact &artifact) {
  LayerScales layer;
  layer.index = first.index;
  const bool ours = artifact.schema == ScaleSchema::Ours;
  if (ours)
    layer.runtimeName = first.runtimeName;
  const bool partly = artifact.percentile < 100;
  for (const Qkv which : kQkv) {
    WAVESMITH_ASSIGN(const std::vector<HeadStatistics> heads,
                     gatherHeads(ranks, stage, first.index, which, partly));
    for (const HeadStatistics &head : heads) {
      // A bucket's edge may lie above the largest magnitude in it.
      const float covered =
          partly ? std::min(head.amax, magnitudeAt(head.histogram, artifact.percentile))
                 : head.amax;
      const Expected<float> descale = descaleOf(covered, artifact.run.margin, artifact.run.fp8);
      if (!descale)
        return descale.status().withContext(fmt::format("{}: layer {}: {} of head {}",
                                                        head.from->origin, first.index,
                                                        qkvName(which), &head - heads.data()));
      layer.descale[which].push_back(*descale);
      if (ours)
        layer.amax[which].push_back(head.amax);
    }
  }
  return layer;
}

/// Of the ranks that measured something.
std::uint64_t fewestTokens(const std::vector<NamedShard> &shards) {
  std::optional<std::uint64_t> fewest;
  for (const NamedShard &named : shards)
    if (!named.shard.layers.empty())
      fewest = std::min(fewest.value_or(named.shard.tokens), named.shard.tokens);
  return fewest.value_or(0);
}

} // namespace

Expected<ScaleArtifact> mergeShards(const std::vector<NamedShard> &shards,
                                    const MergeOptions &options) {
  if (shards.empty())
    return Status(StatusCode::InvalidArgument, "there are no shards to merge");
  for (const NamedShard &named : shards) {
    if (const Status status = named.shard.validate(); !status.isOk())
      return status.withContext(named.origin);
    WAVESMITH_TRY(checkSameRun(shards.front(), named));
  }
  WAVESMITH_ASSIGN(const Ranks ranks, arrangeRanks(shards));
  WAVESMITH_TRY(checkLayers(ranks));

  ScaleArtifact artifact;
  artifact.schema = options.schema;
  artifact.run = shards.front().shard.run;
  artifact.run.fp8 = options.fp8.value_or(artifact.run.fp8);
  artifact.run.margin = options.margin.value_or(artifact.run.margin);
  artifact.percentile = options.percentile;
  artifact.calibrationShards = static_cast<int>(shards.size());
  WAVESMITH_TRY(validateRun(artifact.run));
  WAVESMITH_TRY(validatePercentile(artifact.percentile));
  for (int stage = 0; stage < artifact.run.ppSize; ++stage)
    for (const LayerMaxima &layer : ranks.at({stage, 0})->shard.layers) {
      WAVESMITH_ASSIGN(LayerScales merged, mergeLayer(ranks, stage, layer, artifact));
      artifact.layers.push_back(std::move(merged));
    }
  std::ranges::sort(artifact.layers, {}, &LayerScales::index);
  if (artifact.schema == ScaleSchema::Ours) // the published one has no place for it
    artifact.tokens = fewestTokens(shards);

  const auto found = static_cast<int>(artifact.layers.size());
  for (const auto &[name, want] : {std::pair("num_layers of the shards", artifact.run.numLayers),
                                   std::pair("the number of layers asked for", options.numLayers)})
    if (want != 0 && want != found)
      return error(StatusCode::InvalidArgument, "{} is {}; the shards have {}", name, want,
                   describeLayers(artifact));
  artifact.run.numLayers = found;
  WAVESMITH_TRY(artifact.validate());
  return artifact;
}

} // namespace wavesmith
