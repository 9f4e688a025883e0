// From shards to an artifact: every head lands where the model has it; what is no whole calibration
// is refused with the files' names. And how two artifacts differ.

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/scales/Diff.h"
#include "runtime/scales/Merge.h"
#include "tests/unit/scales/ScalesFixture.h"

using namespace wavesmith;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::vector<NamedShard> named(std::vector<CalibrationShard> shards) {
  std::vector<NamedShard> result;
  for (CalibrationShard &shard : shards)
    result.push_back({fmt::format("p{}t{}", shard.ppRank, shard.tpRank), std::move(shard)});
  return result;
}

std::string refusal(const std::function<void(std::vector<NamedShard> &)> &change,
                    const MergeOptions &options = {}) {
  std::vector<NamedShard> shards = named(test::smallShards());
  change(shards);
  const auto artifact = mergeShards(shards, options);
  return artifact ? "accepted" : artifact.status().message();
}

TEST(Merge, EveryHeadLandsWhereTheModelHasIt) {
  std::vector<NamedShard> shards = named(test::smallShards());
  std::ranges::reverse(shards); // the order of the files means nothing
  const auto artifact = mergeShards(shards);
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_EQ(artifact->calibrationShards, 4);
  EXPECT_EQ(artifact->tokens, 70'000U);
  ASSERT_EQ(artifact->layers.size(), 3U);
  for (const LayerScales &layer : artifact->layers) {
    EXPECT_EQ(layer.runtimeName, fmt::format("model.layers.{}.self_attn.attn", layer.index));
    for (const Qkv which : kQkv) {
      ASSERT_EQ(layer.amax[which].size(), which == Qkv::Q ? 4U : 2U);
      for (int head = 0; head < int(layer.amax[which].size()); ++head) {
        const float amax = test::maximumOf(layer.index, which, head);
        EXPECT_EQ(layer.amax[which][head], amax);
        EXPECT_EQ(layer.descale[which][head], amax * 1.1F / 240);
      }
    }
  }
}

TEST(Merge, AHeadOnSeveralRanksCountsOnce) {
  CalibrationRun run = test::smallRun();
  run.tpSize = 4;
  run.ppSize = 1;
  std::vector<CalibrationShard> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.push_back(test::shardOf(run, 0, rank, {0, 2, 5}));
  ranks[3].layers[0].amax.k[0] = 99; // ranks 2 and 3 both hold key/value head 1
  const auto artifact = mergeShards(named(ranks));
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_THAT(artifact->layers[0].amax.k, ElementsAre(test::maximumOf(0, Qkv::K, 0), 99));
  EXPECT_THAT(artifact->layers[0].amax.v,
              ElementsAre(test::maximumOf(0, Qkv::V, 0), test::maximumOf(0, Qkv::V, 1)));
  EXPECT_EQ(artifact->layers[2].amax.q.size(), 4U);
}

TEST(Merge, StagesWithoutLayersAreRanksToo) {
  CalibrationRun run = test::smallRun();
  run.ppSize = 3;
  std::vector<CalibrationShard> ranks = test::smallShards(run);
  for (int rank = 0; rank < 2; ++rank) {
    ranks.push_back(test::shardOf(run, 2, rank, {}));
    ranks.back().tokens = 5; // no layer of it was measured with so few
  }
  const auto artifact = mergeShards(named(ranks));
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_EQ(artifact->layers.size(), 3U);
  EXPECT_EQ(artifact->tokens, 70'000U);
  ranks.pop_back();
  EXPECT_THAT(mergeShards(named(ranks)).status().message(),
              HasSubstr("no shard of rank pp 2, tp 1; pp_size is 3 and tp_size 2"));
}

TEST(Merge, MaximaServeAnyFormatAndMargin) {
  MergeOptions options;
  options.fp8 = Fp8Format::E4M3Ocp;
  options.margin = 1.25;
  const auto artifact = mergeShards(named(test::smallShards()), options);
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_EQ(artifact->run.fp8, Fp8Format::E4M3Ocp);
  EXPECT_EQ(artifact->layers[1].descale.q[3], test::maximumOf(2, Qkv::Q, 3) * 1.25F / 448);
  options.margin = 0.9;
  EXPECT_THAT(mergeShards(named(test::smallShards()), options).status().message(),
              HasSubstr("margin is 0.9"));
}

TEST(Merge, APercentileFollowsTheHistograms) {
  const auto histogrammed = [](std::vector<NamedShard> &shards) {
    for (NamedShard &shard : shards)
      for (LayerMaxima &layer : shard.shard.layers)
        for (const Qkv which : kQkv)
          for (const float amax : layer.amax[which]) {
            const std::uint32_t top = magnitudeBucket(amax);
            layer.histograms[which].push_back({top - 8, {990, 0, 0, 0, 0, 0, 0, 0, 10}});
          }
  };
  std::vector<NamedShard> shards = named(test::smallShards());
  MergeOptions options;
  options.percentile = 99;
  EXPECT_THAT(mergeShards(shards, options).status().message(),
              HasSubstr("p0t0: layer 0 has no q_histogram; a percentile needs one of each head"));
  histogrammed(shards);
  const auto artifact = mergeShards(shards, options);
  ASSERT_TRUE(artifact) << artifact.status().message();
  const LayerScales &layer = artifact->layers[0];
  const float covered = bucketEdge(magnitudeBucket(layer.amax.q[1]) - 7);
  EXPECT_LT(covered, layer.amax.q[1]);
  EXPECT_EQ(layer.descale.q[1], covered * 1.1F / 240);
  for (const double none : {0.0, -1e300, 100.5}) {
    options.percentile = none;
    EXPECT_THAT(mergeShards(shards, options).status().message(), HasSubstr("percentile is"));
  }
  // All of them: the largest magnitude, not the edge above it.
  options.percentile = 99.5;
  EXPECT_EQ(mergeShards(shards, options)->layers[0].descale.q[1], layer.amax.q[1] * 1.1F / 240);
}

TEST(Merge, EveryMixedFieldIsNamed) {
  struct Mixed {
    const char *field;
    std::function<void(CalibrationRun &)> change;
  };
  const std::vector<Mixed> fields = {
      {"model", [](CalibrationRun &run) { run.model = "other"; }},
      {"revision", [](CalibrationRun &run) { run.revision = ""; }},
      {"checkpoint_id", [](CalibrationRun &run) { run.checkpointId = "abcdef0"; }},
      {"calibration_id", [](CalibrationRun &run) { run.calibrationId = "other"; }},
      {"tp_size", [](CalibrationRun &run) { run.tpSize = 4, run.heads = 8; }},
      {"pp_size", [](CalibrationRun &run) { run.ppSize = 3; }},
      {"heads", [](CalibrationRun &run) { run.heads = 8; }},
      {"kv_heads", [](CalibrationRun &run) { run.kvHeads = 4; }},
      {"qk_head_dim", [](CalibrationRun &run) { run.headDimQk = 128; }},
      {"v_head_dim", [](CalibrationRun &run) { run.headDimV = 64; }},
      {"fp8_dtype", [](CalibrationRun &run) { run.fp8 = Fp8Format::E4M3Ocp; }},
      {"cache_mode", [](CalibrationRun &run) { run.cacheMode = "bf16"; }},
      {"margin", [](CalibrationRun &run) { run.margin = 1.2; }},
      {"rotation_seed", [](CalibrationRun &run) { run.rotationSeed = 9; }},
      {"num_layers", [](CalibrationRun &run) { run.numLayers = 4; }},
  };
  EXPECT_EQ(fields.size(), runFields(test::smallRun()).size()) << "a test of each field";
  for (const Mixed &mixed : fields)
    EXPECT_THAT(
        refusal([&](std::vector<NamedShard> &shards) {
          CalibrationShard &last = shards.back().shard;
          mixed.change(last.run);
          const bool heads = last.run.heads != 4 || last.run.kvHeads != 2;
          if (heads)
            last.layers = {test::layerOf(last.run, 5, 1)};
        }),
        AllOf(HasSubstr(fmt::format("p1t1: {} is ", mixed.field)), HasSubstr("; p0t0 has ")));
}

TEST(Merge, RanksAndLayersAreThereOnce) {
  using Shards = std::vector<NamedShard>;
  EXPECT_THAT(mergeShards({}).status().message(), HasSubstr("no shards"));
  EXPECT_THAT(refusal([](Shards &s) { s[3].shard.tpRank = 0; }),
              HasSubstr("p1t0 and p1t1 are both of rank pp 1, tp 0"));
  EXPECT_THAT(refusal([](Shards &s) { s.erase(s.begin()); }),
              HasSubstr("no shard of rank pp 0, tp 0; pp_size is 2 and tp_size 2"));
  EXPECT_THAT(refusal([](Shards &s) { s.resize(2); }),
              HasSubstr("no shard of rank pp 1, tp 0 and of 1 others"));
  EXPECT_THAT(refusal([](Shards &s) { s[1].shard.layers.pop_back(); }),
              HasSubstr("p0t1 has no layer 2, which p0t0 of the same stage has"));
  EXPECT_THAT(refusal([](Shards &s) { s[0].shard.layers.pop_back(); }),
              HasSubstr("p0t0 has no layer 2, which p0t1 of the same stage has"));
  EXPECT_THAT(refusal([](Shards &s) {
                for (const int i : {2, 3})
                  s[i].shard.layers.insert(s[i].shard.layers.begin(),
                                           test::layerOf(test::smallRun(), 2, i - 2));
              }),
              HasSubstr("p0t0 and p1t0 both have layer 2"));
  EXPECT_THAT(refusal([](Shards &s) { s[1].shard.layers[1].runtimeName = "x"; }),
              HasSubstr("p0t1: layer 2 is x; p0t0 has model.layers.2.self_attn.attn"));
  EXPECT_THAT(refusal([](Shards &s) {
                for (NamedShard &shard : s)
                  shard.shard.run.numLayers = 61;
              }),
              HasSubstr("num_layers of the shards is 61; the shards have 3 layers (0, 2, 5)"));
  EXPECT_THAT(refusal([](Shards &s) {
                for (NamedShard &shard : s) {
                  shard.shard.run.numLayers = 0;
                  shard.shard.layers.clear();
                }
              }),
              HasSubstr("num_layers is 0; q, k and v have scales of 0 layers"));
  MergeOptions options;
  options.numLayers = 4;
  EXPECT_THAT(refusal(
                  [](Shards &s) {
                    for (NamedShard &shard : s)
                      shard.shard.run.numLayers = 0; // as published shards
                  },
                  options),
              HasSubstr("layers asked for is 4; the shards have 3 layers"));
}

TEST(Merge, NumbersThatCannotBeAreNamed) {
  using Shards = std::vector<NamedShard>;
  EXPECT_THAT(refusal([](Shards &s) { s[2].shard.layers[0].amax.v[0] = 0; }),
              HasSubstr("p1t0: layer 5: v_amax of head 0 is 0; want a finite positive number"));
  EXPECT_THAT(refusal([](Shards &s) { s[2].shard.layers[0].amax.v.push_back(1); }),
              HasSubstr("p1t0: layer 5: v_amax has 2 values; the rank has 1 heads"));
  EXPECT_THAT(
      refusal([](Shards &s) { s[3].shard.layers[0].amax.q[1] = 3.3e38F; }),
      HasSubstr("layer 5: q of head 3: the maximum 3.3e+38 times the margin 1.1 is beyond"));
}

TEST(Diff, EqualArtifactsAreTheSame) {
  EXPECT_TRUE(compareArtifacts(test::smallArtifact(), test::smallArtifact()).same());
}

TEST(Diff, EveryDifferenceIsFound) {
  const ScaleArtifact a = test::smallArtifact();
  ScaleArtifact b = a;
  b.run.calibrationId = "other";
  b.tokens = 3;
  b.layers[0].descale.k[1] *= 2;
  b.layers[0].descale.k[0] *= 0.9F;
  b.layers[2].index = 6;
  const ScaleDifference difference = compareArtifacts(a, b);
  ASSERT_EQ(difference.fields.size(), 2U);
  EXPECT_EQ(difference.fields[0].name, "calibration_id");
  EXPECT_EQ(difference.fields[0].b, "other");
  EXPECT_EQ(difference.fields[1].name, "tokens");
  EXPECT_THAT(difference.onlyA, ElementsAre(5));
  EXPECT_THAT(difference.onlyB, ElementsAre(6));
  ASSERT_EQ(difference.values.size(), 1U);
  const auto &values = difference.values[0];
  EXPECT_EQ(values.layer, 0);
  EXPECT_EQ(values.which, Qkv::K);
  EXPECT_EQ(values.heads, 2);
  EXPECT_EQ(values.worst, 1);
  EXPECT_EQ(values.b, 2 * values.a);
  EXPECT_FALSE(difference.same());
}

} // namespace
