// A rank's shard: what is written is read back bit for bit; every key and every value that does not
// fit is refused with its own sentence.

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/scales/Shard.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"
#include "tests/unit/scales/ScalesFixture.h"

using namespace wavesmith;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

namespace {

CalibrationShard smallShard() { return test::shardOf(test::smallRun(), 0, 1, {0, 2}); }

/// The text with a digest that fits, so that a test reaches the check behind it.
std::string sealed(const Json &document) {
  Json blank = document;
  if (!blank.is_object() || !blank.contains("sha256"))
    return blank.dump();
  blank["sha256"] = std::string(64, '0');
  std::string text = blank.dump();
  const std::size_t at = text.find(std::string(64, '0'));
  return text.replace(at, 64, sha256Hex(text));
}

Json document() { return Json::parse(*smallShard().print()); }

Json published() {
  Json json = document();
  for (const char *ours : {"heads", "kv_heads", "rotation_seed", "num_layers", "tokens", "sha256"})
    json.erase(ours);
  json["schema"] = 1;
  json["local_heads"] = 2;
  for (auto &layer : json["layers"])
    layer["k_amax"] = layer["v_amax"] = layer["q_amax"];
  return json;
}

std::string refusal(const std::string &text) {
  const auto shard = CalibrationShard::parse(text, "s.json");
  if (shard)
    return "accepted";
  EXPECT_EQ(shard.status().code(), StatusCode::Corrupt);
  EXPECT_THAT(shard.status().message(), StartsWith("s.json"));
  return shard.status().message();
}

TEST(Shard, ReadsBackWhatItWrote) {
  CalibrationShard shard = smallShard();
  shard.run.model = "org/Modèle-模型";
  shard.run.margin = 1.0 + 1.0 / 3;
  shard.run.rotationSeed = 0x7fffffff;
  shard.layers[0].amax.q = {std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max()};
  shard.layers[1].histograms.v = {{1100, {0, 7, std::uint64_t{1} << 47}}};
  const auto text = shard.print();
  ASSERT_TRUE(text) << text.status().message();
  const auto read = CalibrationShard::parse(*text, "s.json");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(*read, shard);
}

TEST(Shard, ARankWithoutLayersWritesOneToo) {
  const CalibrationShard shard = test::shardOf(test::smallRun(), 1, 0, {});
  const auto text = shard.print();
  ASSERT_TRUE(text) << text.status().message();
  const auto read = CalibrationShard::parse(*text, "s.json");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(*read, shard);
}

TEST(Shard, ASnapshotsPathIsItsCommit) {
  CalibrationShard shard = smallShard();
  shard.run.checkpointId = "/models/hub/models--a--b/snapshots/ABCDEF1234/";
  const auto text = shard.print();
  ASSERT_TRUE(text) << text.status().message();
  EXPECT_EQ(CalibrationShard::parse(*text, "s.json")->run.checkpointId, "abcdef1234");
  for (const char *mutableId : {"main", "v1.0", "abcdef", "/data/model", "snapshots/main",
                                "mysnapshots/abcdef1234", "snapshots/abcdef1234/config.json"}) {
    shard.run.checkpointId = mutableId;
    EXPECT_THAT(shard.print().status().message(),
                AllOf(HasSubstr("checkpoint_id"), HasSubstr(mutableId)));
  }
}

TEST(Shard, ReadsThePublishedSchema) {
  const auto shard = CalibrationShard::parse(published().dump(), "s.json");
  ASSERT_TRUE(shard) << shard.status().message();
  EXPECT_EQ(shard->run.heads, 4);
  EXPECT_EQ(shard->run.kvHeads, 4);
  EXPECT_EQ(shard->run.numLayers, 0) << "it is not stated";
  EXPECT_EQ(shard->layers[1].amax.q, smallShard().layers[1].amax.q);
  Json ours = published();
  ours["rotation_seed"] = 1;
  EXPECT_THAT(refusal(ours.dump()), HasSubstr("unknown name \"rotation_seed\""));
}

TEST(Shard, EveryKeyIsRequired) {
  for (const Json &whole : {document(), published()})
    for (const auto &entry : whole.items()) {
      Json without = whole;
      without.erase(entry.key());
      EXPECT_THAT(refusal(sealed(without)), HasSubstr("\"" + entry.key() + "\" is missing"));
    }
  for (const auto &entry : document()["layers"]["2"].items()) {
    Json without = document();
    without["layers"]["2"].erase(entry.key());
    EXPECT_THAT(refusal(sealed(without)),
                HasSubstr("s.json.layers.2: \"" + entry.key() + "\" is missing"));
  }
}

TEST(Shard, EveryKeyHasItsType) {
  for (const Json &whole : {document(), published()})
    for (const auto &entry : whole.items())
      for (const Json &wrong : {Json(nullptr), Json(true), Json(Json::array({1})), Json(-1)}) {
        Json changed = whole;
        changed[entry.key()] = wrong;
        const bool number = entry.key() == "margin" && wrong.is_number();
        EXPECT_THAT(refusal(entry.key() == "sha256" ? changed.dump() : sealed(changed)),
                    HasSubstr((number ? "" : "s.json.") + entry.key()));
      }
}

struct Wrong {
  const char *pointer; ///< of the value to replace
  Json value;
  const char *message;
};

TEST(Shard, EveryValueIsChecked) {
  const std::vector<Wrong> wrongs = {
      {"/schema", "wavesmith-shard-2", "want \"wavesmith-shard-1\" or 1, is \"wavesmith-shard-2\""},
      {"/schema", 2, "want \"wavesmith-shard-1\" or 1, is 2"},
      {"/model", "", "model is empty"},
      {"/model", "a\nb", "model is \"a\nb\"; want one line"},
      {"/model", std::string(5000, 'm'), "model has 5000 bytes; want at most 4096"},
      {"/checkpoint_id", "main", "checkpoint_id is \"main\"; want what cannot change"},
      {"/calibration_id", "", "calibration_id is empty"},
      {"/cache_mode", "", "cache_mode is empty"},
      {"/cache_mode", "a\x1b[2J", "cache_mode is \"a\\x1b[2J\"; want one line of printable UTF-8"},
      {"/tp_size", 0, "tp_size is 0; want 1 to 4096"},
      {"/tp_size", 5000, "tp_size is 5000; want 1 to 4096"},
      {"/tp_size", std::uint64_t{1} << 63, "tp_size: want a whole number"},
      {"/tp_size", 2.0, "tp_size: want a whole number"},
      {"/tp_rank", 2, "tp_rank is 2; want 0 to 1 (tp_size is 2)"},
      {"/pp_size", 0, "pp_size is 0; want 1 to 4096"},
      {"/pp_rank", 7, "pp_rank is 7; want 0 to 1 (pp_size is 2)"},
      {"/fp8_dtype", "float8_e5m2", "fp8_dtype is \"float8_e5m2\"; want float8_e4m3fnuz or"},
      {"/heads", 0, "heads is 0; want 1 to 65536"},
      {"/heads", 5, "heads is 5; want a multiple of kv_heads, which is 2"},
      {"/kv_heads", 0, "kv_heads is 0; want 1 to"},
      {"/qk_head_dim", 0, "qk_head_dim is 0; want 1 to 1024"},
      {"/v_head_dim", 4096, "v_head_dim is 4096; want 1 to 1024"},
      {"/margin", 0.99, "margin is 0.99; want a finite number of at least 1"},
      {"/rotation_seed", std::uint64_t{1} << 31, "rotation_seed: want a whole number from 0 to"},
      {"/num_layers", 0, "num_layers: want how many layers"},
      {"/num_layers", 1, "layers has 2 entries; num_layers is 1"},
      {"/tokens", 1.5, "tokens: want a whole number"},
      {"/layers/2/runtime_name", "", "layer 2: runtime_name is empty"},
      {"/layers/2/q_amax/1", 0, "layer 2: q_amax of head 1 is 0; want a finite positive number"},
      {"/layers/2/k_amax/0", -0.5, "layer 2: k_amax of head 0 is -0.5; want a finite positive"},
      {"/layers/2/v_amax/0", 1e39, "layers.2.v_amax[0]: want a float32 number, is 1e+39"},
      {"/layers/2/v_amax/0", nullptr, "layers.2.v_amax[0]: want a float32 number, is null"},
      {"/layers/2/v_amax/0", 1e-60, "layer 2: v_amax of head 0 is 0; want a finite positive"},
      {"/layers/2/q_amax", Json::array({1}), "layer 2: q_amax has 1 values; the rank has 2 heads"},
      {"/layers/2/v_amax", Json::array(), "layer 2: v_amax has 0 values; the rank has 1 heads"},
      {"/layers/2/q_histogram", Json::array({{{"first", 1}, {"counts", {1}}}}),
       "layer 2: q_histogram has 1 histograms; want none or 2"},
      {"/layers/2/k_histogram", Json::array({{{"first", 1}, {"counts", Json::array()}}}),
       "layer 2: k_histogram of head 0: the histogram has no counts"},
      {"/layers/2/k_histogram", Json::array({{{"first", 1}, {"counts", {-1}}}}),
       "layers.2.k_histogram[0].counts[0]: want a whole number"},
      {"/layers/2/k_histogram", Json::array({{{"first", 1}}}), "\"counts\" is missing"},
      {"/layers/2/k_histogram", Json::array({{{"first", 1}, {"counts", {1, 0}}}}),
       "layer 2: k_histogram of head 0 ends below its maximum"},
  };
  for (const Wrong &wrong : wrongs) {
    Json changed = document();
    changed[Json::json_pointer(wrong.pointer)] = wrong.value;
    EXPECT_THAT(refusal(sealed(changed)), HasSubstr(wrong.message)) << wrong.pointer;
  }
}

TEST(Shard, UnknownNamesAndLayersAreRefused) {
  Json extra = document();
  extra["comment"] = "x";
  EXPECT_THAT(refusal(sealed(extra)), HasSubstr("unknown name \"comment\""));
  extra = document();
  extra["layers"]["2"]["o_amax"] = Json::array({1});
  EXPECT_THAT(refusal(sealed(extra)), HasSubstr("s.json.layers.2: unknown name \"o_amax\""));
  for (const char *name : {"", "02", "-1", "2.5", "x", "65536", "18446744073709551618"}) {
    extra = document();
    extra["layers"][name] = extra["layers"]["2"];
    EXPECT_THAT(refusal(sealed(extra)), HasSubstr("is no layer; want a number from 0 to 65535"));
  }
}

TEST(Shard, DamagedFilesAreRefused) {
  const std::string whole = *smallShard().print();
  EXPECT_THAT(refusal(""), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal(whole + "x"), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("want an object"));
  EXPECT_THAT(refusal("{\"schema\": 1, \"schema\": 1}"), HasSubstr("\"schema\" is given twice"));
  EXPECT_THAT(refusal(std::regex_replace(whole, std::regex("\"margin\": 1.1"), "\"margin\": NaN")),
              HasSubstr("is no JSON"));
  EXPECT_THAT(refusal("{\"model\": \"\xff\"}"), HasSubstr("is no JSON"));
  // A digit that changed on the disk and still makes sense.
  const std::string changed =
      std::regex_replace(whole, std::regex("\"tokens\": 7"), "\"tokens\": 6");
  ASSERT_NE(changed, whole);
  EXPECT_THAT(refusal(changed), HasSubstr("sha256: the contents have"));
  Json other = document();
  other["sha256"] = std::string(64, 'z');
  EXPECT_THAT(refusal(other.dump()), HasSubstr("sha256: the contents have"));
  other["sha256"] = "";
  EXPECT_THAT(refusal(other.dump()), HasSubstr("sha256: want 64 hex digits"));
}

class ShardFiles : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "wavesmith-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

TEST_F(ShardFiles, AnErrorWhileSavingKeepsTheOlderShard) {
  const std::string path = directory_ + "/" + CalibrationShard::fileName(0, 1);
  EXPECT_THAT(path, testing::EndsWith("/fp8-scales-pp00-tp01.json"));
  const CalibrationShard older = smallShard();
  ASSERT_TRUE(older.write(path).isOk());
  CalibrationShard broken = older;
  broken.layers[1].amax.k[0] = std::nanf("");
  EXPECT_THAT(broken.write(path).message(),
              AllOf(HasSubstr(path), HasSubstr("layer 2: k_amax of head 0 is nan")));
  broken.layers[1].amax.k[0] = INFINITY;
  EXPECT_THAT(broken.write(path).message(), HasSubstr("layer 2: k_amax of head 0 is inf"));
  broken = older;
  broken.layers[0].runtimeName = "\xff";
  EXPECT_THAT(broken.write(path).message(), HasSubstr("layer 0: runtime_name is \"\\xff\""));
  broken = older;
  std::swap(broken.layers[0], broken.layers[1]);
  EXPECT_THAT(broken.write(path).message(), HasSubstr("layer 0 stands behind layer 2"));
  broken = older;
  broken.run.numLayers = 0;
  EXPECT_THAT(broken.write(path).message(), HasSubstr("num_layers is 0"));
  EXPECT_FALSE(older.write(directory_ + "/nowhere/shard.json").isOk());
  const auto read = CalibrationShard::read(path);
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(*read, older);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1)
      << "nothing half-written stays behind";
}

TEST_F(ShardFiles, AMissingFileIsNamed) {
  const auto shard = CalibrationShard::read(directory_ + "/none.json");
  EXPECT_EQ(shard.status().code(), StatusCode::NotFound);
  EXPECT_THAT(shard.status().message(), HasSubstr("/none.json"));
}

} // namespace
