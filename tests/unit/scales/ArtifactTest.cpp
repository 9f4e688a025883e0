// The merged artifact in both schemas: bits survive, every key and tensor is checked, the digest
// finds what still makes sense.

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/scales/ArtifactTensors.h"
#include "runtime/scales/Merge.h"
#include "tests/unit/scales/ScalesFixture.h"

using namespace wavesmith;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

ScaleArtifact parsed(const std::vector<std::byte> &bytes) {
  auto artifact = ScaleArtifact::parse(bytes, "a");
  EXPECT_TRUE(artifact) << artifact.status().message();
  return artifact ? *artifact : ScaleArtifact{};
}

std::string refusal(const Safetensors &file) {
  const auto artifact = ScaleArtifact::parse(*file.print(), "a.safetensors");
  if (artifact)
    return "accepted";
  EXPECT_EQ(artifact.status().code(), StatusCode::Corrupt);
  EXPECT_THAT(artifact.status().message(), StartsWith("a.safetensors: "));
  return artifact.status().message();
}

/// The file after a change, with a digest that fits, so that a test reaches the check behind it.
std::string refusal(ScaleSchema schema, const std::function<void(Safetensors &)> &change) {
  Safetensors file = toSafetensors(test::smallArtifact(schema));
  change(file);
  if (file.metadata.contains("sha256"))
    file.metadata["sha256"] = contentDigest(file);
  return refusal(file);
}

TEST(Artifact, SurvivesItsFile) {
  ScaleArtifact artifact = test::smallArtifact();
  artifact.run.model = "org/Modèle-模型";
  artifact.run.rotationSeed = 7;
  for (const ScaleArtifact &value : {artifact, test::smallArtifact(ScaleSchema::Published)}) {
    const auto bytes = value.print();
    ASSERT_TRUE(bytes) << bytes.status().message();
    EXPECT_EQ(parsed(*bytes), value);
    EXPECT_EQ(*parsed(*bytes).print(), *bytes);
  }
}

TEST(Artifact, DescalesHaveTheBitsOfThePublishedTool) {
  // (maxima * margin / finfo.max).clamp_min(1e-12) of float32 tensors; values computed with numpy.
  EXPECT_EQ(std::bit_cast<std::uint32_t>(*descaleOf(1.0F, 1.1, Fp8Format::E4M3Fnuz)), 0x3b962fcaU);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(*descaleOf(0.7F, 1.1, Fp8Format::E4M3Fnuz)), 0x3b5242e6U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(*descaleOf(17.1F, 1.37, Fp8Format::E4M3Ocp)), 0x3d563091U);
  EXPECT_EQ(*descaleOf(1e-30F, 1, Fp8Format::E4M3Ocp), 1e-12F);
  EXPECT_THAT(descaleOf(3e38F, 1.2, Fp8Format::E4M3Ocp).status().message(), HasSubstr("beyond"));
}

TEST(Artifact, KeysOfThePublishedSchema) {
  const Safetensors file = toSafetensors(test::smallArtifact(ScaleSchema::Published));
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{
                               {"schema", "1"},
                               {"model", "example/Model-7B"},
                               {"revision", "main"},
                               {"checkpoint_id", "0123456789abcdef0123456789abcdef01234567"},
                               {"calibration_id", "2026-11-30-prompts-a"},
                               {"tp_size", "2"},
                               {"pp_size", "2"},
                               {"num_layers", "3"},
                               {"fp8_dtype", "float8_e4m3fnuz"},
                               {"cache_mode", "bf16_latent_cache"},
                               {"local_heads", "2"},
                               {"qk_head_dim", "192"},
                               {"v_head_dim", "128"},
                               {"margin", "1.1"},
                               {"calibration_shards", "4"}}));
  EXPECT_EQ(file.tensors.size(), 9U);
  EXPECT_EQ(file.tensors.at("layers.5.v_descale").shape, (std::vector<std::uint64_t>{4}));
}

TEST(Artifact, EarlyFilesOfThePublishedSchemaStateNoMargin) {
  Safetensors file = toSafetensors(test::smallArtifact(ScaleSchema::Published));
  file.metadata.erase("margin");
  file.metadata.erase("calibration_shards");
  const auto bytes = file.print();
  const ScaleArtifact artifact = parsed(*bytes);
  EXPECT_FALSE(artifact.statesMargin);
  EXPECT_EQ(*artifact.print(), *bytes) << "nothing is made up";
}

