// Calibration in a running engine: maxima (and histograms) of q, k and v for each layer and head,
// kept in device memory until they are saved as a rank's shard.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capi/Calibration.h"
#include "runtime/capi/Call.h"
#include "runtime/capi/RowOps.h"
#include "runtime/hip/HipObjects.h"
#include "runtime/scales/Shard.h"
#include "runtime/spec/MagnitudeClasses.h"

namespace wavesmith::capi {
namespace {

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

constexpr std::uint32_t kParts = WAVESMITH_IN_PARTS | WAVESMITH_SHARED_ROPE;

class Collector {
public:
  static Expected<std::shared_ptr<Collector>> create(std::shared_ptr<Context> context,
                                                     const wavesmith_collector_options &options);

  void enable(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }
  Status observe(const wavesmith_observation &seen, hipStream_t stream);
  Status save(const std::string &directory);

private:
  struct Layer : RankLayer {
    std::atomic<std::uint64_t> tokensQ{0}, tokensKv{0};
  };
  /// A tensor of the caller's that is measured, or a part of one.
  struct Part {
    Qkv which;
    const void *address;
    const char *name; ///< as messages have it
    int dim, firstColumn;
    wavesmith_strides strides;
    bool shared; ///< the same row for all heads
  };

  explicit Collector(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  Device &device() const { return *context_->device; }
  Expected<std::size_t> placeOf(std::int32_t layer) const;
  std::vector<Part> partsOf(const wavesmith_observation &seen) const;
  /// The kernels for one part, checked and loaded.
  struct Measurement {
    Part part;
    std::shared_ptr<Plan> amax, histogram; ///< the latter only with histograms
  };
  static Status checkAddress(const Part &part, std::int64_t tokens);
  Expected<Measurement> plan(const Part &part, std::int64_t tokens) const;
  Expected<std::vector<Measurement>> planAll(const wavesmith_observation &seen) const;
  Status launch(const Measurement &measurement, std::size_t layer, hipStream_t stream) const;
  /// Number of the first of a layer's heads among all values that are kept.
  std::size_t valueOf(std::size_t layer, Qkv which) const;
  LayerMaxima maximaOf(std::size_t layer, std::span<const float> amax,
                       std::span<const std::uint64_t> counts) const;
  /// Tokens that a layer was shown.
  struct Shown {
    std::uint64_t q, kv;
  };
  /// Histograms count everything that was shown but what is not finite.
  Status checkFinite(const LayerMaxima &maxima, const Shown &tokens) const;

  std::shared_ptr<Context> context_;
  Rank rank_;
  std::int32_t input_ = 0;
  std::uint32_t flags_ = 0;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::atomic<bool> enabled_{false};
  DeviceBuffer amax_;   ///< float32 [layers][q heads, k heads, v heads]
  DeviceBuffer counts_; ///< uint64 [likewise][classes]; empty without histograms
};

Expected<std::shared_ptr<Collector>> Collector::create(std::shared_ptr<Context> context,
                                                       const wavesmith_collector_options &options) {
  if (options.flags & ~(WAVESMITH_HISTOGRAMS | kParts))
    return invalid("flags are 0x{:x}; a collector knows 0x{:x}", options.flags,
                   WAVESMITH_HISTOGRAMS | kParts);
  if ((options.flags & kParts) == WAVESMITH_SHARED_ROPE)
    return invalid("flags are 0x{:x}; a rope belongs to WAVESMITH_IN_PARTS", options.flags);
  std::shared_ptr<Collector> made(new Collector(std::move(context)));
  WAVESMITH_ASSIGN(const Target target, parseTarget(made->device().info().target));
  WAVESMITH_ASSIGN(made->rank_, readCalibration(options.calibration, target.fp8));
  const CalibrationRun &run = made->rank_.run;
  // As save() will: it would be late to learn then that the shard cannot be written.
  const CalibrationShard empty{.run = run, .tpRank = made->rank_.tp, .ppRank = made->rank_.pp};
  WAVESMITH_TRY(empty.print().status().withContext("calibration"));
  if ((options.flags & WAVESMITH_IN_PARTS) && run.headDimQk != kNopeDim + kRopeDim)
    return invalid("head_dim_qk is {}; rows in parts have {} + {} elements", run.headDimQk,
                   kNopeDim, kRopeDim);
  WAVESMITH_ASSIGN(std::vector<RankLayer> layers,
                   readLayers(options.layers, options.layer_names, options.layer_count, true));
  if (layers.size() > static_cast<std::size_t>(run.numLayers))
    return invalid("layer_count is {}; num_layers is {}", layers.size(), run.numLayers);
  for (RankLayer &layer : layers) {
    made->layers_.push_back(std::make_unique<Layer>());
    static_cast<RankLayer &>(*made->layers_.back()) = std::move(layer);
  }
  made->input_ = options.input;
  made->flags_ = options.flags;

  const DeviceScope scope(made->device().table());
  WAVESMITH_TRY(scope.status());
  const std::size_t values = made->valueOf(made->layers_.size(), Qkv::Q);
  const auto cleared = [&](DeviceBuffer &buffer, std::size_t bytes) -> Status {
    WAVESMITH_ASSIGN(buffer, DeviceBuffer::allocate(made->device().tablePtr(), bytes));
    return bytes == 0 ? Status::ok() : buffer.fill(std::byte{0});
  };
  WAVESMITH_TRY(cleared(made->amax_, values * sizeof(float)));
  if (options.flags & WAVESMITH_HISTOGRAMS)
    WAVESMITH_TRY(cleared(made->counts_, values * kMagnitudeClasses * sizeof(std::uint64_t)));
  // Compiled now and not in the middle of a forward pass; without rows there would be no kernel.
  const wavesmith_observation nothing{};
  for (const Part &part : made->partsOf(nothing))
    WAVESMITH_TRY(made->plan(part, /*tokens=*/1).status());
  return made;
}

std::size_t Collector::valueOf(std::size_t layer, Qkv which) const {
  const auto heads = static_cast<std::size_t>(localHeads(rank_.run));
  const auto kvHeads = static_cast<std::size_t>(localKvHeads(rank_.run));
  const std::size_t before = which == Qkv::Q ? 0 : which == Qkv::K ? heads : heads + kvHeads;
  return layer * (heads + 2 * kvHeads) + before;
}

std::vector<Collector::Part> Collector::partsOf(const wavesmith_observation &seen) const {
  const CalibrationRun &run = rank_.run;
  const bool parts = (flags_ & WAVESMITH_IN_PARTS) != 0;
  std::vector<Part> all = {
      {Qkv::Q, seen.q, "q", run.headDimQk, 0, seen.q_strides, false},
      {Qkv::K, seen.k, "k", parts ? kNopeDim : run.headDimQk, 0, seen.k_strides, false},
      {Qkv::V, seen.v, "v", run.headDimV, 0, seen.v_strides, false}};
  if (parts)
    all.push_back({Qkv::K, seen.k_rope, "k_rope", kRopeDim, kNopeDim, seen.rope_strides,
                   (flags_ & WAVESMITH_SHARED_ROPE) != 0});
  return all;
}

Status Collector::checkAddress(const Part &part, std::int64_t tokens) {
  const auto address = reinterpret_cast<std::uint64_t>(part.address);
  if (tokens > 0 && address == 0)
    return isNull("the tensor");
  if (address % kAddressAlignment != 0)
    return invalid("the tensor is at 0x{:x}; it must be aligned to {} bytes", address,
                   kAddressAlignment);
  return Status::ok();
}

Expected<Collector::Measurement> Collector::plan(const Part &part, std::int64_t tokens) const {
  wavesmith_amax rows{};
  rows.input = input_;
  rows.head_dim = part.dim;
  // A row that all heads share is measured once for each: a calibration may take the time.
  rows.heads = part.shared ? 1 : localCount(rank_.run, part.which);
  rows.tokens = tokens;
  rows.rotation = part.which == Qkv::V ? 0 : rank_.run.rotationSeed;
  rows.first_column = part.firstColumn;
  rows.x = part.strides;
  if (part.shared && part.strides.head != 0)
    return invalid("head stride is {}; a rope that is the same for all heads has none",
                   part.strides.head);
  Measurement made{.part = part, .amax = nullptr, .histogram = nullptr};
  WAVESMITH_ASSIGN(made.amax, planAmax(*context_, rows));
  if (flags_ & WAVESMITH_HISTOGRAMS) {
    WAVESMITH_ASSIGN(made.histogram, planHistogram(*context_, rows));
  }
  return made;
}

Expected<std::vector<Collector::Measurement>>
Collector::planAll(const wavesmith_observation &seen) const {
  std::vector<Measurement> all;
  for (const Part &part : partsOf(seen)) {
    if (const Status status =
            checkAddress(part, part.which == Qkv::Q ? seen.tokens_q : seen.tokens_kv);
        !status.isOk())
      return status.withContext(part.name);
    Expected<Measurement> made = plan(part, part.which == Qkv::Q ? seen.tokens_q : seen.tokens_kv);
    if (!made)
      return made.status().withContext(part.name);
    all.push_back(*std::move(made));
  }
  return all;
}

Status Collector::launch(const Measurement &measurement, std::size_t layer,
                         hipStream_t stream) const {
  const Part &part = measurement.part;
  const std::int32_t calls = part.shared ? localCount(rank_.run, part.which) : 1;
  for (std::int32_t i = 0; i < calls; ++i) {
    const std::size_t value = valueOf(layer, part.which) + static_cast<std::size_t>(i);
    AttentionBuffers buffers;
    buffers.q = reinterpret_cast<std::uint64_t>(part.address);
    buffers.descaleK = amax_.address() + value * sizeof(float);
    WAVESMITH_TRY(measurement.amax->launch(buffers, 0, stream, /*counts=*/false));
    if (!measurement.histogram)
      continue;
    buffers.lse = counts_.address() + value * kMagnitudeClasses * sizeof(std::uint64_t);
    WAVESMITH_TRY(measurement.histogram->launch(buffers, 0, stream, /*counts=*/false));
  }
  return Status::ok();
}

Expected<std::size_t> Collector::placeOf(std::int32_t layer) const {
  const auto found = std::ranges::lower_bound(
      layers_, layer, {}, [](const std::unique_ptr<Layer> &each) { return each->index; });
  if (found == layers_.end() || (*found)->index != layer)
    return invalid("layer is {}, which is none of the collector's {}", layer, layers_.size());
  return static_cast<std::size_t>(found - layers_.begin());
}

Status Collector::observe(const wavesmith_observation &seen, hipStream_t stream) {
  if (!enabled_.load(std::memory_order_relaxed))
    return Status::ok();
  WAVESMITH_ASSIGN(const std::size_t place, placeOf(seen.layer));
  if (seen.reserved != 0)
    return invalid("reserved is {}; it must be 0", seen.reserved);
  WAVESMITH_TRY(checkStream(device().table(), stream));
  if (stream && device().table().hipStreamIsCapturing) {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    WAVESMITH_TRY(device().table().check(device().table().hipStreamIsCapturing(stream, &status),
                                         "hipStreamIsCapturing"));
    if (status != hipStreamCaptureStatusNone)
      return invalid("the stream is being captured; a graph would measure only what it was "
                     "captured with, so calibrate in eager mode");
  }
  if (!(flags_ & WAVESMITH_IN_PARTS) &&
      (seen.k_rope || seen.rope_strides.row != 0 || seen.rope_strides.head != 0))
    return invalid("there is a k_rope, which belongs to WAVESMITH_IN_PARTS");
  // Nothing of an observation that is refused counts.
  WAVESMITH_ASSIGN(const std::vector<Measurement> measurements, planAll(seen));
  for (const Measurement &measurement : measurements)
    WAVESMITH_TRY(launch(measurement, place, stream));
  layers_[place]->tokensQ.fetch_add(static_cast<std::uint64_t>(seen.tokens_q),
                                    std::memory_order_release);
  layers_[place]->tokensKv.fetch_add(static_cast<std::uint64_t>(seen.tokens_kv),
                                     std::memory_order_release);
  return Status::ok();
}

/// As the kernel counted them: its first class also holds what is smaller, its last what is larger.
MagnitudeHistogram histogramOf(std::span<const std::uint64_t> counts, float amax) {
  MagnitudeHistogram histogram{.first = kFirstMagnitudeClass,
                               .counts = {counts.begin(), counts.end()}};
  const std::uint32_t largest = magnitudeBucket(amax), last = histogram.first + counts.size() - 1;
  if (largest > last) {
    histogram.counts.resize(largest - histogram.first + 1, 0);
    std::swap(histogram.counts[last - histogram.first], histogram.counts.back());
  }
  return histogram;
}

LayerMaxima Collector::maximaOf(std::size_t layer, std::span<const float> amax,
                                std::span<const std::uint64_t> counts) const {
  LayerMaxima maxima{.index = layers_[layer]->index, .runtimeName = layers_[layer]->name};
  for (const Qkv which : kQkv) {
    const std::size_t first = valueOf(layer, which);
    for (std::size_t i = 0; i < static_cast<std::size_t>(localCount(rank_.run, which)); ++i) {
      maxima.amax[which].push_back(amax[first + i]);
      if (!counts.empty())
        maxima.histograms[which].push_back(histogramOf(
            counts.subspan((first + i) * kMagnitudeClasses, kMagnitudeClasses), amax[first + i]));
    }
  }
  return maxima;
}

Status Collector::checkFinite(const LayerMaxima &maxima, const Shown &tokens) const {
  for (const Qkv which : kQkv) {
    const int dim = which == Qkv::V ? rank_.run.headDimV : rank_.run.headDimQk;
    const std::uint64_t shown =
        (which == Qkv::Q ? tokens.q : tokens.kv) * static_cast<std::uint64_t>(dim);
    const std::vector<MagnitudeHistogram> &heads = maxima.histograms[which];
    for (std::size_t head = 0; head < heads.size(); ++head) {
      std::uint64_t counted = 0;
      for (const std::uint64_t count : heads[head].counts)
        counted += count;
      if (counted < shown)
        return invalid("layer {}: {} of head {} had {} elements that are not finite, of {}",
                       maxima.index, qkvName(which), head, shown - counted, shown);
    }
  }
  return Status::ok();
}

Status Collector::save(const std::string &directory) {
  std::vector<float> amax(amax_.size() / sizeof(float));
  std::vector<std::uint64_t> counts(counts_.size() / sizeof(std::uint64_t));
  // Before the wait: what another thread shows meanwhile may be in the counts, but need not be.
  std::vector<Shown> shown;
  for (const std::unique_ptr<Layer> &layer : layers_)
    shown.push_back({layer->tokensQ.load(std::memory_order_acquire),
                     layer->tokensKv.load(std::memory_order_acquire)});
  {
    const DeviceScope scope(device().table());
    WAVESMITH_TRY(scope.status());
    WAVESMITH_TRY(
        device().table().check(device().table().hipDeviceSynchronize(), "hipDeviceSynchronize"));
    if (!amax.empty())
      WAVESMITH_TRY(amax_.download(std::as_writable_bytes(std::span(amax))));
    if (!counts.empty())
      WAVESMITH_TRY(counts_.download(std::as_writable_bytes(std::span(counts))));
  }
  CalibrationShard shard{.run = rank_.run, .tpRank = rank_.tp, .ppRank = rank_.pp};
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    shard.layers.push_back(maximaOf(layer, amax, counts));
    WAVESMITH_TRY(checkFinite(shard.layers.back(), shown[layer]));
    shard.tokens = layer == 0 ? shown[layer].q : std::min(shard.tokens, shown[layer].q);
  }
  return shard.write(directory + "/" + CalibrationShard::fileName(rank_.pp, rank_.tp));
}

HandleTable<Collector> &collectors() {
  static auto &table = *new HandleTable<Collector>(HandleKind::Collector); // outlives every caller
  return table;
}

template <typename Body>
wavesmith_status withCollector(const char *function, wavesmith_collector collector, Body &&body) {
  return call(function, [&]() -> Status {
    const auto handle = reinterpret_cast<std::uint64_t>(collector);
    const auto found = collectors().use(handle);
    return found ? body(*found) : badHandle(handle, HandleKind::Collector);
  });
}

} // namespace
} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_collector_create(wavesmith_context context,
                                            const wavesmith_collector_options *options,
                                            wavesmith_collector *collector) {
  return call("wavesmith_collector_create", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    if (!collector)
      return isNull("collector");
    wavesmith_collector_options given;
    WAVESMITH_TRY(readStruct(options, given, sizeof given, "options"));
    WAVESMITH_ASSIGN(std::shared_ptr<Collector> made,
                     Collector::create(found->shared_from_this(), given));
    WAVESMITH_ASSIGN(const std::uint64_t handle, collectors().add(std::move(made)));
    *collector = reinterpret_cast<wavesmith_collector>(handle);
    return Status::ok();
  });
}

