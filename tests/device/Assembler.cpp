#include "tests/device/Assembler.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace wavesmith::test {
namespace {

namespace fs = std::filesystem;

std::string tool(const char *name) {
  const fs::path pinned = fs::path(WAVESMITH_LLVM_TOOLS) / name;
  if (std::error_code ignored; fs::exists(pinned, ignored))
    return pinned.string();
  return {};
}

bool run(const std::string &command) { return std::system(command.c_str()) == 0; }

std::string argumentsMetadata(const KernelSource &kernel, int &size) {
  std::string text;
  size = 0;
  for (const std::string &argument : kernel.arguments) {
    const std::size_t space = argument.find(' ');
    const int bytes = std::stoi(argument.substr(0, space));
    size = (size + bytes - 1) / bytes * bytes;
    text += fmt::format("      - {{.offset: {}, .size: {}, .value_kind: {}}}\n", size, bytes,
                        argument.substr(space + 1));
    size += bytes;
  }
  return text.empty() ? "      []\n" : text;
}

/// A temporary directory of one call.
class Directory {
public:
  Directory() {
    std::string pattern = (fs::temp_directory_path() / "wavesmith-asm-XXXXXX").string();
    if (mkdtemp(pattern.data()))
      path_ = pattern;
    else
      std::perror("mkdtemp");
  }
  ~Directory() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  Directory(const Directory &) = delete;
  Directory &operator=(const Directory &) = delete;
  std::string base() const { return (path_ / "k").string(); }

private:
  fs::path path_;
};

std::vector<std::byte> contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto *data = reinterpret_cast<const std::byte *>(bytes.data());
  return {data, data + bytes.size()};
}

} // namespace

std::optional<std::string> assemblerMissing() {
  for (const char *name : {"llvm-mc", "ld.lld"})
    if (tool(name).empty())
      return fmt::format("{} is not in {}", name, WAVESMITH_LLVM_TOOLS);
  return std::nullopt;
}

std::vector<std::byte> assemble(std::string_view source, std::string_view target, int version,
                                std::string_view options) {
  const Directory directory;
  const std::string base = directory.base();
  std::ofstream(base + ".s") << fmt::format(".amdhsa_code_object_version {}\n{}", version, source);
  if (!run(fmt::format("{} -triple=amdgcn-amd-amdhsa -mcpu={} -filetype=obj {} {}.s -o {}.o",
                       tool("llvm-mc"), target, options, base, base)) ||
      !run(fmt::format("{} -shared {}.o -o {}.co", tool("ld.lld"), base, base)))
    return {};
  return contents(base + ".co");
}

std::optional<std::vector<std::byte>>
compileOpenCl(std::string_view source, std::string_view target, std::string_view options) {
  const std::string clang = tool("clang");
  if (clang.empty())
    return std::nullopt;
  const Directory directory;
  const std::string base = directory.base();
  std::ofstream(base + ".cl") << source;
  // ld.lld links what clang compiled; clang itself would ask for the device library.
  if (!run(fmt::format("{} -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu={} -nogpulib -O1 {} "
                       "-c {}.cl -o {}.o",
                       clang, target, options, base, base)) ||
      !run(fmt::format("{} -shared {}.o -o {}.co", tool("ld.lld"), base, base)))
    return std::vector<std::byte>();
  return contents(base + ".co");
}

std::string kernelSource(const std::vector<KernelSource> &kernels, std::string_view data) {
  std::string text, metadata = "  .amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n";
  for (const KernelSource &kernel : kernels) {
    int kernargBytes = 0;
    const std::string arguments = argumentsMetadata(kernel, kernargBytes);
    text += fmt::format(R"(
  .text
  .globl {0}
  .p2align 8
  .type {0},@function
{0}:
{1}
  s_endpgm
.L{0}_end:
  .size {0}, .L{0}_end-{0}
  .fill 64, 4, 0xbf800000
  .rodata
  .p2align 6
  .amdhsa_kernel {0}
    .amdhsa_next_free_vgpr {2}
    .amdhsa_next_free_sgpr {3}
    .amdhsa_accum_offset {4}
    .amdhsa_group_segment_fixed_size {5}
    .amdhsa_kernarg_size {6}
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x {7}
    .amdhsa_system_sgpr_workgroup_id_y {7}
    .amdhsa_system_sgpr_workgroup_id_z {7}
    .amdhsa_system_vgpr_workitem_id 2
  .end_amdhsa_kernel
)",
                        kernel.name, kernel.body, kernel.vgprs, kernel.sgprs,
                        (kernel.vgprs + 3) / 4 * 4, kernel.ldsBytes, kernargBytes,
                        kernel.workgroupIds ? 1 : 0);
    metadata += fmt::format(R"(  - .name: {0}
    .symbol: {0}.kd
    .group_segment_fixed_size: {1}
    .private_segment_fixed_size: 0
    .kernarg_segment_size: {2}
    .kernarg_segment_align: 8
    .sgpr_count: {3}
    .vgpr_count: {4}
    .agpr_count: 0
    .max_flat_workgroup_size: {5}
    .wavefront_size: 64
    .args:
{6})",
                            kernel.name, kernel.ldsBytes, kernargBytes, kernel.sgprs, kernel.vgprs,
                            kernel.maxThreads, arguments);
  }
  return text + std::string(data) + metadata + "  .end_amdgpu_metadata\n";
}

} // namespace wavesmith::test
