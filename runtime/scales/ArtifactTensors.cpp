#include "runtime/scales/ArtifactTensors.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/support/Hash.h"
#include "runtime/support/Text.h"

namespace wavesmith {
namespace {

constexpr std::string_view kDigestKey = "sha256";
constexpr std::string_view kLayerPrefix = "layers.";

std::string runtimeNameKey(int index) { return fmt::format("layers.{}.runtime_name", index); }
std::string tensorName(int index, Qkv which, std::string_view kind) {
  return fmt::format("layers.{}.{}_{}", index, qkvName(which), kind);
}

/// As Python prints a float, which the published tools do: 1 is "1.0".
std::string printReal(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

template <typename T> std::optional<T> parseNumber(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

//===-- Metadata -----------------------------------------------------------------------------===//

/// Takes values out by name, so that what is left over is what nobody knows.
class Metadata {
public:
  explicit Metadata(std::map<std::string, std::string> values) : values_(std::move(values)) {}

  bool has(const std::string &key) const { return values_.contains(key); }
  Expected<std::string> text(const std::string &key) {
    const auto found = values_.find(key);
    if (found == values_.end())
      return error(StatusCode::InvalidArgument, "metadata {} is missing", key);
    std::string value = std::move(found->second);
    values_.erase(found);
    return value;
  }
  Expected<std::uint64_t> number(const std::string &key, std::uint64_t high) {
    WAVESMITH_ASSIGN(const std::string value, text(key));
    const auto number = parseNumber<std::uint64_t>(value);
    // One way to write a number: "08" or "8 " would be another text under the same digest of
    // values.
    if (!number || *number > high || std::to_string(*number) != value)
      return error(StatusCode::InvalidArgument,
                   "metadata {} is \"{}\"; want a whole number from 0 to {}", key, printable(value),
                   high);
    return *number;
  }
  Expected<int> count(const std::string &key) {
    WAVESMITH_ASSIGN(const std::uint64_t value, number(key, 0x7fffffff));
    return static_cast<int>(value);
  }
  Expected<double> real(const std::string &key) {
    WAVESMITH_ASSIGN(const std::string value, text(key));
    const auto number = parseNumber<double>(value);
    if (!number)
      return error(StatusCode::InvalidArgument, "metadata {} is \"{}\"; want a number", key,
                   printable(value));
    return *number;
  }
  Status expectEmpty() const {
    if (values_.empty())
      return Status::ok();
    return error(StatusCode::InvalidArgument, "metadata {} is not known in this schema",
                 printable(values_.begin()->first));
  }

private:
  std::map<std::string, std::string> values_;
};

/// What both schemas say, by the same names.
Status readCommon(Metadata &metadata, CalibrationRun &run) {
  WAVESMITH_ASSIGN(run.model, metadata.text("model"));
  WAVESMITH_ASSIGN(run.revision, metadata.text("revision"));
  WAVESMITH_ASSIGN(run.checkpointId, metadata.text("checkpoint_id"));
  WAVESMITH_ASSIGN(run.calibrationId, metadata.text("calibration_id"));
  WAVESMITH_ASSIGN(run.tpSize, metadata.count("tp_size"));
  WAVESMITH_ASSIGN(run.ppSize, metadata.count("pp_size"));
  WAVESMITH_ASSIGN(run.numLayers, metadata.count("num_layers"));
  WAVESMITH_ASSIGN(const std::string dtype, metadata.text("fp8_dtype"));
  WAVESMITH_ASSIGN(run.fp8, parseFp8Dtype(dtype));
  WAVESMITH_ASSIGN(run.cacheMode, metadata.text("cache_mode"));
  WAVESMITH_ASSIGN(run.headDimQk, metadata.count("qk_head_dim"));
  WAVESMITH_ASSIGN(run.headDimV, metadata.count("v_head_dim"));
  WAVESMITH_ASSIGN(run.checkpointId, checkpointCommit(run.checkpointId));
  return Status::ok();
}

Status readPublished(Metadata &metadata, ScaleArtifact &artifact) {
  CalibrationRun &run = artifact.run;
  WAVESMITH_TRY(readCommon(metadata, run));
  WAVESMITH_ASSIGN(const int local, metadata.count("local_heads"));
  if (std::int64_t{local} * run.tpSize > kMaxModelHeads)
    return error(StatusCode::InvalidArgument,
                 "metadata local_heads is {}; want at most {} on all ranks", local, kMaxModelHeads);
  run.heads = run.kvHeads = local * run.tpSize;
  // Later versions of the published tool write these two, earlier ones do not.
  artifact.statesMargin = metadata.has("margin");
  if (artifact.statesMargin) {
    WAVESMITH_ASSIGN(run.margin, metadata.real("margin"));
  }
  if (metadata.has("calibration_shards")) {
    WAVESMITH_ASSIGN(artifact.calibrationShards, metadata.count("calibration_shards"));
  }
  return Status::ok();
}

Status readOurs(Metadata &metadata, ScaleArtifact &artifact) {
  CalibrationRun &run = artifact.run;
  WAVESMITH_TRY(readCommon(metadata, run));
  WAVESMITH_ASSIGN(run.heads, metadata.count("heads"));
  WAVESMITH_ASSIGN(run.kvHeads, metadata.count("kv_heads"));
  WAVESMITH_ASSIGN(const std::uint64_t largest, metadata.number("fp8_max", 0xffff));
  if (largest != static_cast<std::uint64_t>(fp8Max(run.fp8)))
    return error(StatusCode::InvalidArgument, "metadata fp8_max is {}; {} has {}", largest,
                 fp8DtypeName(run.fp8), fp8Max(run.fp8));
  WAVESMITH_ASSIGN(run.margin, metadata.real("margin"));
  WAVESMITH_ASSIGN(artifact.percentile, metadata.real("percentile"));
  WAVESMITH_ASSIGN(const std::uint64_t seed, metadata.number("rotation_seed", kMaxRotationSeed));
  run.rotationSeed = static_cast<std::uint32_t>(seed);
  WAVESMITH_ASSIGN(artifact.tokens, metadata.number("tokens", std::uint64_t{1} << 53));
  WAVESMITH_ASSIGN(artifact.calibrationShards, metadata.count("calibration_shards"));
  return Status::ok();
}

//===-- Tensors ------------------------------------------------------------------------------===//

/// The layer in "layers.12.q_descale", or nothing.
std::optional<int> layerOf(std::string_view name) {
  if (!name.starts_with(kLayerPrefix))
    return std::nullopt;
  name.remove_prefix(kLayerPrefix.size());
  const std::string_view digits = name.substr(0, name.find('.'));
  const auto index = parseNumber<int>(digits);
  if (!index || *index < 0 || *index >= kMaxLayers || std::to_string(*index) != digits)
    return std::nullopt;
  return index;
}

Expected<std::vector<float>> readTensor(const Safetensors &file, const std::string &name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end())
    return error(StatusCode::InvalidArgument, "tensor {} is missing", name);
  const SafetensorsTensor &tensor = found->second;
  if (tensor.dtype != "F32")
    return error(StatusCode::InvalidArgument, "tensor {} has dtype {}; want F32", name,
                 tensor.dtype);
  if (tensor.shape.size() != 1)
    return error(StatusCode::InvalidArgument, "tensor {} has {} dimensions; want 1", name,
                 tensor.shape.size());
  return tensor.floats();
}

Expected<std::vector<LayerScales>> readLayers(const Safetensors &file, ScaleSchema schema,
                                              Metadata &metadata) {
  std::set<int> indices;
  for (const auto &[name, tensor] : file.tensors) {
    const std::optional<int> index = layerOf(name);
    const auto is = [&](std::string_view kind) {
      return std::ranges::any_of(
          kQkv, [&](Qkv which) { return name == tensorName(index.value_or(-1), which, kind); });
    };
    const bool known = is("descale") || (schema == ScaleSchema::Ours && is("amax"));
    if (!index || !known)
      return error(StatusCode::InvalidArgument, "tensor {} is not known in schema {}",
                   printable(name), scaleSchemaName(schema));
    indices.insert(*index);
  }
  std::vector<LayerScales> layers;
  for (const int index : indices) {
    LayerScales layer;
    layer.index = index;
    for (const Qkv which : kQkv) {
      WAVESMITH_ASSIGN(layer.descale[which], readTensor(file, tensorName(index, which, "descale")));
      if (schema == ScaleSchema::Ours) {
        WAVESMITH_ASSIGN(layer.amax[which], readTensor(file, tensorName(index, which, "amax")));
      }
    }
    if (schema == ScaleSchema::Ours) {
      WAVESMITH_ASSIGN(layer.runtimeName, metadata.text(runtimeNameKey(index)));
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

} // namespace

Safetensors toSafetensors(const ScaleArtifact &artifact) {
  const CalibrationRun &run = artifact.run;
  const bool ours = artifact.schema == ScaleSchema::Ours;
  const Expected<std::string> commit = checkpointCommit(run.checkpointId);
  Safetensors file;
  auto &metadata = file.metadata;
  metadata = {{"schema", std::string(scaleSchemaName(artifact.schema))},
              {"model", run.model},
              {"revision", run.revision},
              {"checkpoint_id", commit ? *commit : run.checkpointId},
              {"calibration_id", run.calibrationId},
              {"tp_size", std::to_string(run.tpSize)},
              {"pp_size", std::to_string(run.ppSize)},
              {"num_layers", std::to_string(run.numLayers)},
              {"fp8_dtype", std::string(fp8DtypeName(run.fp8))},
              {"cache_mode", run.cacheMode},
              {"qk_head_dim", std::to_string(run.headDimQk)},
              {"v_head_dim", std::to_string(run.headDimV)}};
  if (artifact.statesMargin)
    metadata["margin"] = printReal(run.margin);
  if (ours || artifact.calibrationShards != 0)
    metadata["calibration_shards"] = std::to_string(artifact.calibrationShards);
  if (ours) {
    metadata["heads"] = std::to_string(run.heads);
    metadata["kv_heads"] = std::to_string(run.kvHeads);
    metadata["fp8_max"] = fmt::format("{}", fp8Max(run.fp8));
    metadata["percentile"] = printReal(artifact.percentile);
    metadata["rotation_seed"] = std::to_string(run.rotationSeed);
    metadata["tokens"] = std::to_string(artifact.tokens);
  } else {
    metadata["local_heads"] = std::to_string(localHeads(run));
  }
  for (const LayerScales &layer : artifact.layers) {
    if (ours)
      metadata[runtimeNameKey(layer.index)] = layer.runtimeName;
    for (const Qkv which : kQkv) {
      file.tensors[tensorName(layer.index, which, "descale")] =
          SafetensorsTensor::ofFloats(layer.descale[which]);
      if (ours)
        file.tensors[tensorName(layer.index, which, "amax")] =
            SafetensorsTensor::ofFloats(layer.amax[which]);
    }
  }
  if (ours)
    metadata[std::string(kDigestKey)] = contentDigest(file);
  return file;
}

Expected<ScaleArtifact> fromSafetensors(const Safetensors &file) {
  Metadata metadata(file.metadata);
  WAVESMITH_ASSIGN(const std::string schema, metadata.text("schema"));
  ScaleArtifact artifact;
  if (schema == scaleSchemaName(ScaleSchema::Published))
    artifact.schema = ScaleSchema::Published;
  else if (schema != scaleSchemaName(ScaleSchema::Ours))
    return error(StatusCode::InvalidArgument, "metadata schema is \"{}\"; want \"{}\" or \"{}\"",
                 printable(schema), scaleSchemaName(ScaleSchema::Ours),
                 scaleSchemaName(ScaleSchema::Published));
  if (artifact.schema == ScaleSchema::Ours) {
    const std::string key(kDigestKey);
    WAVESMITH_ASSIGN(const std::string stated, metadata.text(key));
    WAVESMITH_TRY(readOurs(metadata, artifact));
    WAVESMITH_ASSIGN(artifact.layers, readLayers(file, artifact.schema, metadata));
    WAVESMITH_TRY(metadata.expectEmpty());
    if (const std::string actual = contentDigest(file); actual != stated)
      return error(StatusCode::InvalidArgument,
                   "metadata {} is \"{}\"; the content has {}: damaged or edited", key,
                   printable(stated), actual);
    // What we write has one text, so that digests of equal content are equal.
    const Safetensors again = toSafetensors(artifact);
    for (const auto &[name, value] : again.metadata)
      if (name != key && file.metadata.at(name) != value)
        return error(StatusCode::InvalidArgument, "metadata {} is \"{}\"; want it as \"{}\"", name,
                     printable(file.metadata.at(name)), value);
  } else {
    WAVESMITH_TRY(readPublished(metadata, artifact));
    WAVESMITH_ASSIGN(artifact.layers, readLayers(file, artifact.schema, metadata));
    WAVESMITH_TRY(metadata.expectEmpty());
  }
  return artifact;
}

std::string contentDigest(const Safetensors &file) {
  auto metadata = file.metadata;
  metadata.erase(std::string(kDigestKey));
  const auto dump = [](const nlohmann::json &json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  std::vector<std::string> lines = {dump(metadata)};
  for (const auto &[name, tensor] : file.tensors)
    lines.push_back(dump(nlohmann::json::array({name, tensor.dtype, tensor.shape})));
  std::vector<std::span<const std::byte>> parts = {asBytes(lines.front())};
  std::size_t line = 1;
  for (const auto &[name, tensor] : file.tensors) {
    parts.push_back(asBytes(lines[line++]));
    parts.emplace_back(tensor.data);
  }
  return sha256Hex(parts);
}

std::string describeLayers(const ScaleArtifact &artifact) {
  std::string text;
  for (std::size_t i = 0, next = 0; i < artifact.layers.size(); i = next) {
    next = i + 1;
    while (next < artifact.layers.size() &&
           artifact.layers[next].index == artifact.layers[next - 1].index + 1)
      ++next;
    const int first = artifact.layers[i].index, last = artifact.layers[next - 1].index;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last != first)
      text += fmt::format("-{}", last);
  }
  return fmt::format("{} layers{}", artifact.layers.size(), text.empty() ? "" : " (" + text + ")");
}

} // namespace wavesmith
