#pragma once
// What test kernels made of text share: the object's metadata.

#include <cstddef>
#include <sstream>
#include <string>

namespace wavesmith::emulator::test {

/// Metadata of kernels k0, k1, ... with 16 bytes of arguments and one wave each.
inline std::string kernelMetadata(std::size_t kernels, int vgprs) {
  std::ostringstream s;
  s << ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n";
  for (std::size_t i = 0; i < kernels; ++i)
    s << "  - .name: k" << i << "\n    .symbol: k" << i
      << ".kd\n    .kernarg_segment_size: 16\n    .kernarg_segment_align: 8\n"
         "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n"
         "    .wavefront_size: 64\n    .sgpr_count: 32\n    .vgpr_count: "
      << vgprs << "\n    .max_flat_workgroup_size: 64\n    .args: []\n";
  s << "...\n.end_amdgpu_metadata\n";
  return s.str();
}

} // namespace wavesmith::emulator::test