TEST(Artifact, EveryMetadataKeyIsRequired) {
  for (const ScaleSchema schema : {ScaleSchema::Ours, ScaleSchema::Published}) {
    const Safetensors whole = toSafetensors(test::smallArtifact(schema));
    for (const auto &[key, value] : whole.metadata) {
      if (schema == ScaleSchema::Published && (key == "margin" || key == "calibration_shards"))
        continue;
      EXPECT_THAT(refusal(schema, [&](Safetensors &file) { file.metadata.erase(key); }),
                  HasSubstr("metadata " + key + " is missing"));
    }
  }
}

TEST(Artifact, EveryNumberIsANumber) {
  for (const ScaleSchema schema : {ScaleSchema::Ours, ScaleSchema::Published})
    for (const char *key : {"tp_size", "pp_size", "num_layers", "qk_head_dim", "v_head_dim",
                            "heads", "kv_heads", "local_heads", "fp8_max", "rotation_seed",
                            "tokens", "calibration_shards", "margin", "percentile"}) {
      if (!toSafetensors(test::smallArtifact(schema)).metadata.contains(key))
        continue;
      for (const char *wrong :
           {"", "x", "-1", " 1", "1 ", "0x1", "1e999", "18446744073709551616"}) {
        const bool real = key == std::string("margin") || key == std::string("percentile");
        if (real && (wrong == std::string("-1") || wrong == std::string("18446744073709551616")))
          continue;
        EXPECT_THAT(refusal(schema, [&](Safetensors &file) { file.metadata[key] = wrong; }),
                    HasSubstr(fmt::format("metadata {} is \"{}\"; want a {}", key, wrong,
                                          real ? "number" : "whole number")));
      }
    }
}

struct Wrong {
  ScaleSchema schema;
  const char *key;
  const char *value;
  const char *message;
};

TEST(Artifact, EveryMetadataValueIsChecked) {
  constexpr auto kOurs = ScaleSchema::Ours, kPublished = ScaleSchema::Published;
  for (const Wrong &wrong : {
           Wrong{kOurs, "schema", "2", "metadata schema is \"2\"; want \"wavesmith-1\" or \"1\""},
           Wrong{kOurs, "schema", "1", "metadata local_heads is missing"},
           Wrong{kPublished, "schema", "wavesmith-1", "metadata sha256 is missing"},
           Wrong{kOurs, "model", "", "model is empty"},
           Wrong{kOurs, "model", "a\nb", "want one line of printable UTF-8"},
           Wrong{kOurs, "revision", "\t", "revision is \"\t\"; want one line"},
           Wrong{kOurs, "checkpoint_id", "main",
                 "checkpoint_id is \"main\"; want what cannot change"},
           Wrong{kPublished, "checkpoint_id", "abcdef", "checkpoint_id is \"abcdef\"; want what"},
           Wrong{kOurs, "calibration_id", "", "calibration_id is empty"},
           Wrong{kOurs, "cache_mode", "", "cache_mode is empty"},
           Wrong{kOurs, "tp_size", "0", "tp_size is 0; want 1 to 4096"},
           Wrong{kOurs, "tp_size", "3", "heads is 4; want a multiple of tp_size, which is 3"},
           Wrong{kPublished, "tp_size", "0", "tp_size is 0; want 1 to 4096"},
           Wrong{kOurs, "pp_size", "0", "pp_size is 0; want 1 to 4096"},
           Wrong{kOurs, "num_layers", "4",
                 "num_layers is 4; q, k and v have scales of 3 layers (0, 2, 5)"},
           Wrong{kPublished, "num_layers", "2",
                 "num_layers is 2; q, k and v have scales of 3 layers"},
           Wrong{kOurs, "heads", "6", "q_descale has 4 values; the model has 6 heads"},
           Wrong{kOurs, "kv_heads", "4", "k_descale has 2 values; the model has 4 heads"},
           Wrong{kOurs, "kv_heads", "3", "heads is 4; want a multiple of kv_heads, which is 3"},
           Wrong{kPublished, "local_heads", "3", "q_descale has 4 values; the model has 6 heads"},
           Wrong{kPublished, "local_heads", "2147483647", "want at most 65536 on all ranks"},
           Wrong{kOurs, "qk_head_dim", "0", "qk_head_dim is 0; want 1 to 1024"},
           Wrong{kOurs, "v_head_dim", "2000", "v_head_dim is 2000; want 1 to 1024"},
           Wrong{kPublished, "qk_head_dim", "128", "qk_head_dim is 128; schema 1 has only 192"},
           Wrong{kPublished, "v_head_dim", "64", "v_head_dim is 64; schema 1 has only 128"},
           Wrong{kOurs, "fp8_dtype", "float8_e5m2", "fp8_dtype is \"float8_e5m2\"; want"},
           Wrong{kOurs, "fp8_dtype", "float8_e4m3fn",
                 "metadata fp8_max is 240; float8_e4m3fn has 448"},
           Wrong{kPublished, "fp8_dtype", "float8_e4m3fn", "schema 1 has only float8_e4m3fnuz"},
           Wrong{kOurs, "fp8_max", "224", "metadata fp8_max is 224; float8_e4m3fnuz has 240"},
           Wrong{kOurs, "margin", "1.10", "metadata margin is \"1.10\"; want it as \"1.1\""},
           Wrong{kOurs, "margin", "0.5", "margin is 0.5; want a finite number of at least 1"},
           Wrong{kOurs, "margin", "inf", "margin is inf; want a finite number"},
           Wrong{kOurs, "margin", "nan", "margin is nan; want a finite number"},
           Wrong{kOurs, "margin", "1.2", "margin 1.2 and float8_e4m3fnuz give"},
           Wrong{kOurs, "percentile", "0.0", "percentile is 0; want above 0 and at most 100"},
           Wrong{kOurs, "percentile", "101.0", "percentile is 101; want above 0"},
           Wrong{kOurs, "percentile", "nan", "percentile is nan; want above 0"},
           Wrong{kOurs, "rotation_seed", "2147483648", "want a whole number from 0 to 2147483647"},
           Wrong{kOurs, "tokens", "9007199254740993",
                 "want a whole number from 0 to 9007199254740992"},
           Wrong{kOurs, "layers.2.runtime_name", "", "layer 2: runtime_name is empty"},
           Wrong{kOurs, "comment", "x", "metadata comment is not known in this schema"},
           Wrong{kPublished, "heads", "4", "metadata heads is not known in this schema"},
           Wrong{kOurs, "layers.3.runtime_name", "x", "layers.3.runtime_name is not known"},
       })
    EXPECT_THAT(
        refusal(wrong.schema, [&](Safetensors &file) { file.metadata[wrong.key] = wrong.value; }),
        HasSubstr(wrong.message));
}

