// Calibrated scales through the C interface with real kernels: what is loaded, what saturates with
// them, what is refused.

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "runtime/scales/Artifact.h"

#include "tests/capi/ResultsFixture.h"

namespace wavesmith::test {
namespace {

constexpr std::int32_t kLayers[] = {2, 5};

class CalibratedScales : public Results {
protected:
  void SetUp() override {
    Results::SetUp();
    directory = ::testing::TempDir() + "wavesmith-scales-XXXXXX";
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    path = directory + "/scales.safetensors";
    const Status written = artifact().write(path);
    ASSERT_TRUE(written.isOk()) << written.message();
  }
  void TearDown() override {
    std::filesystem::remove_all(directory);
    Results::TearDown();
  }

  /// Of two ranks with two heads each; every maximum another one.
  static ScaleArtifact artifact(std::uint32_t rotation = 0) {
    ScaleArtifact made;
    made.run = {.model = "org/model",
                .revision = "main",
                .checkpointId = "0123456789abcdef",
                .calibrationId = "run 7",
                .tpSize = 2,
                .heads = 2 * kHeads,
                .kvHeads = 2 * kHeads,
                .headDimQk = kDim,
                .headDimV = kDim,
                .fp8 = Fp8Format::E4M3Fnuz,
                .cacheMode = "bf16_latent_cache",
                .rotationSeed = rotation,
                .numLayers = 2};
    made.calibrationShards = 2;
    float next = 1;
    for (const std::int32_t index : kLayers) {
      LayerScales layer{.index = index, .runtimeName = fmt::format("layers.{}", index)};
      for (const Qkv which : kQkv)
        for (int head = 0; head < 2 * kHeads; ++head) {
          layer.amax[which].push_back(next);
          layer.descale[which].push_back(*descaleOf(next, made.run.margin, made.run.fp8));
          next += 0.25f;
        }
      made.layers.push_back(std::move(layer));
    }
    return made;
  }
  static wavesmith_calibration rank() {
    wavesmith_calibration calibration = WAVESMITH_INIT(wavesmith_calibration);
    calibration.model = "org/model";
    calibration.checkpoint = "0123456789abcdef";
    calibration.tp_size = 2;
    calibration.tp_rank = 1;
    calibration.heads = 2 * kHeads;
    calibration.head_dim_qk = calibration.head_dim_v = kDim;
    calibration.num_layers = 2;
    return calibration;
  }
  wavesmith_scales_options options(const wavesmith_calibration &of) const {
    wavesmith_scales_options options = WAVESMITH_INIT(wavesmith_scales_options);
    options.path = path.c_str();
    options.calibration = &of;
    options.layers = kLayers;
    options.layer_count = 2;
    return options;
  }

