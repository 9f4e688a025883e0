#include "runtime/codeobject/CodeObject.h"

#include <algorithm>
#include <unordered_map>

#include <elf.h>

#include "runtime/codeobject/ElfFile.h"
#include "runtime/codeobject/Metadata.h"
#include "runtime/codeobject/Note.h"

namespace wavesmith {
namespace {

constexpr std::uint16_t kMachineAmdgpu = 224;
constexpr std::uint8_t kOsAbiHsa = 64;
constexpr std::uint32_t kMachMask = 0xff;
constexpr std::uint32_t kMetadataNote = 32;
constexpr std::size_t kDescriptorBytes = 64;
// Largest zero-filled segment that a loader is asked to provide.
constexpr std::uint64_t kMaxSegmentBytes = std::uint64_t{1} << 32;
// Of a kernel's arguments; launchers allocate as many. Compilers stop at a few KiB.
constexpr std::uint32_t kMaxKernargBytes = 1 << 20;

struct Machine {
  std::uint32_t mach;
  const char *name;
  bool supported;
};
// LLVM's EF_AMDGPU_MACH values; the unsupported ones are there for the message.
constexpr Machine kMachines[] = {
    {0x4c, "gfx942", true},   {0x4f, "gfx950", true},   {0x2c, "gfx900", false},
    {0x2f, "gfx906", false},  {0x30, "gfx908", false},  {0x3f, "gfx90a", false},
    {0x40, "gfx940", false},  {0x4b, "gfx941", false},  {0x36, "gfx1030", false},
    {0x41, "gfx1100", false}, {0x48, "gfx1200", false}, {0x4e, "gfx1201", false},
};

template <typename T> T field(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

KernelDescriptor readDescriptor(std::span<const std::byte> bytes) {
  KernelDescriptor descriptor;
  descriptor.groupSegmentSize = field<std::uint32_t>(bytes, 0);
  descriptor.privateSegmentSize = field<std::uint32_t>(bytes, 4);
  descriptor.kernargSize = field<std::uint32_t>(bytes, 8);
  descriptor.entryOffset = field<std::int64_t>(bytes, 16);
  descriptor.rsrc3 = field<std::uint32_t>(bytes, 44);
  descriptor.rsrc1 = field<std::uint32_t>(bytes, 48);
  descriptor.rsrc2 = field<std::uint32_t>(bytes, 52);
  descriptor.properties = field<std::uint16_t>(bytes, 56);
  descriptor.kernargPreload = field<std::uint16_t>(bytes, 58);
  return descriptor;
}

} // namespace

class CodeObjectParser {
public:
  CodeObjectParser(CodeObject &object, const ElfFile &elf) : object_(object), elf_(elf) {}

  Status parse() {
    WAVESMITH_TRY(identify());
    WAVESMITH_TRY(readSegments());
    WAVESMITH_TRY(readSymbols());
    WAVESMITH_TRY(readNotes());
    WAVESMITH_TRY(readRelocations());
    return Status::ok();
  }

private:
  Status identify() {
    if (elf_.machine() != kMachineAmdgpu)
      return error(StatusCode::InvalidArgument,
                   "{}: e_machine at offset {:#x}: is {}, want 224 (AMDGPU)", elf_.origin(),
                   offsetof(Elf64_Ehdr, e_machine), elf_.machine());
    if (elf_.osAbi() != kOsAbiHsa)
      return error(StatusCode::Unsupported,
                   "{}: EI_OSABI at offset {:#x}: is {}, want 64 (AMDGPU HSA)", elf_.origin(),
                   EI_OSABI, elf_.osAbi());
    if (elf_.abiVersion() < 2 || elf_.abiVersion() > 4)
      return error(StatusCode::Unsupported,
                   "{}: EI_ABIVERSION at offset {:#x}: is {}, want 2 to 4 (code object v4 to v6)",
                   elf_.origin(), EI_ABIVERSION, elf_.abiVersion());
    object_.version_ = elf_.abiVersion() + 2;
    object_.elfFlags_ = elf_.flags();
    const std::uint32_t mach = elf_.flags() & kMachMask;
    const auto *machine =
        std::ranges::find_if(kMachines, [&](const Machine &row) { return row.mach == mach; });
    if (machine == std::end(kMachines) || !machine->supported)
      return error(StatusCode::Unsupported,
                   "{}: e_flags at offset {:#x}: machine {:#x}{} is not supported; want gfx942 "
                   "(0x4c) or gfx950 (0x4f)",
                   elf_.origin(), offsetof(Elf64_Ehdr, e_flags), mach,
                   machine == std::end(kMachines) ? "" : fmt::format(" ({})", machine->name));
    object_.target_ = machine->name;
    if (elf_.type() != ET_DYN)
      return error(StatusCode::InvalidArgument,
                   "{}: e_type at offset {:#x}: is {}, want 3 (linked shared object){}",
                   elf_.origin(), offsetof(Elf64_Ehdr, e_type), elf_.type(),
                   elf_.type() == ET_REL ? "; link it with ld.lld -shared first" : "");
    return Status::ok();
  }

