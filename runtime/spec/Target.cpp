#include "runtime/spec/KernelSpec.h"

namespace wavesmith {

std::string_view dtypeName(DType dtype) { return dtype == DType::BF16 ? "bf16" : "fp8"; }

std::string_view fp8FormatName(Fp8Format format) {
  switch (format) {
  case Fp8Format::None:
    return "none";
  case Fp8Format::E4M3Fnuz:
    return "e4m3fnuz";
  case Fp8Format::E4M3Ocp:
    return "e4m3";
  }
  return "none";
}

Expected<DType> parseDType(std::string_view text) {
  for (DType dtype : {DType::BF16, DType::FP8})
    if (text == dtypeName(dtype))
      return dtype;
  for (const std::string_view half : {"fp16", "f16", "float16", "half"})
    if (text == half)
      return error(StatusCode::Unsupported,
                   "attention over {} inputs is not supported; known: bf16, fp8", text);
  return error(StatusCode::InvalidArgument, "unknown dtype \"{}\"; known: bf16, fp8", text);
}

const std::vector<Target> &knownTargets() {
  static const std::vector<Target> targets = {
      {"gfx942", 64 * 1024, Fp8Format::E4M3Fnuz},
      {"gfx950", 160 * 1024, Fp8Format::E4M3Ocp},
  };
  return targets;
}

Expected<Target> parseTarget(std::string_view name) {
  std::string known;
  for (const Target &target : knownTargets()) {
    if (target.name == name)
      return target;
    known += (known.empty() ? "" : ", ") + target.name;
  }
  return error(StatusCode::InvalidArgument, "unknown target \"{}\"; known: {}", name, known);
}

} // namespace wavesmith