TEST(Artifact, EveryTensorIsChecked) {
  for (const ScaleSchema schema : {ScaleSchema::Ours, ScaleSchema::Published})
    for (const auto &[name, tensor] : toSafetensors(test::smallArtifact(schema)).tensors) {
      const auto changed = [&](const std::function<void(SafetensorsTensor &)> &change) {
        return refusal(schema, [&](Safetensors &file) { change(file.tensors.at(name)); });
      };
      const auto withFirst = [&](float value) {
        return changed([&](SafetensorsTensor &tensor) {
          std::vector<float> values = tensor.floats();
          values[1] = value;
          tensor = SafetensorsTensor::ofFloats(values);
        });
      };
      const std::string place = "layer " + name.substr(7, 1) + ": " + name.substr(9);
      EXPECT_THAT(refusal(schema, [&](Safetensors &file) { file.tensors.erase(name); }),
                  HasSubstr("tensor " + name + " is missing"));
      EXPECT_THAT(changed([](SafetensorsTensor &tensor) { tensor.dtype = "I32"; }),
                  HasSubstr("tensor " + name + " has dtype I32; want F32"));
      EXPECT_THAT(changed([](SafetensorsTensor &tensor) { tensor.shape.push_back(1); }),
                  HasSubstr("tensor " + name + " has 2 dimensions; want 1"));
      EXPECT_THAT(changed([](SafetensorsTensor &tensor) {
                    tensor = SafetensorsTensor::ofFloats(std::vector{1.0F});
                  }),
                  HasSubstr(place + " has 1 values; the model has"));
      EXPECT_THAT(
          changed([](SafetensorsTensor &tensor) { tensor = SafetensorsTensor::ofFloats({}); }),
          HasSubstr(place + " has 0 values; the model has"));
      for (const auto &[value, shown] :
           {std::pair(std::nanf(""), "nan"), std::pair(INFINITY, "inf"),
            std::pair(-INFINITY, "-inf"), std::pair(0.0F, "0"), std::pair(-0.0F, "-0"),
            std::pair(-1.0F, "-1")})
        EXPECT_THAT(withFirst(value),
                    HasSubstr(fmt::format("{} of head 1 is {}; want a finite positive number",
                                          place, shown)));
      if (schema == ScaleSchema::Ours)
        EXPECT_THAT(withFirst(0.123F), HasSubstr("float8_e4m3fnuz give"));
    }
}