  std::string directory, path;
};

std::vector<float> readFloats(const float *from, std::size_t count) {
  std::vector<float> values(count);
  EXPECT_EQ(hipMemcpy(values.data(), from, count * sizeof(float), hipMemcpyDeviceToHost),
            hipSuccess);
  return values;
}

TEST_F(CalibratedScales, ARankHasItsShareOnTheDevice) {
  const wavesmith_calibration calibration = rank();
  const wavesmith_scales_options how = options(calibration);
  wavesmith_scales scales = nullptr;
  ASSERT_TRUE(ok(wavesmith_scales_load(context, &how, &scales)));
  const ScaleArtifact whole = artifact();
  for (const std::int32_t number : kLayers) {
    wavesmith_layer_scales layer = WAVESMITH_INIT(wavesmith_layer_scales);
    ASSERT_TRUE(ok(wavesmith_scales_get_layer(scales, number, &layer)));
    EXPECT_EQ(layer.heads, kHeads);
    EXPECT_EQ(layer.kv_heads, kHeads);
    EXPECT_EQ(layer.rotation, 0u);
    const HeadValues &all = whole.find(number)->descale;
    const auto share = [](const std::vector<float> &values) {
      return std::vector<float>(values.begin() + kHeads, values.end());
    };
    EXPECT_EQ(readFloats(layer.descale_q, kHeads), share(all.q));
    EXPECT_EQ(readFloats(layer.descale_k, kHeads), share(all.k));
    EXPECT_EQ(readFloats(layer.descale_v, kHeads), share(all.v));
  }
  ASSERT_TRUE(ok(wavesmith_scales_destroy(scales)));
}

TEST_F(CalibratedScales, WhatSaturatesIsCountedForEachHeadAndWarnedOfOnce) {
  constexpr std::uint32_t kRotation = 5;
  ASSERT_TRUE(artifact(kRotation).write(path).isOk());
  wavesmith_calibration calibration = rank();
  calibration.rotation = kRotation;
  wavesmith_scales_options how = options(calibration);
  how.saturation_limit = 3;
  wavesmith_scales scales = nullptr;
  ASSERT_TRUE(ok(wavesmith_scales_load(context, &how, &scales)));
  wavesmith_layer_scales layer = WAVESMITH_INIT(wavesmith_layer_scales);
  ASSERT_TRUE(ok(wavesmith_scales_get_layer(scales, 5, &layer)));

  const std::int32_t cu[] = {0, 40, 70};
  const std::size_t tokens = 70, elements = tokens * kHeads * kDim;
  wavesmith_attention attention = causal(cu, 2);
  attention.flags |= WAVESMITH_COUNT_SATURATED;
  attention.path = WAVESMITH_PATH_FP8;
  attention.scales = WAVESMITH_SCALES_STATIC;
  attention.rotation = layer.rotation;
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_attention(context, &attention, &plan, &info)));
  EXPECT_EQ(info.saturated_q, 0u) << "no counts in the workspace";
  // Of head 1 four values, of head 0 one, are larger than anything calibration saw.
  std::vector<std::uint16_t> values(elements, floatToBf16(0.5f));
  for (const std::size_t token : {3u, 9u, 41u, 69u})
    values[(token * kHeads + 1) * kDim + 17] = floatToBf16(-1000);
  values[5] = floatToBf16(1000);
  const Array q(drawBf16(elements)), k(drawBf16(elements)), v(values);
  const Array out(zeros<std::uint16_t>(elements));
  const Array lse(zeros<float>(tokens * kHeads));
  const Memory workspace(info.workspace_bytes);
  wavesmith_attention_buffers buffers =
      buffersOf(q, k, v, out, lse, workspace, info.workspace_bytes);
  buffers.descale_q = layer.descale_q;
  buffers.descale_k = layer.descale_k;
  buffers.descale_v = layer.descale_v;
  ASSERT_TRUE(ok(wavesmith_upload(plan, workspace.get(), info.workspace_bytes, nullptr)));
  EXPECT_TRUE(invalid(wavesmith_launch_attention(plan, &buffers, nullptr), "saturated_q"));
  buffers.saturated_q = layer.saturated_q;
  buffers.saturated_k = layer.saturated_k;
  buffers.saturated_v = layer.saturated_v;
  std::vector<std::string> lines;
  ASSERT_TRUE(ok(wavesmith_set_log(
      [](void *to, std::int32_t level, const char *line) {
        if (level == WAVESMITH_LOG_WARN)
          static_cast<std::vector<std::string> *>(to)->emplace_back(line);
      },
      &lines)));
  for (std::uint64_t launch = 1; launch <= 2; ++launch) {
    ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, nullptr)));
    std::uint64_t countsQ[kHeads], countsV[kHeads];
    ASSERT_TRUE(ok(wavesmith_scales_read_saturation(scales, 5, countsQ, nullptr, countsV)));
    EXPECT_THAT(countsQ, testing::Each(0u)) << "normal numbers, rotated, are below 4";
    EXPECT_THAT(countsV, testing::ElementsAre(launch, 4 * launch));
  }
  std::uint64_t other[kHeads];
  ASSERT_TRUE(ok(wavesmith_scales_read_saturation(scales, 2, nullptr, other, nullptr)));
  EXPECT_THAT(other, testing::Each(0u)) << "of another layer";
  ASSERT_TRUE(ok(wavesmith_set_log(nullptr, nullptr)));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::HasSubstr("layer=5 tensor=v head=1 elements=4 limit=3"));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  ASSERT_TRUE(ok(wavesmith_scales_destroy(scales)));
}

TEST_F(CalibratedScales, WhatDoesNotFitIsRefusedWithBothValuesAndTheFile) {
  const auto loading = [&](auto &&change) {
    wavesmith_calibration calibration = rank();
    wavesmith_scales_options changed = options(calibration);
    change(calibration, changed);
    wavesmith_scales made = nullptr;
    return wavesmith_scales_load(context, &changed, &made);
  };
  EXPECT_TRUE(ok(loading([](auto &c, auto &) { c.run = "run 7"; })));
  EXPECT_TRUE(invalid(loading([](auto &c, auto &) { c.run = "run 8"; }), "run 7", "run 8", path));
  EXPECT_TRUE(invalid(loading([](auto &c, auto &) { c.model = "org/other"; }), "model is org/model",
                      "org/other", path));
  EXPECT_TRUE(invalid(loading([](auto &c, auto &) { c.rotation = 4; }), "rotation", path));
  EXPECT_TRUE(invalid(loading([](auto &c, auto &) {
                        c.tp_size = 4;
                        c.tp_rank = 3;
                      }),
                      "tp_size is 2", "calibrate reshard", path));
  EXPECT_TRUE(invalid(loading([](auto &c, auto &) { c.head_dim_v = 64; }), "v_head_dim", path));
  EXPECT_TRUE(invalid(loading([](auto &c, auto &) { c.num_layers = 3; }), "num_layers", path));
  constexpr std::int32_t kOther[] = {2, 6};
  EXPECT_TRUE(invalid(loading([&](auto &, auto &o) { o.layers = kOther; }), "layer 6", path));
  constexpr const char *kNames[] = {"layers.2", "layers.6"};
  EXPECT_TRUE(
      invalid(loading([&](auto &, auto &o) { o.layer_names = kNames; }), "layers.5", "layers.6"));
  constexpr const char *kEmpty[] = {"layers.2", ""};
  EXPECT_TRUE(invalid(loading([&](auto &, auto &o) { o.layer_names = kEmpty; }), "layer_names[1]"));
  EXPECT_TRUE(invalid(loading([](auto &c, auto &) { c.tp_size = -1; }), "tp_size is -1"));
  EXPECT_TRUE(refused(loading([](auto &, auto &o) { o.path = "/no/such.safetensors"; }),
                      WAVESMITH_NOT_FOUND, "/no/such.safetensors"));
  EXPECT_TRUE(invalid(loading([](auto &, auto &o) { o.path = nullptr; }), "path is null"));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_TRUE(refused(loading([](auto &, auto &) {}), WAVESMITH_CORRUPT, path));
}

} // namespace
} // namespace wavesmith::test
