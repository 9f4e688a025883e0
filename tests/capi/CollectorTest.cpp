// Calibration through the C interface with real kernels: maxima and histograms against those of the
// host, what is refused, what a shard says.

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "runtime/scales/Shard.h"

#include "tests/capi/ResultsFixture.h"

namespace wavesmith::test {
namespace {

constexpr int kModelHeads = 4, kModelKvHeads = 2; // two ranks
constexpr int kQkDim = 192, kNopeDim = 128, kRopeDim = 64;
constexpr std::int32_t kLayers[] = {3, 7};
constexpr const char *kNames[] = {"model.layers.3.attn", "model.layers.7.attn"};

class Calibration : public Results {
protected:
  void SetUp() override {
    Results::SetUp();
    directory = ::testing::TempDir() + "wavesmith-collector-XXXXXX";
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
  }
  void TearDown() override {
    std::filesystem::remove_all(directory);
    Results::TearDown();
  }

  static wavesmith_calibration rank() {
    wavesmith_calibration calibration = WAVESMITH_INIT(wavesmith_calibration);
    calibration.model = "org/model";
    calibration.checkpoint = "0123456789abcdef";
    calibration.run = "2026-12-01";
    calibration.tp_size = 2;
    calibration.tp_rank = 1;
    calibration.heads = kModelHeads;
    calibration.kv_heads = kModelKvHeads;
    calibration.head_dim_qk = kQkDim;
    calibration.head_dim_v = kDim;
    calibration.num_layers = 2;
    return calibration;
  }
  static wavesmith_collector_options options(const wavesmith_calibration &of) {
    wavesmith_collector_options options = WAVESMITH_INIT(wavesmith_collector_options);
    options.calibration = &of;
    options.layers = kLayers;
    options.layer_names = kNames;
    options.layer_count = 2;
    options.input = WAVESMITH_BF16;
    return options;
  }
  wavesmith_collector create(const wavesmith_collector_options &options) {
    wavesmith_collector made = nullptr;
    EXPECT_TRUE(ok(wavesmith_collector_create(context, &options, &made)));
    return made;
  }
  std::optional<CalibrationShard> shard() const {
    auto read = CalibrationShard::read(directory + "/fp8-scales-pp00-tp01.json");
    EXPECT_TRUE(read) << read.status().message();
    return read ? std::optional(*std::move(read)) : std::nullopt;
  }