wavesmith_status wavesmith_collector_destroy(wavesmith_collector collector) {
  return call("wavesmith_collector_destroy", [&]() -> Status {
    const auto handle = reinterpret_cast<std::uint64_t>(collector);
    return collectors().remove(handle) ? Status::ok() : badHandle(handle, HandleKind::Collector);
  });
}

wavesmith_status wavesmith_collector_enable(wavesmith_collector collector, int32_t enabled) {
  return withCollector("wavesmith_collector_enable", collector, [&](Collector &found) -> Status {
    if (enabled != 0 && enabled != 1)
      return error(StatusCode::InvalidArgument, "enabled is {}; want 0 or 1", enabled);
    found.enable(enabled == 1);
    return Status::ok();
  });
}

wavesmith_status wavesmith_collector_observe(wavesmith_collector collector,
                                             const wavesmith_observation *observation,
                                             void *stream) {
  return withCollector("wavesmith_collector_observe", collector, [&](Collector &found) -> Status {
    wavesmith_observation seen;
    WAVESMITH_TRY(
        readStruct(observation, seen, offsetof(wavesmith_observation, k_rope), "observation"));
    return found.observe(seen, static_cast<hipStream_t>(stream));
  });
}

wavesmith_status wavesmith_collector_save(wavesmith_collector collector, const char *directory) {
  return withCollector("wavesmith_collector_save", collector, [&](Collector &found) -> Status {
    if (!directory)
      return isNull("directory");
    if (*directory == '\0')
      return error(StatusCode::InvalidArgument, "directory is empty; \".\" is the current one");
    return found.save(directory);
  });
}