  Status readSegments() {
    for (std::size_t i = 0; i < elf_.programHeaders().size(); ++i) {
      const ProgramHeader &header = elf_.programHeaders()[i];
      if (header.type != PT_LOAD || header.memorySize == 0)
        continue;
      const std::string name = fmt::format("program header {} (PT_LOAD)", i);
      if (header.fileSize > header.memorySize)
        return elf_.corrupt(
            name, header.offset,
            fmt::format("p_filesz {} exceeds p_memsz {}", header.fileSize, header.memorySize));
      if (header.memorySize > kMaxSegmentBytes ||
          header.address > (std::uint64_t{1} << 47) - header.memorySize)
        return elf_.corrupt(name, header.offset,
                            fmt::format("p_vaddr {:#x} with p_memsz {} is past the address limits",
                                        header.address, header.memorySize));
      Segment segment;
      segment.address = header.address;
      segment.memorySize = header.memorySize;
      segment.bytes =
          std::span<const std::byte>(object_.bytes_).subspan(header.offset, header.fileSize);
      segment.readable = header.flags & PF_R;
      segment.writable = header.flags & PF_W;
      segment.executable = header.flags & PF_X;
      object_.segments_.push_back(segment);
    }
    if (object_.segments_.empty())
      return error(StatusCode::Corrupt, "{}: has no loadable segment (PT_LOAD)", elf_.origin());
    std::vector<Segment> sorted = object_.segments_;
    std::ranges::sort(sorted, {}, &Segment::address);
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i].address - sorted[i - 1].address < sorted[i - 1].memorySize)
        return error(StatusCode::Corrupt, "{}: loadable segments at {:#x} and {:#x} overlap",
                     elf_.origin(), sorted[i - 1].address, sorted[i].address);
    if (sorted.back().address + sorted.back().memorySize - sorted.front().address >
        kMaxSegmentBytes)
      return error(StatusCode::Corrupt, "{}: loadable segments span more than 4 GiB",
                   elf_.origin());
    return Status::ok();
  }

  Status readSymbols() {
    WAVESMITH_ASSIGN(symbols_, elf_.symbols());
    for (const ElfSymbol &symbol : symbols_) {
      if (!symbol.defined || symbol.name.empty() ||
          !byName_.try_emplace(symbol.name, symbol).second)
        continue; // .symtab repeats .dynsym
      if (symbol.type == STT_OBJECT && !symbol.name.ends_with(".kd"))
        object_.globals_.push_back({std::string(symbol.name), symbol.address, symbol.size});
    }
    return Status::ok();
  }

  Status readNotes() {
    WAVESMITH_ASSIGN(std::vector<ElfNote> notes, elf_.notes());
    bool haveMetadata = false;
    for (const ElfNote &note : notes) {
      if (note.owner == "AMDGPU" && note.type == kMetadataNote && !haveMetadata) {
        haveMetadata = true;
        WAVESMITH_ASSIGN(
            std::vector<KernelMetadata> kernels,
            parseMetadata(note.payload, fmt::format("{}: metadata note at offset {:#x}",
                                                    elf_.origin(), note.offset)));
        for (KernelMetadata &kernel : kernels)
          WAVESMITH_TRY(addKernel(std::move(kernel)));
      } else if (note.owner == kNoteOwner && note.type == kNoteType && !object_.note_) {
        object_.note_.emplace(reinterpret_cast<const char *>(note.payload.data()),
                              note.payload.size());
        // Padding of an assembler or a C string's end is not part of the text.
        while (!object_.note_->empty() && object_.note_->back() == '\0')
          object_.note_->pop_back();
      }
    }
    if (!haveMetadata)
      return kernelsFromDescriptors();
    return Status::ok();
  }

