// Calibrated scales in a running engine: a rank's descales in device memory beside counters of what
// saturates with them.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/capi/Calibration.h"
#include "runtime/capi/Call.h"
#include "runtime/capi/Context.h"
#include "runtime/hip/HipObjects.h"
#include "runtime/scales/Loading.h"
#include "runtime/support/Log.h"

namespace wavesmith::capi {
namespace {

class Scales {
public:
  static Expected<std::shared_ptr<Scales>> load(std::shared_ptr<Device> device,
                                                const wavesmith_scales_options &options);

  Status fill(std::int32_t layer, wavesmith_layer_scales &values) const;
  Status readSaturation(std::int32_t layer, const PerQkv<std::uint64_t *> &counts);

private:
  explicit Scales(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  std::size_t valuesOfLayer() const { return offsetOf(Qkv::V) + countOf(Qkv::V); }
  std::size_t countOf(Qkv which) const {
    return static_cast<std::size_t>(localCount(loaded_.run, which));
  }
  /// Of a tensor's first head among the values of its layer.
  std::size_t offsetOf(Qkv which) const {
    return which == Qkv::Q   ? 0
           : which == Qkv::K ? countOf(Qkv::Q)
                             : countOf(Qkv::Q) + countOf(Qkv::K);
  }
  /// Number of the layer's first value among all.
  Expected<std::size_t> valueOf(std::int32_t layer) const;
  void warn(std::int32_t layer, Qkv which, std::span<const std::uint64_t> counts);

  std::shared_ptr<Device> device_;
  LoadedScales loaded_;
  DeviceBuffer descales_;  ///< float32 [layers][q, k, v heads]
  DeviceBuffer saturated_; ///< uint64 likewise
  std::uint64_t limit_ = 1;
  std::mutex mutex_;
  std::set<std::tuple<std::int32_t, Qkv, std::size_t>> warned_;
};

Expected<std::shared_ptr<Scales>> Scales::load(std::shared_ptr<Device> device,
                                               const wavesmith_scales_options &options) {
  if (!options.path)
    return isNull("path");
  WAVESMITH_ASSIGN(const Target target, parseTarget(device->info().target));
  WAVESMITH_ASSIGN(Rank rank, readCalibration(options.calibration, target.fp8));
  WAVESMITH_ASSIGN(const std::vector<RankLayer> layers,
                   readLayers(options.layers, options.layer_names, options.layer_count, false));
  ScaleExpectation expected{.run = std::move(rank.run), .tpRank = rank.tp, .layers = {}};
  for (const RankLayer &layer : layers)
    expected.layers.push_back({layer.index, layer.name});

  std::shared_ptr<Scales> made(new Scales(std::move(device)));
  WAVESMITH_ASSIGN(made->loaded_, loadScales(options.path, expected));
  made->limit_ = options.saturation_limit == 0 ? 1 : options.saturation_limit;
  std::vector<float> descales;
  for (const LoadedScales::Layer &layer : made->loaded_.layers)
    for (const Qkv which : kQkv)
      descales.insert(descales.end(), layer.descale[which].begin(), layer.descale[which].end());

  const DeviceScope scope(made->device_->table());
  WAVESMITH_TRY(scope.status());
  const HipTablePtr &table = made->device_->tablePtr();
  WAVESMITH_ASSIGN(made->descales_, DeviceBuffer::allocate(table, descales.size() * sizeof(float)));
  WAVESMITH_ASSIGN(made->saturated_,
                   DeviceBuffer::allocate(table, descales.size() * sizeof(std::uint64_t)));
  if (!descales.empty()) {
    WAVESMITH_TRY(made->descales_.upload(std::as_bytes(std::span(descales))));
    WAVESMITH_TRY(made->saturated_.fill(std::byte{0}));
  }
  log::info("scales", "loaded path={} digest={:.12} layers={} rotation={}", made->loaded_.path,
            made->loaded_.digest, made->loaded_.layers.size(), made->loaded_.run.rotationSeed);
  return made;
}

Expected<std::size_t> Scales::valueOf(std::int32_t layer) const {
  for (std::size_t i = 0; i < loaded_.layers.size(); ++i)
    if (loaded_.layers[i].index == layer)
      return i * valuesOfLayer();
  return error(StatusCode::InvalidArgument, "layer is {}, which is none of the {} loaded from {}",
               layer, loaded_.layers.size(), loaded_.path);
}

Status Scales::fill(std::int32_t layer, wavesmith_layer_scales &values) const {
  WAVESMITH_ASSIGN(const std::size_t first, valueOf(layer));
  const auto descale = [&](Qkv which) {
    return static_cast<const float *>(descales_.data()) + first + offsetOf(which);
  };
  const auto saturated = [&](Qkv which) {
    return static_cast<std::uint64_t *>(saturated_.data()) + first + offsetOf(which);
  };
  values.descale_q = descale(Qkv::Q);
  values.descale_k = descale(Qkv::K);
  values.descale_v = descale(Qkv::V);
  values.saturated_q = saturated(Qkv::Q);
  values.saturated_k = saturated(Qkv::K);
  values.saturated_v = saturated(Qkv::V);
  values.heads = static_cast<std::int32_t>(countOf(Qkv::Q));
  values.kv_heads = static_cast<std::int32_t>(countOf(Qkv::K));
  values.rotation = loaded_.run.rotationSeed;
  return Status::ok();
}

void Scales::warn(std::int32_t layer, Qkv which, std::span<const std::uint64_t> counts) {
  const std::lock_guard lock(mutex_);
  for (std::size_t head = 0; head < counts.size(); ++head)
    if (counts[head] >= limit_ && warned_.emplace(layer, which, head).second)
      log::warn("scales",
                "saturated layer={} tensor={} head={} elements={} limit={} path={}: beyond the "
                "calibrated range",
                layer, qkvName(which), head, counts[head], limit_, loaded_.path);
}

Status Scales::readSaturation(std::int32_t layer, const PerQkv<std::uint64_t *> &counts) {
  WAVESMITH_ASSIGN(const std::size_t first, valueOf(layer));
  std::vector<std::uint64_t> values(valuesOfLayer());
  {
    const DeviceScope scope(device_->table());
    WAVESMITH_TRY(scope.status());
    WAVESMITH_TRY(
        device_->table().check(device_->table().hipDeviceSynchronize(), "hipDeviceSynchronize"));
    WAVESMITH_TRY(saturated_.download(std::as_writable_bytes(std::span(values)),
                                      first * sizeof(std::uint64_t)));
  }
  for (const Qkv which : kQkv) {
    const std::span<const std::uint64_t> own(values.data() + offsetOf(which), countOf(which));
    warn(layer, which, own);
    if (counts[which])
      std::ranges::copy(own, counts[which]);
  }
  return Status::ok();
}

HandleTable<Scales> &scaleSets() {
  static auto &table = *new HandleTable<Scales>(HandleKind::Scales); // outlives every caller
  return table;
}

template <typename Body>
wavesmith_status withScales(const char *function, wavesmith_scales scales, Body &&body) {
  return call(function, [&]() -> Status {
    const auto handle = reinterpret_cast<std::uint64_t>(scales);
    const auto found = scaleSets().use(handle);
    return found ? body(*found) : badHandle(handle, HandleKind::Scales);
  });
}

} // namespace
} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_scales_load(wavesmith_context context,
                                       const wavesmith_scales_options *options,
                                       wavesmith_scales *scales) {
  return call("wavesmith_scales_load", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    if (!scales)
      return isNull("scales");
    wavesmith_scales_options given;
    WAVESMITH_TRY(readStruct(options, given, sizeof given, "options"));
    WAVESMITH_ASSIGN(std::shared_ptr<Scales> made, Scales::load(found->device, given));
    WAVESMITH_ASSIGN(const std::uint64_t handle, scaleSets().add(std::move(made)));
    *scales = reinterpret_cast<wavesmith_scales>(handle);
    return Status::ok();
  });
}

wavesmith_status wavesmith_scales_destroy(wavesmith_scales scales) {
  return call("wavesmith_scales_destroy", [&]() -> Status {
    const auto handle = reinterpret_cast<std::uint64_t>(scales);
    return scaleSets().remove(handle) ? Status::ok() : badHandle(handle, HandleKind::Scales);
  });
}

wavesmith_status wavesmith_scales_get_layer(wavesmith_scales scales, int32_t layer,
                                            wavesmith_layer_scales *values) {
  return withScales("wavesmith_scales_get_layer", scales, [&](Scales &found) -> Status {
    wavesmith_layer_scales filled{};
    WAVESMITH_TRY(found.fill(layer, filled));
    return writeStruct(values, filled, "values");
  });
}

wavesmith_status wavesmith_scales_read_saturation(wavesmith_scales scales, int32_t layer,
                                                  uint64_t *q, uint64_t *k, uint64_t *v) {
  return withScales("wavesmith_scales_read_saturation", scales, [&](Scales &found) -> Status {
    return found.readSaturation(layer, {.q = q, .k = k, .v = v});
  });
}
