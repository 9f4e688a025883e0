#include "runtime/capi/Calibration.h"

#include <cstddef>

#include "runtime/capi/Call.h"

namespace wavesmith::capi {
namespace {

std::string textOf(const char *text, const char *otherwise = "") { return text ? text : otherwise; }

Status checkRank(std::string_view name, int rank, int size) {
  if (size < 1)
    return error(StatusCode::InvalidArgument, "{}_size is {}; want at least 1", name, size);
  if (rank >= 0 && rank < size)
    return Status::ok();
  return error(StatusCode::InvalidArgument, "{}_rank is {}; want 0 to {}", name, rank, size - 1);
}

} // namespace

Expected<Rank> readCalibration(const wavesmith_calibration *given, Fp8Format format) {
  wavesmith_calibration c;
  WAVESMITH_TRY(readStruct(given, c, offsetof(wavesmith_calibration, num_layers), "calibration"));
  Rank rank{.run = {.model = textOf(c.model),
                    .revision = textOf(c.revision),
                    .checkpointId = textOf(c.checkpoint),
                    .calibrationId = textOf(c.run),
                    .tpSize = c.tp_size == 0 ? 1 : c.tp_size,
                    .ppSize = c.pp_size == 0 ? 1 : c.pp_size,
                    .heads = c.heads,
                    .kvHeads = c.kv_heads == 0 ? c.heads : c.kv_heads,
                    .headDimQk = c.head_dim_qk,
                    .headDimV = c.head_dim_v,
                    .fp8 = format,
                    .cacheMode = textOf(c.cache_mode, "bf16_latent_cache"),
                    .margin = c.margin == 0 ? 1.1 : c.margin,
                    .rotationSeed = c.rotation,
                    .numLayers = c.num_layers},
            .tp = c.tp_rank,
            .pp = c.pp_rank};
  WAVESMITH_TRY(checkRank("tp", rank.tp, rank.run.tpSize));
  WAVESMITH_TRY(checkRank("pp", rank.pp, rank.run.ppSize));
  return rank;
}

Expected<std::vector<RankLayer>> readLayers(const std::int32_t *layers, const char *const *names,
                                            std::uint64_t count, bool needsNames) {
  if (count > kMaxLayers)
    return error(StatusCode::InvalidArgument, "layer_count is {}; at most {}", count, kMaxLayers);
  if (count > 0 && !layers)
    return isNull("layers");
  if (count > 0 && needsNames && !names)
    return isNull("layer_names");
  std::vector<RankLayer> read;
  for (std::size_t i = 0; i < count; ++i) {
    if (layers[i] < 0 || layers[i] >= kMaxLayers || (i > 0 && layers[i] <= read.back().index))
      return error(StatusCode::InvalidArgument, "layers[{}] is {}; numbers rise from 0 to {}", i,
                   layers[i], kMaxLayers - 1);
    const char *name = names ? names[i] : "";
    if (!name)
      return isNull(fmt::format("layer_names[{}]", i));
    if (names)
      WAVESMITH_TRY(validateText(fmt::format("layer_names[{}]", i), name));
    read.push_back({layers[i], name});
  }
  return read;
}

} // namespace wavesmith::capi
