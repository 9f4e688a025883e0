#include "runtime/scales/Shard.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "runtime/json/Json.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"

namespace wavesmith {
namespace {

constexpr std::string_view kSchema = "wavesmith-shard-1";
constexpr std::uint64_t kPublishedSchema = 1;
constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 53;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 28;
constexpr std::string_view kDigestKey = "sha256";
constexpr std::size_t kDigestDigits = 64;

std::string amaxKey(Qkv which) { return fmt::format("{}_amax", qkvName(which)); }
std::string histogramKey(Qkv which) { return fmt::format("{}_histogram", qkvName(which)); }

//===-- Checks -------------------------------------------------------------------------------===//

Status validateRank(std::string_view field, int rank, std::string_view sizeField, int size) {
  if (rank >= 0 && rank < size)
    return Status::ok();
  return error(StatusCode::InvalidArgument, "{} is {}; want 0 to {} ({} is {})", field, rank,
               size - 1, sizeField, size);
}

Status validateLayer(const LayerMaxima &layer, const CalibrationRun &run) {
  WAVESMITH_TRY(validateText("runtime_name", layer.runtimeName));
  for (const Qkv which : kQkv) {
    const std::vector<float> &amax = layer.amax[which];
    const auto count = static_cast<std::size_t>(localCount(run, which));
    if (amax.size() != count)
      return error(StatusCode::InvalidArgument, "{} has {} values; the rank has {} heads",
                   amaxKey(which), amax.size(), count);
    for (std::size_t head = 0; head < count; ++head)
      if (!std::isfinite(amax[head]) || amax[head] <= 0)
        return error(StatusCode::InvalidArgument,
                     "{} of head {} is {}; want a finite positive number: the head saw no tokens "
                     "or broken ones",
                     amaxKey(which), head, amax[head]);
    const std::vector<MagnitudeHistogram> &histograms = layer.histograms[which];
    if (!histograms.empty() && histograms.size() != count)
      return error(StatusCode::InvalidArgument, "{} has {} histograms; want none or {}",
                   histogramKey(which), histograms.size(), count);
    for (std::size_t head = 0; head < histograms.size(); ++head)
      if (const Status status = validateHistogram(histograms[head]); !status.isOk())
        return status.withContext(fmt::format("{} of head {}", histogramKey(which), head));
    for (std::size_t head = 0; head < histograms.size(); ++head) {
      const auto &[first, counts] = histograms[head];
      std::size_t top = counts.size(); // one is not 0, as was checked
      while (counts[top - 1] == 0)
        --top;
      if (first + top - 1 < magnitudeBucket(amax[head]))
        return error(StatusCode::InvalidArgument, "{} of head {} ends below its maximum {}",
                     histogramKey(which), head, amax[head]);
    }
  }
  return Status::ok();
}

//===-- Reading ------------------------------------------------------------------------------===//

using json::Value;

/// A number that fits an int; the checks of its meaning come later, on the whole run.
Expected<int> readInt(const Value &from, const char *name) {
  WAVESMITH_ASSIGN(const Value value, from.required(name));
  WAVESMITH_ASSIGN(const std::uint64_t number, value.number(0, 0x7fffffff));
  return static_cast<int>(number);
}

Expected<std::vector<float>> readFloats(const Value &from, const std::string &name) {
  WAVESMITH_ASSIGN(const Value value, from.required(name.c_str()));
  if (!value.raw().is_array())
    return value.wrong("want a list of numbers");
  std::vector<float> floats;
  floats.reserve(value.raw().size());
  for (const nlohmann::json &item : value.raw()) {
    const bool fits = item.is_number() &&
                      std::abs(item.get<double>()) <= double{std::numeric_limits<float>::max()};
    if (!fits)
      return Value(item, fmt::format("{}[{}]", value.path(), floats.size()))
          .wrong("want a float32 number");
    floats.push_back(item.get<float>());
  }
  return floats;
}

Expected<std::vector<MagnitudeHistogram>> readHistograms(const Value &from,
                                                         const std::string &name) {
  std::vector<MagnitudeHistogram> histograms;
  if (!from.has(name.c_str()))
    return histograms;
  WAVESMITH_ASSIGN(const std::vector<Value> items, from.at(name.c_str()).list("histograms"));
  for (const Value &item : items) {
    WAVESMITH_TRY(item.expectObject({"first", "counts"}));
    MagnitudeHistogram histogram;
    WAVESMITH_ASSIGN(const int first, readInt(item, "first"));
    histogram.first = static_cast<std::uint32_t>(first);
    WAVESMITH_ASSIGN(const Value counts, item.required("counts"));
    WAVESMITH_ASSIGN(const std::vector<Value> numbers, counts.list("counts"));
    for (const Value &number : numbers) {
      WAVESMITH_ASSIGN(const std::uint64_t count, number.number(0, kMaxTokens));
      histogram.counts.push_back(count);
    }
    histograms.push_back(std::move(histogram));
  }
  return histograms;
}

/// "12", and no other way to write 12.
Expected<int> readLayerIndex(const Value &layers, const std::string &key) {
  int index = 0;
  const bool plain = !key.empty() && key.size() <= 5 && (key == "0" || key.front() != '0') &&
                     key.find_first_not_of("0123456789") == std::string::npos;
  if (plain)
    index = std::stoi(key);
  if (!plain || index >= kMaxLayers)
    return error(StatusCode::InvalidArgument, "{}: {} is no layer; want a number from 0 to {}",
                 layers.path(), json::describe(key), kMaxLayers - 1);
  return index;
}

Expected<std::vector<LayerMaxima>> readLayers(const Value &layers, bool published) {
  if (!layers.raw().is_object())
    return layers.wrong("want an object of layers");
  std::vector<LayerMaxima> result;
  for (const auto &entry : layers.raw().items()) {
    const Value value(entry.value(), fmt::format("{}.{}", layers.path(), entry.key()));
    LayerMaxima layer;
    WAVESMITH_ASSIGN(layer.index, readLayerIndex(layers, entry.key()));
    if (published)
      WAVESMITH_TRY(value.expectObject({"runtime_name", "q_amax", "k_amax", "v_amax"}));
    else
      WAVESMITH_TRY(value.expectObject({"runtime_name", "q_amax", "k_amax", "v_amax", "q_histogram",
                                        "k_histogram", "v_histogram"}));
    WAVESMITH_ASSIGN(layer.runtimeName, value.requiredText("runtime_name"));
    for (const Qkv which : kQkv) {
      WAVESMITH_ASSIGN(layer.amax[which], readFloats(value, amaxKey(which)));
      WAVESMITH_ASSIGN(layer.histograms[which], readHistograms(value, histogramKey(which)));
    }
    result.push_back(std::move(layer));
  }
  // The names of an object are in the order of text: "10" before "9".
  std::ranges::sort(result, {}, &LayerMaxima::index);
  return result;
}

/// What both schemas say, by the same names.
Status readCommon(const Value &root, CalibrationShard &shard) {
  CalibrationRun &run = shard.run;
  WAVESMITH_ASSIGN(run.model, root.requiredText("model"));
  WAVESMITH_ASSIGN(run.revision, root.requiredText("revision"));
  WAVESMITH_ASSIGN(run.checkpointId, root.requiredText("checkpoint_id"));
  WAVESMITH_ASSIGN(run.calibrationId, root.requiredText("calibration_id"));
  WAVESMITH_ASSIGN(run.tpSize, readInt(root, "tp_size"));
  WAVESMITH_ASSIGN(shard.tpRank, readInt(root, "tp_rank"));
  WAVESMITH_ASSIGN(run.ppSize, readInt(root, "pp_size"));
  WAVESMITH_ASSIGN(shard.ppRank, readInt(root, "pp_rank"));
  WAVESMITH_ASSIGN(const std::string dtype, root.requiredText("fp8_dtype"));
  const Expected<Fp8Format> fp8 = parseFp8Dtype(dtype);
  if (!fp8)
    return fp8.status().withContext(root.path());
  run.fp8 = *fp8;
  WAVESMITH_ASSIGN(run.cacheMode, root.requiredText("cache_mode"));
  WAVESMITH_ASSIGN(run.headDimQk, readInt(root, "qk_head_dim"));
  WAVESMITH_ASSIGN(run.headDimV, readInt(root, "v_head_dim"));
  WAVESMITH_ASSIGN(const Value margin, root.required("margin"));
  if (!margin.raw().is_number())
    return margin.wrong("want a number");
  run.margin = margin.raw().get<double>();
  return Status::ok();
}

Expected<CalibrationShard> readPublished(const Value &root) {
  WAVESMITH_TRY(
      root.expectObject({"schema", "model", "revision", "checkpoint_id", "calibration_id",
                         "tp_size", "tp_rank", "pp_size", "pp_rank", "fp8_dtype", "cache_mode",
                         "local_heads", "qk_head_dim", "v_head_dim", "margin", "layers"}));
  CalibrationShard shard;
  WAVESMITH_TRY(readCommon(root, shard));
  WAVESMITH_ASSIGN(const int local, readInt(root, "local_heads"));
  const std::int64_t heads = std::int64_t{local} * shard.run.tpSize;
  if (heads > kMaxModelHeads)
    return root.at("local_heads")
        .wrong(fmt::format("want at most {} on all ranks", kMaxModelHeads));
  shard.run.heads = shard.run.kvHeads = static_cast<int>(heads);
  WAVESMITH_ASSIGN(const Value layers, root.required("layers"));
  WAVESMITH_ASSIGN(shard.layers, readLayers(layers, true));
  return shard;
}

Expected<CalibrationShard> readOurs(const Value &root) {
  WAVESMITH_TRY(root.expectObject(
      {"schema",   "model",       "revision",   "checkpoint_id", "calibration_id", "tp_size",
       "tp_rank",  "pp_size",     "pp_rank",    "fp8_dtype",     "cache_mode",     "heads",
       "kv_heads", "qk_head_dim", "v_head_dim", "margin",        "rotation_seed",  "num_layers",
       "tokens",   "layers",      kDigestKey}));
  CalibrationShard shard;
  WAVESMITH_TRY(readCommon(root, shard));
  WAVESMITH_ASSIGN(shard.run.heads, readInt(root, "heads"));
  WAVESMITH_ASSIGN(shard.run.kvHeads, readInt(root, "kv_heads"));
  WAVESMITH_ASSIGN(const int seed, readInt(root, "rotation_seed"));
  shard.run.rotationSeed = static_cast<std::uint32_t>(seed);
  WAVESMITH_ASSIGN(shard.run.numLayers, readInt(root, "num_layers"));
  WAVESMITH_ASSIGN(const Value tokens, root.required("tokens"));
  WAVESMITH_ASSIGN(shard.tokens, tokens.number(0, kMaxTokens));
  WAVESMITH_ASSIGN(const Value layers, root.required("layers"));
  WAVESMITH_ASSIGN(shard.layers, readLayers(layers, false));
  if (shard.run.numLayers == 0)
    return root.at("num_layers").wrong("want how many layers of the model have scales");
  return shard;
}

/// The digest is over the file with the digest's own digits as zeros.
Status checkDigest(const Value &root, std::string_view text) {
  WAVESMITH_ASSIGN(const std::string stated, root.requiredText(kDigestKey.data()));
  std::string blank(text);
  const std::string quoted = fmt::format("\"{}\"", stated);
  const std::size_t at = blank.rfind(quoted);
  if (stated.size() != kDigestDigits || at == std::string::npos)
    return root.at(kDigestKey.data()).wrong("want 64 hex digits");
  blank.replace(at + 1, kDigestDigits, kDigestDigits, '0');
  if (const std::string actual = sha256Hex(blank); actual != stated)
    return root.at(kDigestKey.data())
        .wrong(fmt::format("the contents have {}: damaged or edited", actual));
  return Status::ok();
}

Expected<CalibrationShard> readShard(const Value &root, std::string_view text) {
  if (!root.raw().is_object())
    return root.wrong("want an object");
  WAVESMITH_ASSIGN(const Value schema, root.required("schema"));
  const bool published = schema.raw() == kPublishedSchema;
  if (!published && schema.raw() != kSchema)
    return schema.wrong(fmt::format("want \"{}\" or {}", kSchema, kPublishedSchema));
  WAVESMITH_ASSIGN(CalibrationShard shard, published ? readPublished(root) : readOurs(root));
  if (!published)
    WAVESMITH_TRY(checkDigest(root, text));
  if (const Status status = shard.validate(); !status.isOk())
    return status.withContext(root.path());
  WAVESMITH_ASSIGN(shard.run.checkpointId, checkpointCommit(shard.run.checkpointId));
  return shard;
}

//===-- Writing ------------------------------------------------------------------------------===//

std::string jsonText(std::string_view text) { return nlohmann::json(text).dump(); }

/// As double: its shortest digits give the float back whatever a reader's number type is.
std::string list(const std::vector<float> &values) {
  std::string text;
  for (const float value : values)
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ", ", double{value});
  return "[" + text + "]";
}

std::string list(const std::vector<MagnitudeHistogram> &histograms) {
  std::string text;
  for (const MagnitudeHistogram &histogram : histograms)
    fmt::format_to(std::back_inserter(text), R"({}{{"first": {}, "counts": [{}]}})",
                   text.empty() ? "" : ", ", histogram.first, fmt::join(histogram.counts, ", "));
  return "[" + text + "]";
}

std::string printLayer(const LayerMaxima &layer) {
  std::string text = fmt::format("    \"{}\": {{\n      \"runtime_name\": {}", layer.index,
                                 jsonText(layer.runtimeName));
  for (const Qkv which : kQkv)
    fmt::format_to(std::back_inserter(text), ",\n      \"{}\": {}", amaxKey(which),
                   list(layer.amax[which]));
  for (const Qkv which : kQkv)
    if (!layer.histograms[which].empty())
      fmt::format_to(std::back_inserter(text), ",\n      \"{}\": {}", histogramKey(which),
                     list(layer.histograms[which]));
  return text + "\n    }";
}

} // namespace