TEST(Artifact, UnknownTensorsAreRefused) {
  for (const char *name : {"q_descale", "layers.x.q_descale", "layers.03.q_descale",
                           "layers.65536.q_descale", "layers.-1.q_descale", "layers.3.o_descale",
                           "layers.3.q_descale.", "layers.3.q_scale", "layers.", "层"})
    for (const ScaleSchema schema : {ScaleSchema::Ours, ScaleSchema::Published})
      EXPECT_THAT(refusal(schema,
                          [&](Safetensors &file) {
                            file.tensors[name] = file.tensors.at("layers.0.q_descale");
                          }),
                  HasSubstr(fmt::format("tensor {} is not known in schema", name)));
  EXPECT_THAT(refusal(ScaleSchema::Published,
                      [&](Safetensors &file) {
                        file.tensors["layers.0.q_amax"] = file.tensors.at("layers.0.q_descale");
                      }),
              HasSubstr("tensor layers.0.q_amax is not known in schema 1"));
}

TEST(Artifact, NumLayersCountsQAndKAndV) {
  // A layer that has only q would be counted by a reader that looks at q alone.
  EXPECT_THAT(refusal(ScaleSchema::Published,
                      [](Safetensors &file) {
                        file.metadata["num_layers"] = "4";
                        file.tensors["layers.7.q_descale"] = file.tensors.at("layers.0.q_descale");
                      }),
              HasSubstr("tensor layers.7.k_descale is missing"));
  EXPECT_THAT(refusal(ScaleSchema::Published,
                      [](Safetensors &file) {
                        file.tensors.clear();
                        file.metadata["num_layers"] = "0";
                      }),
              HasSubstr("num_layers is 0; q, k and v have scales of 0 layers"));
}

TEST(Artifact, TheDigestFindsWhatStillMakesSense) {
  const auto without = [](const std::function<void(Safetensors &)> &change) {
    Safetensors file = toSafetensors(test::smallArtifact());
    change(file);
    return refusal(file);
  };
  EXPECT_THAT(without([](Safetensors &file) { file.metadata["tokens"] = "1"; }),
              HasSubstr("the content has"));
  EXPECT_THAT(without([](Safetensors &file) { file.metadata["sha256"] = "0"; }),
              HasSubstr("metadata sha256 is \"0\"; the content has"));
  EXPECT_THAT(without([](Safetensors &file) {
                std::swap(file.tensors.at("layers.0.q_descale"),
                          file.tensors.at("layers.2.q_descale"));
                std::swap(file.tensors.at("layers.0.q_amax"), file.tensors.at("layers.2.q_amax"));
              }),
              HasSubstr("damaged or edited"));
}

TEST(Artifact, EveryDamagedByteIsFound) {
  const std::vector<std::byte> whole = *test::smallArtifact().print();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{1};
    const auto artifact = ScaleArtifact::parse(damaged, "a");
    ASSERT_FALSE(artifact) << "byte " << at;
    EXPECT_EQ(artifact.status().code(), StatusCode::Corrupt);
  }
}

TEST(Artifact, ThePublishedSchemaSaysOnlyWhatItCan) {
  const auto refused = [](const std::function<void(ScaleArtifact &)> &change) {
    ScaleArtifact artifact = test::smallArtifact(ScaleSchema::Published);
    change(artifact);
    return artifact.print().status().message();
  };
  EXPECT_THAT(refused([](ScaleArtifact &a) { a.run.rotationSeed = 3; }),
              HasSubstr("rotation_seed is 3; schema 1 has only scales without rotation"));
  EXPECT_THAT(refused([](ScaleArtifact &a) { a.percentile = 99.9; }),
              HasSubstr("percentile is 99.9; schema 1 has only"));
  EXPECT_THAT(refused([](ScaleArtifact &a) { a.run.kvHeads = 2; }),
              HasSubstr("kv_heads is 2; schema 1 has only as many as heads, 4"));
  EXPECT_THAT(refused([](ScaleArtifact &a) { a.run.fp8 = Fp8Format::E4M3Ocp; }),
              HasSubstr("fp8_dtype is float8_e4m3fn; schema 1 has only float8_e4m3fnuz"));
}

TEST(Artifact, ReshardingIsExact) {
  for (const ScaleSchema schema : {ScaleSchema::Ours, ScaleSchema::Published}) {
    const ScaleArtifact artifact = test::smallArtifact(schema);
    for (const int tpSize : {1, 2, 4}) {
      const auto other = artifact.reshard(tpSize, 1);
      ASSERT_TRUE(other) << other.status().message();
      EXPECT_EQ(other->run.tpSize, tpSize);
      EXPECT_EQ(other->layers, artifact.layers);
      EXPECT_EQ(*parsed(*other->print()).reshard(2, 2), artifact);
    }
    EXPECT_THAT(artifact.reshard(3, 1).status().message(),
                HasSubstr("heads is 4; want a multiple of tp_size, which is 3"));
    EXPECT_THAT(artifact.reshard(0, 1).status().message(), HasSubstr("tp_size is 0"));
  }
}

} // namespace
