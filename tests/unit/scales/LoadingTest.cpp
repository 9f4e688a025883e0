// What a process asks for and what an artifact has: the right heads for each rank, or an error with
// field, both values and the file.

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/scales/Loading.h"
#include "runtime/support/Files.h"
#include "tests/unit/scales/ScalesFixture.h"

using namespace wavesmith;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class Loading : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "wavesmith-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ + "/scales.safetensors";
    ASSERT_TRUE(test::smallArtifact().write(path_).isOk());
    expectation_.run = test::smallRun();
    expectation_.run.revision = "of another name";
    expectation_.run.margin = 1; // is the artifact's business
    expectation_.layers = {{5, "model.layers.5.self_attn.attn"}, {0, ""}};
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string refusal() const {
    const auto scales = loadScales(path_, expectation_);
    return scales ? "accepted" : scales.status().message();
  }

  std::string directory_, path_;
  ScaleExpectation expectation_;
};

TEST_F(Loading, GivesEachRankItsHeads) {
  for (int rank = 0; rank < 2; ++rank) {
    expectation_.tpRank = rank;
    const auto scales = loadScales(path_, expectation_);
    ASSERT_TRUE(scales) << scales.status().message();
    EXPECT_EQ(scales->digest, test::smallArtifact().digest());
    ASSERT_EQ(scales->layers.size(), 2U);
    EXPECT_EQ(scales->layers[0].index, 5);
    EXPECT_EQ(scales->find(2), nullptr);
    for (const Qkv which : kQkv) {
      const std::vector<float> &descale = scales->find(0)->descale[which];
      ASSERT_EQ(descale.size(), which == Qkv::Q ? 2U : 1U);
      for (int head = 0; head < int(descale.size()); ++head)
        EXPECT_EQ(descale[head],
                  test::maximumOf(0, which, rank * int(descale.size()) + head) * 1.1F / 240);
    }
  }
}

TEST_F(Loading, RanksThatShareAHeadGetTheSame) {
  ASSERT_TRUE(test::smallArtifact().reshard(4, 1)->write(path_).isOk());
  expectation_.run.tpSize = 4;
  expectation_.run.ppSize = 1;
  expectation_.tpRank = 3;
  const auto scales = loadScales(path_, expectation_);
  ASSERT_TRUE(scales) << scales.status().message();
  EXPECT_EQ(scales->find(5)->descale.q[0], test::maximumOf(5, Qkv::Q, 3) * 1.1F / 240);
  EXPECT_EQ(scales->find(5)->descale.v[0], test::maximumOf(5, Qkv::V, 1) * 1.1F / 240);
}

TEST_F(Loading, ReadsThePublishedSchema) {
  ASSERT_TRUE(test::smallArtifact(ScaleSchema::Published).write(path_).isOk());
  EXPECT_THAT(refusal(), HasSubstr("kv_heads is 4, this process has 2"));
  expectation_.run.kvHeads = 4;
  const auto scales = loadScales(path_, expectation_);
  ASSERT_TRUE(scales) << scales.status().message();
  EXPECT_EQ(scales->schema, ScaleSchema::Published);
  EXPECT_EQ(scales->find(5)->descale.k.size(), 2U);
}

TEST_F(Loading, AStageWithoutLayersChecksTheRest) {
  expectation_.layers.clear();
  EXPECT_TRUE(loadScales(path_, expectation_)) << refusal();
  expectation_.run.model = "other";
  EXPECT_THAT(refusal(), HasSubstr("model is example/Model-7B"));
}

TEST_F(Loading, ASnapshotsPathIsItsCommit) {
  expectation_.run.checkpointId = "/cache/snapshots/" + test::smallRun().checkpointId;
  EXPECT_TRUE(loadScales(path_, expectation_)) << refusal();
}