  std::string directory;
};

/// Of layer 3.
wavesmith_observation observation(std::size_t tokens, const Array<std::uint16_t> &q,
                                  const Array<std::uint16_t> &k, const Array<std::uint16_t> &v) {
  wavesmith_observation seen = WAVESMITH_INIT(wavesmith_observation);
  seen.layer = 3;
  seen.tokens_q = seen.tokens_kv = static_cast<std::int64_t>(tokens);
  seen.q = q.get();
  seen.k = k.get();
  seen.v = v.get();
  return seen;
}

float largestOf(const std::vector<std::uint16_t> &values, std::size_t heads, std::size_t dim,
                std::size_t head) {
  float largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i / dim % heads == head)
      largest = std::max(largest, std::abs(bf16ToFloat(values[i])));
  return largest;
}

TEST_F(Calibration, MaximaAndHistogramsAreThoseOfEverythingShown) {
  wavesmith_calibration calibration = rank();
  wavesmith_collector_options how = options(calibration);
  how.flags = WAVESMITH_HISTOGRAMS | WAVESMITH_IN_PARTS | WAVESMITH_SHARED_ROPE;
  const wavesmith_collector collector = create(how);
  const std::size_t tokens = 41, heads = 2, kvHeads = 1;
  const Array q(drawBf16(tokens * heads * kQkDim)), k(drawBf16(tokens * kvHeads * kNopeDim));
  std::vector<std::uint16_t> large = drawBf16(tokens * kRopeDim);
  large[77] = floatToBf16(-5000); // beyond the last class of the kernel
  const Array rope(large), v(drawBf16(tokens * kvHeads * kDim));
  wavesmith_observation seen = observation(tokens, q, k, v);
  seen.k_rope = rope.get();
  ASSERT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr))) << "off: a warm-up";
  EXPECT_TRUE(refused(wavesmith_collector_save(collector, directory.c_str()),
                      WAVESMITH_INVALID_ARGUMENT, "layer 3", "head 0 is 0"));
  ASSERT_TRUE(ok(wavesmith_collector_enable(collector, 1)));
  for (int again = 0; again < 2; ++again)
    ASSERT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr)));
  seen.layer = 7;
  const Array smaller(std::vector<std::uint16_t>(q.host.size(), floatToBf16(0.5f)));
  seen.q = smaller.get();
  ASSERT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr)));
  ASSERT_TRUE(ok(wavesmith_collector_save(collector, directory.c_str())));

  const auto saved = shard();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->tpRank, 1);
  EXPECT_EQ(saved->run.model, "org/model");
  EXPECT_EQ(saved->run.fp8, Fp8Format::E4M3Fnuz);
  EXPECT_EQ(saved->tokens, tokens) << "the fewest of a layer";
  ASSERT_EQ(saved->layers.size(), 2u);
  const LayerMaxima &first = saved->layers[0];
  EXPECT_EQ(first.index, 3);
  EXPECT_EQ(first.runtimeName, kNames[0]);
  ASSERT_EQ(first.amax.q.size(), heads);
  ASSERT_EQ(first.amax.k.size(), kvHeads);
  for (std::size_t head = 0; head < heads; ++head) {
    EXPECT_EQ(first.amax.q[head], largestOf(q.host, heads, kQkDim, head));
    MagnitudeHistogram expected{
        .first = first.histograms.q[head].first,
        .counts = std::vector<std::uint64_t>(first.histograms.q[head].counts.size())};
    for (std::size_t i = 0; i < q.host.size(); ++i)
      if (i / kQkDim % heads == head) {
        const std::uint32_t bucket = magnitudeBucket(bf16ToFloat(q.host[i]));
        expected.counts.at(std::max(bucket, expected.first) - expected.first) += 2;
      }
    EXPECT_EQ(first.histograms.q[head], expected);
  }
  EXPECT_EQ(first.amax.k[0], 5000 - 8) << "the rope's, as bf16 rounds it";
  EXPECT_EQ(first.histograms.k[0].counts.back(), 2u);
  EXPECT_GT(magnitudeAt(first.histograms.k[0], 100), 4992);
  EXPECT_EQ(first.amax.v[0], largestOf(v.host, kvHeads, kDim, 0));
  EXPECT_THAT(saved->layers[1].amax.q, testing::Each(0.5f));
  ASSERT_TRUE(ok(wavesmith_collector_destroy(collector)));
}

TEST_F(Calibration, ASharedRopeIsMeasuredForEveryHead) {
  wavesmith_calibration calibration = rank();
  calibration.kv_heads = kModelHeads; // two on this rank
  wavesmith_collector_options how = options(calibration);
  how.flags = WAVESMITH_IN_PARTS | WAVESMITH_SHARED_ROPE;
  how.layer_count = 1;
  const wavesmith_collector collector = create(how);
  ASSERT_TRUE(ok(wavesmith_collector_enable(collector, 1)));
  const std::size_t tokens = 3;
  const Array q(drawBf16(tokens * 2 * kQkDim)), k(drawBf16(tokens * 2 * kNopeDim)),
      v(drawBf16(tokens * 2 * kDim));
  const Array rope(std::vector<std::uint16_t>(tokens * kRopeDim, floatToBf16(48)));
  wavesmith_observation seen = observation(tokens, q, k, v);
  seen.k_rope = rope.get();
  wavesmith_statistics before = WAVESMITH_INIT(wavesmith_statistics), after = before;
  ASSERT_TRUE(ok(wavesmith_get_statistics(context, &before)));
  ASSERT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr)));
  ASSERT_TRUE(ok(wavesmith_get_statistics(context, &after)));
  EXPECT_EQ(after.plans, before.plans + 4) << "q, k, v and the rope";
  ASSERT_TRUE(ok(wavesmith_collector_save(collector, directory.c_str())));
  EXPECT_THAT(shard()->layers[0].amax.k, testing::ElementsAre(48, 48));
  ASSERT_TRUE(ok(wavesmith_collector_destroy(collector)));
}