  /// Objects without metadata (hand-assembled) still run: the descriptor has what hardware needs.
  Status kernelsFromDescriptors() {
    for (const ElfSymbol &symbol : symbols_) {
      if (!symbol.defined || !symbol.name.ends_with(".kd") || symbol.type != STT_OBJECT)
        continue;
      KernelMetadata kernel;
      kernel.descriptor = symbol.name;
      kernel.info.name = symbol.name.substr(0, symbol.name.size() - 3);
      if (std::ranges::find(object_.kernels_, kernel.info.name, &KernelInfo::name) !=
          object_.kernels_.end())
        continue;
      WAVESMITH_TRY(addKernel(std::move(kernel)));
      KernelInfo &info = object_.kernels_.back();
      info.ldsBytes = info.descriptor.groupSegmentSize;
      info.scratchBytes = info.descriptor.privateSegmentSize;
      info.kernargBytes = info.descriptor.kernargSize;
    }
    return Status::ok();
  }

  Status addKernel(KernelMetadata kernel) {
    KernelInfo &info = kernel.info;
    const auto symbol = byName_.find(kernel.descriptor);
    if (symbol == byName_.end())
      return error(StatusCode::Corrupt, "{}: kernel {}: no symbol {} for its descriptor",
                   elf_.origin(), info.name, kernel.descriptor);
    info.descriptorAddress = symbol->second.address;
    const std::span<const std::byte> bytes = object_.at(info.descriptorAddress, kDescriptorBytes);
    if (bytes.empty() || info.descriptorAddress % 64 != 0)
      return error(StatusCode::Corrupt,
                   "{}: kernel {}: descriptor address {:#x} is not a 64-byte aligned range of a "
                   "loadable segment",
                   elf_.origin(), info.name, info.descriptorAddress);
    info.descriptor = readDescriptor(bytes);
    if (const auto size = std::max(info.kernargBytes, info.descriptor.kernargSize);
        size > kMaxKernargBytes)
      return error(StatusCode::Corrupt, "{}: kernel {}: {} bytes of arguments, at most {} are read",
                   elf_.origin(), info.name, size, kMaxKernargBytes);
    info.entryAddress =
        info.descriptorAddress + static_cast<std::uint64_t>(info.descriptor.entryOffset);
    const bool executable = std::ranges::any_of(object_.segments_, [&](const Segment &segment) {
      return segment.executable && info.entryAddress >= segment.address &&
             info.entryAddress - segment.address < segment.bytes.size();
    });
    if (!executable || info.entryAddress % 256 != 0)
      return error(StatusCode::Corrupt,
                   "{}: kernel {}: kernel_code_entry_byte_offset at address {:#x}: entry {:#x} is "
                   "not a 256-byte aligned address of an executable segment",
                   elf_.origin(), info.name, info.descriptorAddress + 16, info.entryAddress);
    if (const auto code = byName_.find(info.name);
        code != byName_.end() && code->second.address == info.entryAddress)
      info.codeSize = object_.at(code->second.address, code->second.size).size();
    object_.kernels_.push_back(std::move(info));
    return Status::ok();
  }

  Status readRelocations() {
    WAVESMITH_ASSIGN(std::vector<ElfRelocation> relocations, elf_.relocations());
    for (const ElfRelocation &relocation : relocations) {
      if (!relocation.symbol.defined)
        return error(StatusCode::Unsupported,
                     "{}: relocation at address {:#x} needs the undefined symbol {}", elf_.origin(),
                     relocation.offset, relocation.symbol.name);
      object_.relocations_.push_back(
          {relocation.offset, relocation.type, relocation.symbol.address, relocation.addend});
    }
    return Status::ok();
  }

  CodeObject &object_;
  const ElfFile &elf_;
  std::vector<ElfSymbol> symbols_;
  std::unordered_map<std::string_view, ElfSymbol> byName_;
};

Expected<CodeObject> CodeObject::parse(std::vector<std::byte> bytes, std::string_view origin) {
  CodeObject object;
  object.bytes_ = std::move(bytes);
  WAVESMITH_ASSIGN(ElfFile elf, ElfFile::open(object.bytes_, origin));
  WAVESMITH_TRY(CodeObjectParser(object, elf).parse());
  return object;
}

Expected<const KernelInfo *> CodeObject::kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels_, name, &KernelInfo::name);
  if (found != kernels_.end())
    return &*found;
  std::string known;
  for (std::size_t i = 0; i < kernels_.size() && i < 16; ++i)
    known += (i ? ", " : "") + kernels_[i].name;
  return error(StatusCode::NotFound, "no kernel {} in the object; it has {}", name,
               kernels_.empty() ? "none" : known);
}

std::span<const std::byte> CodeObject::at(std::uint64_t address, std::uint64_t size) const {
  for (const Segment &segment : segments_) {
    if (address < segment.address)
      continue;
    const std::uint64_t inside = address - segment.address;
    if (inside <= segment.bytes.size() && size <= segment.bytes.size() - inside)
      return segment.bytes.subspan(inside, size);
  }
  return {};
}

} // namespace wavesmith
