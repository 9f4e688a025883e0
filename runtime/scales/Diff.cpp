#include "runtime/scales/Diff.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace wavesmith {
namespace {

/// How far two positive numbers are from being equal.
float distance(float a, float b) { return std::abs(std::log2(a / b)); }

void compareLayer(const LayerScales &a, const LayerScales &b, ScaleDifference &difference) {
  // As loading compares them: the published schema has none.
  if (!a.runtimeName.empty() && !b.runtimeName.empty() && a.runtimeName != b.runtimeName)
    difference.fields.push_back(
        {fmt::format("layers.{}.runtime_name", a.index), a.runtimeName, b.runtimeName});
  for (const Qkv which : kQkv) {
    ScaleDifference::Values values{a.index, which, 0, 0, 0, 0};
    const std::size_t count = std::min(a.descale[which].size(), b.descale[which].size());
    for (std::size_t head = 0; head < count; ++head) {
      const float left = a.descale[which][head], right = b.descale[which][head];
      if (left == right)
        continue;
      if (values.heads++ == 0 || distance(left, right) > distance(values.a, values.b)) {
        values.worst = static_cast<int>(head);
        values.a = left;
        values.b = right;
      }
    }
    if (values.heads != 0)
      difference.values.push_back(values);
  }
}

} // namespace

ScaleDifference compareArtifacts(const ScaleArtifact &a, const ScaleArtifact &b) {
  ScaleDifference difference;
  const std::vector<RunField> fieldsA = artifactFields(a), fieldsB = artifactFields(b);
  for (std::size_t i = 0; i < fieldsA.size(); ++i)
    if (fieldsA[i].value != fieldsB[i].value)
      difference.fields.push_back({fieldsA[i].name, fieldsA[i].value, fieldsB[i].value});
  for (const LayerScales &layer : a.layers) {
    if (const LayerScales *other = b.find(layer.index))
      compareLayer(layer, *other, difference);
    else
      difference.onlyA.push_back(layer.index);
  }
  for (const LayerScales &layer : b.layers)
    if (!a.find(layer.index))
      difference.onlyB.push_back(layer.index);
  return difference;
}

} // namespace wavesmith