TEST_F(Calibration, ASaveMayBeTakenWhileAnotherThreadShows) {
  const wavesmith_calibration calibration = rank();
  wavesmith_collector_options how = options(calibration);
  how.flags = WAVESMITH_HISTOGRAMS;
  how.layer_count = 1;
  const wavesmith_collector collector = create(how);
  ASSERT_TRUE(ok(wavesmith_collector_enable(collector, 1)));
  const std::size_t tokens = 8;
  const Array q(drawBf16(tokens * 2 * kQkDim)), k(drawBf16(tokens * kQkDim)),
      v(drawBf16(tokens * kDim));
  const wavesmith_observation seen = observation(tokens, q, k, v);
  ASSERT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr)));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      EXPECT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr)));
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  for (int i = 0; i < 40; ++i)
    EXPECT_TRUE(ok(wavesmith_collector_save(collector, directory.c_str())));
  stop = true;
  other.join();
  ASSERT_TRUE(ok(wavesmith_collector_destroy(collector)));
}

TEST_F(Calibration, WhatIsNotFiniteFailsTheSaveWithHistograms) {
  const wavesmith_calibration calibration = rank();
  wavesmith_collector_options how = options(calibration);
  how.flags = WAVESMITH_HISTOGRAMS;
  how.layer_count = 1;
  const wavesmith_collector collector = create(how);
  ASSERT_TRUE(ok(wavesmith_collector_enable(collector, 1)));
  const std::size_t tokens = 3;
  std::vector<std::uint16_t> broken = drawBf16(tokens * 2 * kQkDim);
  broken[kQkDim + 5] = floatToBf16(std::numeric_limits<float>::infinity());
  const Array q(broken), k(drawBf16(tokens * kQkDim)), v(drawBf16(tokens * kDim));
  wavesmith_observation seen = observation(tokens, q, k, v);
  ASSERT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr)));
  EXPECT_TRUE(invalid(wavesmith_collector_save(collector, directory.c_str()),
                      "layer 3: q of head 1 had 1 elements that are not finite, of 576"));
  ASSERT_TRUE(ok(wavesmith_collector_destroy(collector)));
}

TEST_F(Calibration, RotatedMaximaAreThoseOfTheQuantiser) {
  wavesmith_calibration calibration = rank();
  calibration.rotation = 9;
  const wavesmith_collector collector = create(options(calibration));
  ASSERT_TRUE(ok(wavesmith_collector_enable(collector, 1)));
  const std::size_t tokens = 5;
  const Array q(drawBf16(tokens * 2 * kQkDim)), k(drawBf16(tokens * kQkDim)),
      v(drawBf16(tokens * kDim));
  wavesmith_observation seen = observation(tokens, q, k, v);
  for (const std::int32_t layer : kLayers) {
    seen.layer = layer;
    ASSERT_TRUE(ok(wavesmith_collector_observe(collector, &seen, nullptr)));
  }
  ASSERT_TRUE(ok(wavesmith_collector_save(collector, directory.c_str())));
  const auto saved = shard();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->run.rotationSeed, 9u);
  EXPECT_TRUE(saved->layers[0].histograms.q.empty());

  const Array amax(zeros<float>(2));
  wavesmith_amax measure = WAVESMITH_INIT(wavesmith_amax);
  measure.input = WAVESMITH_BF16;
  measure.head_dim = kQkDim;
  measure.heads = 2;
  measure.tokens = tokens;
  measure.rotation = 9;
  wavesmith_plan plan = nullptr;
  ASSERT_TRUE(ok(wavesmith_plan_amax(context, &measure, &plan, nullptr)));
  wavesmith_amax_buffers buffers = WAVESMITH_INIT(wavesmith_amax_buffers);
  buffers.x = q.get();
  buffers.amax = amax.get();
  ASSERT_TRUE(ok(wavesmith_launch_amax(plan, &buffers, nullptr)));
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(saved->layers[0].amax.q, amax.read());
  EXPECT_NE(saved->layers[0].amax.q[0], largestOf(q.host, 2, kQkDim, 0));
  EXPECT_EQ(saved->layers[0].amax.v[0], largestOf(v.host, 1, kDim, 0)) << "values are not rotated";
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  ASSERT_TRUE(ok(wavesmith_collector_destroy(collector)));
}