Status CalibrationShard::validate() const {
  WAVESMITH_TRY(validateRun(run));
  WAVESMITH_TRY(validateRank("tp_rank", tpRank, "tp_size", run.tpSize));
  WAVESMITH_TRY(validateRank("pp_rank", ppRank, "pp_size", run.ppSize));
  if (tokens > kMaxTokens)
    return error(StatusCode::InvalidArgument, "tokens is {}; want at most {}", tokens, kMaxTokens);
  if (run.numLayers != 0 && layers.size() > static_cast<std::size_t>(run.numLayers))
    return error(StatusCode::InvalidArgument, "layers has {} entries; num_layers is {}",
                 layers.size(), run.numLayers);
  int last = -1;
  for (const LayerMaxima &layer : layers) {
    if (layer.index <= last || layer.index >= kMaxLayers)
      return error(StatusCode::InvalidArgument,
                   "layer {} stands behind layer {}; want rising indices from 0 to {}", layer.index,
                   last, kMaxLayers - 1);
    last = layer.index;
    if (const Status status = validateLayer(layer, run); !status.isOk())
      return status.withContext(fmt::format("layer {}", layer.index));
  }
  return Status::ok();
}

std::string CalibrationShard::fileName(int ppRank, int tpRank) {
  return fmt::format("fp8-scales-pp{:02}-tp{:02}.json", ppRank, tpRank);
}

