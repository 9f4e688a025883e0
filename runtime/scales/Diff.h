#pragma once
// How two artifacts differ: what they say about themselves, which layers only one has, and where
// descales are not the same and by how much. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/scales/Artifact.h"

namespace wavesmith {

struct ScaleDifference {
  struct Field {
    std::string_view name;
    std::string a, b;
  };
  /// Descales of q, k or v of a layer.
  struct Values {
    int layer = 0;
    Qkv which = Qkv::Q;
    int heads = 0;      ///< that differ
    int worst = 0;      ///< the head with the largest ratio
    float a = 0, b = 0; ///< its descales
  };

  std::vector<Field> fields;
  std::vector<int> onlyA, onlyB; ///< layers
  std::vector<Values> values;    ///< of layers that both have, where the models have as many heads

  bool same() const { return fields.empty() && onlyA.empty() && onlyB.empty() && values.empty(); }
};

ScaleDifference compareArtifacts(const ScaleArtifact &a, const ScaleArtifact &b);

} // namespace wavesmith