TEST_F(Loading, EveryFieldThatDoesNotFitIsNamedWithBothValues) {
  struct Other {
    const char *message;
    std::function<void(ScaleExpectation &)> change;
  };
  const std::vector<Other> others = {
      {"model is example/Model-7B, this process has other",
       [](ScaleExpectation &e) { e.run.model = "other"; }},
      {"checkpoint_id is 0123456789abcdef0123456789abcdef01234567, this process has abcdef0",
       [](ScaleExpectation &e) { e.run.checkpointId = "abcdef0"; }},
      {"calibration_id is 2026-11-30-prompts-a, this process has b",
       [](ScaleExpectation &e) { e.run.calibrationId = "b"; }},
      {"tp_size is 2, this process has 4; wavesmith calibrate reshard --tp 4 --pp 2 makes",
       [](ScaleExpectation &e) { e.run.tpSize = 4; }},
      {"pp_size is 2, this process has 1; wavesmith calibrate reshard --tp 2 --pp 1 makes",
       [](ScaleExpectation &e) { e.run.ppSize = 1; }},
      {"heads is 4, this process has 8", [](ScaleExpectation &e) { e.run.heads = 8; }},
      {"kv_heads is 2, this process has 4", [](ScaleExpectation &e) { e.run.kvHeads = 4; }},
      {"qk_head_dim is 192, this process has 128",
       [](ScaleExpectation &e) { e.run.headDimQk = 128; }},
      {"v_head_dim is 128, this process has 64", [](ScaleExpectation &e) { e.run.headDimV = 64; }},
      {"fp8_dtype is float8_e4m3fnuz, this process has float8_e4m3fn; codes of the two formats "
       "differ: merge the shards with --fp8 e4m3",
       [](ScaleExpectation &e) { e.run.fp8 = Fp8Format::E4M3Ocp; }},
      {"cache_mode is bf16_latent_cache, this process has fp8",
       [](ScaleExpectation &e) { e.run.cacheMode = "fp8"; }},
      {"rotation_seed is 0, this process has 7",
       [](ScaleExpectation &e) { e.run.rotationSeed = 7; }},
      {"num_layers is 3, this process has 4", [](ScaleExpectation &e) { e.run.numLayers = 4; }},
      {"tp_size is 2, this process has tp_rank 2", [](ScaleExpectation &e) { e.tpRank = 2; }},
      {"tp_size is 2, this process has tp_rank -1", [](ScaleExpectation &e) { e.tpRank = -1; }},
      {"has 3 layers (0, 2, 5), this process runs layer 1",
       [](ScaleExpectation &e) { e.layers.push_back({1, ""}); }},
      {"runtime_name of layer 5 is model.layers.5.self_attn.attn, this process has x",
       [](ScaleExpectation &e) { e.layers[0].runtimeName = "x"; }},
  };
  for (const Other &other : others) {
    ScaleExpectation expectation = expectation_;
    other.change(expectation);
    const auto scales = loadScales(path_, expectation);
    ASSERT_FALSE(scales) << other.message;
    EXPECT_EQ(scales.status().code(), StatusCode::InvalidArgument);
    EXPECT_THAT(scales.status().message(),
                AllOf(HasSubstr(path_ + ": "), HasSubstr(other.message)));
  }
}

TEST_F(Loading, AConfiguredFileThatIsNotThereIsAnError) {
  std::filesystem::remove(path_);
  const auto scales = loadScales(path_, expectation_);
  EXPECT_EQ(scales.status().code(), StatusCode::NotFound);
  EXPECT_THAT(scales.status().message(), AllOf(HasSubstr("calibrated scales"), HasSubstr(path_)));
  EXPECT_FALSE(loadScales("", expectation_));
  EXPECT_FALSE(loadScales(directory_, expectation_));
}

TEST_F(Loading, ADamagedFileIsAnError) {
  const auto whole = readFile(path_);
  ASSERT_TRUE(whole);
  const auto withBytes = [&](const std::vector<std::byte> &bytes) {
    EXPECT_TRUE(publishFile(path_, bytes).isOk());
    const auto scales = loadScales(path_, expectation_);
    return scales ? Status::ok() : scales.status();
  };
  EXPECT_EQ(withBytes({}).code(), StatusCode::Corrupt);
  EXPECT_EQ(withBytes({whole->begin(), whole->end() - 1}).code(), StatusCode::Corrupt);
}

TEST_F(Loading, ADescriptionThatCannotBeIsAnError) {
  expectation_.run.fp8 = Fp8Format::None;
  EXPECT_THAT(refusal(), HasSubstr("the description of this process: fp8_dtype is none"));
}

} // namespace
