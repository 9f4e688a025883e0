#pragma once
// How an artifact lies in a safetensors file: which metadata keys and tensors each schema has. Only
// names, types and shapes are checked here; ScaleArtifact::validate judges the values. Pure.

#include <string>

#include "runtime/scales/Artifact.h"
#include "runtime/scales/Safetensors.h"

namespace wavesmith {

Safetensors toSafetensors(const ScaleArtifact &artifact);
/// InvalidArgument for a key or tensor that is missing, unknown or of the wrong type, and for
/// content that does not have the digest that it states.
Expected<ScaleArtifact> fromSafetensors(const Safetensors &file);
/// Over the metadata but the digest itself as compact JSON with sorted names and a newline; then
/// for each tensor in the order of names [name, dtype, shape] as compact JSON, a newline, its
/// bytes.
std::string contentDigest(const Safetensors &file);
/// "3 layers (0, 2, 5)", runs as "0-60".
std::string describeLayers(const ScaleArtifact &artifact);

} // namespace wavesmith