TEST_F(Calibration, ItsKernelsAreHadWhenItIsMade) {
  wavesmith_context_options strict = WAVESMITH_INIT(wavesmith_context_options);
  strict.device = WAVESMITH_DEVICE_EMULATOR;
  strict.jit = WAVESMITH_JIT_FORBID;
  strict.cache_directory = "off";
  wavesmith_context own = nullptr;
  ASSERT_TRUE(ok(wavesmith_context_create(&strict, &own)));
  const wavesmith_calibration calibration = rank();
  const wavesmith_collector_options how = options(calibration);
  wavesmith_collector made = nullptr;
  EXPECT_TRUE(
      refused(wavesmith_collector_create(own, &how, &made), WAVESMITH_JIT_FORBIDDEN, "amax"));
  ASSERT_TRUE(ok(wavesmith_context_destroy(own)));
}

TEST_F(Calibration, ARankWithoutLayersWritesAShardToo) {
  const wavesmith_calibration calibration = rank();
  wavesmith_collector_options none = options(calibration);
  none.layers = nullptr;
  none.layer_names = nullptr;
  none.layer_count = 0;
  const wavesmith_collector collector = create(none);
  ASSERT_TRUE(ok(wavesmith_collector_save(collector, directory.c_str())));
  EXPECT_TRUE(refused(wavesmith_collector_save(collector, (directory + "/none").c_str()),
                      WAVESMITH_NOT_FOUND, "open directory", "/none"));
  // Which leaves the older shard where it is.
  const auto saved = shard();
  ASSERT_TRUE(saved);
  EXPECT_TRUE(saved->layers.empty());
  ASSERT_TRUE(ok(wavesmith_collector_destroy(collector)));
}

