#include "runtime/spec/KernelSpec.h"

namespace wavesmith {

std::string_view dtypeName(DType dtype) {
  switch (dtype) {
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::FP8:
    return "fp8";
  }
  return "none";
}

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
  for (DType dtype : {DType::BF16, DType::F16, DType::FP8})
    if (text == dtypeName(dtype))
      return dtype;
  return error(StatusCode::InvalidArgument, "unknown dtype \"{}\"; known: bf16, f16, fp8", text);
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
