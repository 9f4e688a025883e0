#pragma once
// Assembles AMDGPU sources at test time with llvm-mc and ld.lld, so that the tree holds no binary.
// Used by tests only; each call uses its own temporary directory.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavesmith::test {

/// Why sources cannot be assembled here, or nothing when they can. For GTEST_SKIP.
std::optional<std::string> assemblerMissing();

/// The linked code object, or empty after printing the tool's message (a test failure).
std::vector<std::byte> assemble(std::string_view source, std::string_view target = "gfx942",
                                int codeObjectVersion = 6, std::string_view options = {});

/// A linked object from OpenCL C in a file k.cl; nothing where there is no clang. Empty after
/// printing the compiler's message.
std::optional<std::vector<std::byte>>
compileOpenCl(std::string_view source, std::string_view target, std::string_view options);

struct KernelSource {
  std::string name;
  std::string body;                   ///< instructions; s[0:1] = kernarg pointer, then ids
  std::vector<std::string> arguments; ///< each "size kind", e.g. "8 global_buffer"
  int vgprs = 16, sgprs = 32;
  int ldsBytes = 0;
  int maxThreads = 1024;
  bool workgroupIds = true; ///< s2, s3, s4
};
/// One kernel with its descriptor and metadata; `data` is appended as it stands.
std::string kernelSource(const std::vector<KernelSource> &kernels, std::string_view data = {});

} // namespace wavesmith::test