TEST_F(Calibration, WhatIsRefused) {
  const auto creating = [&](auto &&change) {
    wavesmith_calibration calibration = rank();
    wavesmith_collector_options changed = options(calibration);
    change(calibration, changed);
    wavesmith_collector made = nullptr;
    return wavesmith_collector_create(context, &changed, &made);
  };
  EXPECT_TRUE(
      invalid(creating([](auto &c, auto &) { c.checkpoint = "main"; }), "checkpoint", "main"));
  EXPECT_TRUE(invalid(creating([](auto &c, auto &) { c.model = nullptr; }), "model"));
  EXPECT_TRUE(invalid(creating([](auto &c, auto &) { c.tp_rank = 2; }), "tp_rank is 2", "0 to 1"));
  EXPECT_TRUE(invalid(creating([](auto &c, auto &) { c.margin = 0.5; }), "margin"));
  EXPECT_TRUE(invalid(creating([](auto &c, auto &) { c.heads = 3; }), "heads"));
  EXPECT_TRUE(invalid(creating([](auto &c, auto &) { c.num_layers = 0; }), "num_layers is 0"));
  EXPECT_TRUE(invalid(creating([](auto &c, auto &) { c.num_layers = 1; }), "num_layers is 1"));
  constexpr std::int32_t kFar[] = {3, 1 << 16};
  EXPECT_TRUE(invalid(creating([&](auto &, auto &o) { o.layers = kFar; }), "layers[1] is 65536"));
  EXPECT_TRUE(invalid(creating([](auto &, auto &o) { o.input = 9; }), "input is 9"));
  EXPECT_TRUE(invalid(creating([](auto &, auto &o) { o.flags = 1; }), "flags are 0x1"));
  EXPECT_TRUE(invalid(creating([](auto &, auto &o) { o.layer_names = nullptr; }), "layer_names"));
  constexpr std::int32_t kFalling[] = {7, 3};
  EXPECT_TRUE(invalid(creating([&](auto &, auto &o) { o.layers = kFalling; }), "layers[1] is 3"));
  EXPECT_TRUE(invalid(creating([](auto &, auto &o) { o.calibration = nullptr; }), "calibration"));

  const wavesmith_calibration calibration = rank();
  const wavesmith_collector collector = create(options(calibration));
  EXPECT_TRUE(invalid(wavesmith_collector_enable(collector, 2), "enabled is 2"));
  ASSERT_TRUE(ok(wavesmith_collector_enable(collector, 1)));
  const Memory memory(1 << 16);
  wavesmith_observation seen = WAVESMITH_INIT(wavesmith_observation);
  seen.layer = 3;
  seen.tokens_q = seen.tokens_kv = 4;
  seen.q = seen.k = seen.v = memory.get();
  const auto observing = [&](auto &&change) {
    wavesmith_observation changed = seen;
    change(changed);
    return wavesmith_collector_observe(collector, &changed, nullptr);
  };
  EXPECT_TRUE(invalid(observing([](auto &o) { o.layer = 4; }), "layer is 4"));
  EXPECT_TRUE(invalid(observing([](auto &o) { o.tokens_q = -1; }), "q: tokens is -1"));
  EXPECT_TRUE(invalid(observing([](auto &o) { o.k = nullptr; }), "k: the tensor is null"));
  EXPECT_TRUE(
      invalid(observing([&](auto &o) { o.v = memory.at(8); }), "v: the tensor is at", "16 bytes"));
  EXPECT_TRUE(invalid(observing([](auto &o) { o.q_strides.row = 3; }), "q: ", "row stride is 3"));
  EXPECT_TRUE(invalid(observing([&](auto &o) { o.k_rope = memory.get(); }), "k_rope"));
  EXPECT_TRUE(invalid(wavesmith_collector_save(collector, nullptr), "directory is null"));
  EXPECT_TRUE(invalid(wavesmith_collector_save(collector, ""), "directory is empty"));
  // Nothing of a refused observation counts: the maxima are still 0.
  ASSERT_EQ(hipMemset(memory.get(), 0x40, 1 << 16), hipSuccess);
  EXPECT_TRUE(invalid(observing([](auto &o) { o.v = nullptr; }), "v: the tensor is null"));

  // A graph would measure only what it was captured with.
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_TRUE(invalid(wavesmith_collector_observe(collector, &seen, stream), "captured", "eager"));
  ASSERT_TRUE(ok(wavesmith_collector_enable(collector, 0)));
  EXPECT_TRUE(ok(wavesmith_collector_observe(collector, &seen, stream))) << "off, it does nothing";
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);

  // An error while saving does not lose the process.
  EXPECT_TRUE(invalid(wavesmith_collector_save(collector, directory.c_str()),
                      "layer 3: q_amax of head 0 is 0"));
  ASSERT_TRUE(ok(wavesmith_collector_destroy(collector)));
  EXPECT_TRUE(invalid(wavesmith_collector_destroy(collector), "destroyed or never made"));
  EXPECT_TRUE(invalid(wavesmith_collector_enable(reinterpret_cast<wavesmith_collector>(context), 1),
                      "is a context, not a collector"));
}

} // namespace
} // namespace wavesmith::test
