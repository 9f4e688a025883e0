#include "compiler/codegen/ResourceGates.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Object/ELFObjectFile.h>

#include "compiler/codegen/Diagnostics.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {
namespace {

using ElfFile = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;

llvm::Expected<std::string> findMetadata(const ElfFile &file) {
  auto sections = file.getELFFile().sections();
  if (!sections)
    return withContext(sections.takeError(), "reading the section table");
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    std::optional<std::string> found;
    for (const auto &note : file.getELFFile().notes(section, error))
      if (!found && note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(section.sh_addralign).str();
    if (error)
      return withContext(std::move(error), "reading a note section");
    if (found)
      return *found;
  }
  return codegenError(StatusCode::Corrupt, "the object has no AMDGPU metadata");
}

llvm::msgpack::DocNode *find(llvm::msgpack::MapDocNode &map, llvm::StringRef key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

unsigned number(llvm::msgpack::MapDocNode &map, llvm::StringRef key) {
  const llvm::msgpack::DocNode *node = find(map, key);
  return node && node->getKind() == llvm::msgpack::Type::UInt
             ? static_cast<unsigned>(node->getUInt())
             : 0;
}

KernelResources readKernel(llvm::msgpack::MapDocNode &map, const ElfFile &file) {
  KernelResources kernel;
  if (const auto *name = find(map, ".name"); name && name->isString())
    kernel.name = name->getString().str();
  kernel.vgprs = number(map, ".vgpr_count");
  kernel.agprs = number(map, ".agpr_count");
  kernel.sgprs = number(map, ".sgpr_count");
  kernel.vgprSpills = number(map, ".vgpr_spill_count");
  kernel.sgprSpills = number(map, ".sgpr_spill_count");
  kernel.ldsBytes = number(map, ".group_segment_fixed_size");
  kernel.scratchBytes = number(map, ".private_segment_fixed_size");
  kernel.kernargBytes = number(map, ".kernarg_segment_size");
  kernel.maxWorkgroupSize = number(map, ".max_flat_workgroup_size");
  if (const auto *dynamic = find(map, ".uses_dynamic_stack");
      dynamic && dynamic->getKind() == llvm::msgpack::Type::Boolean)
    kernel.dynamicStack = dynamic->getBool();
  for (const llvm::object::ELFSymbolRef symbol : file.symbols()) {
    auto name = symbol.getName();
    if (!name)
      llvm::consumeError(name.takeError());
    else if (*name == kernel.name && symbol.getELFType() == llvm::ELF::STT_FUNC)
      kernel.codeBytes = static_cast<unsigned>(symbol.getSize());
  }
  return kernel;
}

} // namespace

unsigned ResourceLimits::registersPerWave() const {
  return llvm::alignDown(registersPerLane / std::max(wavesPerSimd, 1u), 8);
}

llvm::Expected<std::vector<KernelResources>> readResources(llvm::ArrayRef<char> object) {
  auto file = ElfFile::create(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "code object"));
  if (!file)
    return withContext(file.takeError(), "not a code object");
  auto metadata = findMetadata(*file);
  if (!metadata)
    return metadata.takeError();
  llvm::msgpack::Document document;
  if (!document.readFromBlob(*metadata, /*Multi=*/false) || !document.getRoot().isMap())
    return codegenError(StatusCode::Corrupt, "the AMDGPU metadata is not a msgpack map");
  std::vector<KernelResources> kernels;
  auto *list = find(document.getRoot().getMap(), "amdhsa.kernels");
  if (!list || !list->isArray())
    return codegenError(StatusCode::Corrupt, "the AMDGPU metadata has no list of kernels");
  for (llvm::msgpack::DocNode &node : list->getArray())
    if (node.isMap())
      kernels.push_back(readKernel(node.getMap(), *file));
  return kernels;
}

std::vector<std::string> resourceViolations(const KernelResources &kernel,
                                            const ResourceLimits &limits) {
  std::vector<std::string> violations;
  auto atMost = [&](unsigned figure, unsigned limit, std::string_view what) {
    if (figure > limit)
      violations.push_back(
          fmt::format("kernel '{}': {} {}, at most {} allowed", kernel.name, figure, what, limit));
  };
  atMost(kernel.scratchBytes, 0, "bytes of scratch per lane");
  atMost(kernel.vgprSpills, 0, "VGPR spills");
  atMost(kernel.sgprSpills, limits.sgprSpills, "SGPR spills");
  atMost(kernel.ldsBytes, limits.ldsBytes, "bytes of LDS");
  atMost(kernel.vgprs, limits.registersPerWave(),
         fmt::format("registers (VGPR {} + AGPR {}) at {} waves per SIMD",
                     kernel.vgprs - kernel.agprs, kernel.agprs, limits.wavesPerSimd));
  if (kernel.dynamicStack)
    violations.push_back(fmt::format("kernel '{}': uses a dynamic stack", kernel.name));
  if (kernel.maxWorkgroupSize < limits.workgroupSize)
    violations.push_back(fmt::format("kernel '{}': compiled for workgroups of up to {}, needs {}",
                                     kernel.name, kernel.maxWorkgroupSize, limits.workgroupSize));
  return violations;
}

llvm::Error checkResources(llvm::ArrayRef<KernelResources> kernels, const ResourceLimits &limits) {
  std::vector<std::string> all;
  for (const KernelResources &kernel : kernels)
    for (std::string &violation : resourceViolations(kernel, limits))
      all.push_back(std::move(violation));
  if (all.empty())
    return llvm::Error::success();
  return codegenError(StatusCode::ResourceExhausted, "{}", fmt::join(all, "; "));
}

} // namespace wavesmith::compiler
