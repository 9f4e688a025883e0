#include "tools/wavesmith/CalibrateReport.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace wavesmith::cli {
namespace {

/// Fields as text, by the names of the files.
std::vector<RunField> fieldsOf(const CalibrationShard &shard) {
  std::vector<RunField> fields = runFields(shard.run);
  fields.push_back({"tp_rank", std::to_string(shard.tpRank)});
  fields.push_back({"pp_rank", std::to_string(shard.ppRank)});
  fields.push_back({"tokens", std::to_string(shard.tokens)});
  return fields;
}

Json fieldsJson(const std::vector<RunField> &fields) {
  Json json = Json::object();
  for (const RunField &field : fields)
    json[std::string(field.name)] = field.value;
  return json;
}

Json numbersJson(const HeadValues &values) {
  if (values.q.empty())
    return nullptr;
  return {{"q", values.q}, {"k", values.k}, {"v", values.v}};
}

std::string fieldsText(const std::vector<RunField> &fields) {
  std::string text;
  for (const RunField &field : fields)
    text += fmt::format("  {:<18} {}\n", field.name, field.value);
  return text;
}

/// "0.0045  0.0061  0.0210": how far the heads of a layer are apart.
std::string spread(std::vector<float> values) {
  std::ranges::sort(values);
  return fmt::format("{:>9.4g} {:>9.4g} {:>9.4g}", values.front(), values[values.size() / 2],
                     values.back());
}

std::string tableHead(std::string_view what) {
  std::string text = fmt::format("  layer  {} of the heads: smallest, median, largest\n", what);
  return text + fmt::format("         {:<31}{:<31}{}\n", "q", "k", "v");
}

std::string tableRow(int index, const HeadValues &values, std::string_view name) {
  return fmt::format("  {:>5}  {}  {}  {}  {}\n", index, spread(values.q), spread(values.k),
                     spread(values.v), name);
}

std::string list(const std::vector<int> &layers) {
  return fmt::format("{}", fmt::join(layers, ", "));
}

} // namespace

Json describeArtifact(const std::string &path, const ScaleArtifact &artifact) {
  Json layers = Json::array();
  for (const LayerScales &layer : artifact.layers)
    layers.push_back({{"index", layer.index},
                      {"runtime_name", layer.runtimeName},
                      {"descale", numbersJson(layer.descale)},
                      {"amax", numbersJson(layer.amax)}});
  return {{"file", path},
          {"kind", "artifact"},
          {"schema", scaleSchemaName(artifact.schema)},
          {"sha256", artifact.digest()},
          {"fields", fieldsJson(artifactFields(artifact))},
          {"layers", std::move(layers)}};
}

Json describeShard(const std::string &path, const CalibrationShard &shard) {
  Json layers = Json::array();
  for (const LayerMaxima &layer : shard.layers)
    layers.push_back({{"index", layer.index},
                      {"runtime_name", layer.runtimeName},
                      {"descale", nullptr},
                      {"amax", numbersJson(layer.amax)}});
  return {{"file", path},
          {"kind", "shard"},
          {"schema", nullptr},
          {"sha256", nullptr},
          {"fields", fieldsJson(fieldsOf(shard))},
          {"layers", std::move(layers)}};
}

std::string printArtifact(const std::string &path, const ScaleArtifact &artifact) {
  std::string text =
      fmt::format("{}: scales of {} layers, schema {}, content {:.12}\n", path,
                  artifact.layers.size(), scaleSchemaName(artifact.schema), artifact.digest());
  text += fieldsText(artifactFields(artifact)) + tableHead("descales");
  for (const LayerScales &layer : artifact.layers)
    text += tableRow(layer.index, layer.descale, layer.runtimeName);
  return text;
}

std::string printShard(const std::string &path, const CalibrationShard &shard) {
  std::string text = fmt::format("{}: maxima of {} layers\n", path, shard.layers.size()) +
                     fieldsText(fieldsOf(shard));
  if (!shard.layers.empty())
    text += tableHead("maxima");
  for (const LayerMaxima &layer : shard.layers)
    text += tableRow(layer.index, layer.amax, layer.runtimeName);
  return text;
}

Result wroteArtifact(const std::string &path, const ScaleArtifact &artifact) {
  const CalibrationRun &run = artifact.run;
  Result result;
  result.json = {{"ok", true},
                 {"output", path},
                 {"schema", scaleSchemaName(artifact.schema)},
                 {"sha256", artifact.digest()},
                 {"layers", run.numLayers},
                 {"heads", run.heads},
                 {"kv_heads", run.kvHeads},
                 {"tp_size", run.tpSize},
                 {"pp_size", run.ppSize},
                 {"fp8_dtype", fp8DtypeName(run.fp8)},
                 {"margin", artifact.statesMargin ? Json(run.margin) : Json(nullptr)},
                 {"percentile", artifact.percentile}};
  result.text = fmt::format(
      "{}: {} layers, {} heads over {} key/value heads, for tp {}, pp {}, {}\n", path,
      run.numLayers, run.heads, run.kvHeads, run.tpSize, run.ppSize, fp8DtypeName(run.fp8));
  return result;
}

Result compared(const std::string &a, const std::string &b, const ScaleDifference &difference) {
  Result result;
  Json fields = Json::array(), values = Json::array();
  for (const ScaleDifference::Field &field : difference.fields) {
    fields.push_back({{"name", field.name}, {"a", field.a}, {"b", field.b}});
    result.text += fmt::format("!  {}: {} -> {}\n", field.name, field.a, field.b);
  }
  for (const ScaleDifference::Values &item : difference.values) {
    values.push_back({{"layer", item.layer},
                      {"tensor", qkvName(item.which)},
                      {"heads", item.heads},
                      {"worst_head", item.worst},
                      {"a", item.a},
                      {"b", item.b}});
    result.text += fmt::format("!  layer {} {}: {} heads differ, most head {}: {:.6g} -> {:.6g} "
                               "({:+.2f} %)\n",
                               item.layer, qkvName(item.which), item.heads, item.worst, item.a,
                               item.b, 100 * (double{item.b} / double{item.a} - 1));
  }
  if (!difference.onlyA.empty())
    result.text += fmt::format("-  layers {}\n", list(difference.onlyA));
  if (!difference.onlyB.empty())
    result.text += fmt::format("+  layers {}\n", list(difference.onlyB));
  if (difference.same())
    result.text += fmt::format("{} and {} have the same scales\n", a, b);
  result.exitCode = difference.same() ? ExitCode::Fine : ExitCode::Failed;
  result.json = {{"ok", difference.same()},
                 {"a", a},
                 {"b", b},
                 {"fields", std::move(fields)},
                 {"only_a", difference.onlyA},
                 {"only_b", difference.onlyB},
                 {"values", std::move(values)}};
  return result;
}

} // namespace wavesmith::cli