Expected<std::string> CalibrationShard::print() const {
  WAVESMITH_TRY(validate());
  if (run.numLayers == 0)
    return Status(StatusCode::InvalidArgument,
                  "num_layers is 0; want how many layers of the model have scales");
  WAVESMITH_ASSIGN(const std::string commit, checkpointCommit(run.checkpointId));
  std::string text = "{\n";
  const auto member = [&](std::string_view name, const std::string &value) {
    fmt::format_to(std::back_inserter(text), "  \"{}\": {},\n", name, value);
  };
  member("schema", jsonText(kSchema));
  member("model", jsonText(run.model));
  member("revision", jsonText(run.revision));
  member("checkpoint_id", jsonText(commit));
  member("calibration_id", jsonText(run.calibrationId));
  member("tp_size", std::to_string(run.tpSize));
  member("tp_rank", std::to_string(tpRank));
  member("pp_size", std::to_string(run.ppSize));
  member("pp_rank", std::to_string(ppRank));
  member("fp8_dtype", jsonText(fp8DtypeName(run.fp8)));
  member("cache_mode", jsonText(run.cacheMode));
  member("heads", std::to_string(run.heads));
  member("kv_heads", std::to_string(run.kvHeads));
  member("qk_head_dim", std::to_string(run.headDimQk));
  member("v_head_dim", std::to_string(run.headDimV));
  member("margin", fmt::format("{}", run.margin));
  member("rotation_seed", std::to_string(run.rotationSeed));
  member("num_layers", std::to_string(run.numLayers));
  member("tokens", std::to_string(tokens));
  text += "  \"layers\": {";
  for (const LayerMaxima &layer : layers)
    text += (&layer == &layers.front() ? "\n" : ",\n") + printLayer(layer);
  text += layers.empty() ? "},\n" : "\n  },\n";
  fmt::format_to(std::back_inserter(text), "  \"{}\": \"", kDigestKey);
  const std::size_t at = text.size();
  text += std::string(kDigestDigits, '0') + "\"\n}\n";
  text.replace(at, kDigestDigits, sha256Hex(text));
  return text;
}

Status CalibrationShard::write(const std::string &path) const {
  const Expected<std::string> text = print();
  if (!text)
    return text.status().withContext("write " + path);
  return publishFile(path, asBytes(*text));
}

Expected<CalibrationShard> CalibrationShard::parse(std::string_view text, std::string_view origin) {
  const Expected<nlohmann::json> document = json::parse(text, origin);
  if (!document)
    return Status(StatusCode::Corrupt, document.status().message());
  Expected<CalibrationShard> shard = readShard({*document, std::string(origin)}, text);
  if (!shard)
    return Status(StatusCode::Corrupt, shard.status().message());
  return shard;
}

Expected<CalibrationShard> CalibrationShard::read(const std::string &path) {
  WAVESMITH_ASSIGN(const std::string text, readTextFile(path, kMaxFileBytes));
  return parse(text, path);
}

} // namespace wavesmith
