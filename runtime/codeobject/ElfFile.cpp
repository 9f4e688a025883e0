#include "runtime/codeobject/ElfFile.h"

#include <elf.h>

namespace wavesmith {
namespace {

// A real object has a few thousand symbols; the caps keep a crafted one from costing gigabytes.
constexpr std::uint64_t kMaxSymbols = 1u << 16;
constexpr std::uint64_t kMaxNameLength = 4096;
constexpr std::uint64_t kMaxRelocations = 1u << 20;

std::uint64_t alignUp4(std::uint64_t value) { return (value + 3) & ~std::uint64_t{3}; }

} // namespace

Status ElfFile::corrupt(std::string_view field, std::uint64_t offset, std::string_view what) const {
  return error(StatusCode::Corrupt, "{}: {} at offset {:#x}: {}", origin_, field, offset, what);
}

Status ElfFile::check(std::uint64_t offset, std::uint64_t size, std::string_view field) const {
  if (offset <= bytes_.size() && size <= bytes_.size() - offset)
    return Status::ok();
  return corrupt(field, offset,
                 fmt::format("needs {} bytes, the file has {} in all", size, bytes_.size()));
}

Expected<ElfFile> ElfFile::open(std::span<const std::byte> bytes, std::string_view origin) {
  ElfFile file;
  file.bytes_ = bytes;
  file.origin_ = origin;
  WAVESMITH_TRY(file.readHeaders());
  WAVESMITH_TRY(file.readDynamic());
  return file;
}

Status ElfFile::readHeaders() {
  if (bytes_.empty())
    return error(StatusCode::InvalidArgument, "{}: is empty; want an AMDGPU code object (ELF64)",
                 origin_);
  if (bytes_.size() < SELFMAG || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
    return error(StatusCode::InvalidArgument,
                 "{}: ELF magic at offset 0x0: is not 7f 45 4c 46; want an AMDGPU code object "
                 "(ELF64)",
                 origin_);
  WAVESMITH_ASSIGN(Elf64_Ehdr header, read<Elf64_Ehdr>(0, "ELF header"));
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return corrupt("EI_CLASS", EI_CLASS,
                   fmt::format("is {}, want 2 (64-bit)", header.e_ident[EI_CLASS]));
  if (header.e_ident[EI_DATA] != ELFDATA2LSB)
    return corrupt("EI_DATA", EI_DATA,
                   fmt::format("is {}, want 1 (little endian)", header.e_ident[EI_DATA]));
  type_ = header.e_type;
  machine_ = header.e_machine;
  flags_ = header.e_flags;
  osAbi_ = header.e_ident[EI_OSABI];
  abiVersion_ = header.e_ident[EI_ABIVERSION];
  namesSection_ = header.e_shstrndx;
  WAVESMITH_TRY(readProgramHeaders(header.e_phoff, header.e_phentsize, header.e_phnum));
  return readSectionHeaders(header.e_shoff, header.e_shentsize, header.e_shnum);
}

Status ElfFile::readProgramHeaders(std::uint64_t offset, std::uint16_t size, std::uint16_t count) {
  if (count == 0)
    return Status::ok();
  if (size != sizeof(Elf64_Phdr))
    return corrupt("e_phentsize", offsetof(Elf64_Ehdr, e_phentsize),
                   fmt::format("is {}, want {}", size, sizeof(Elf64_Phdr)));
  WAVESMITH_TRY(check(offset, std::uint64_t{count} * size, "program headers (e_phoff, e_phnum)"));
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint64_t at = offset + std::uint64_t{i} * size;
    WAVESMITH_ASSIGN(Elf64_Phdr raw, read<Elf64_Phdr>(at, "program header"));
    WAVESMITH_TRY(check(raw.p_offset, raw.p_filesz, fmt::format("program header {} contents", i)));
    programs_.push_back(
        {raw.p_type, raw.p_flags, raw.p_offset, raw.p_vaddr, raw.p_filesz, raw.p_memsz});
  }
  return Status::ok();
}

Status ElfFile::readSectionHeaders(std::uint64_t offset, std::uint16_t size, std::uint16_t count) {
  if (count == 0)
    return Status::ok();
  if (size != sizeof(Elf64_Shdr))
    return corrupt("e_shentsize", offsetof(Elf64_Ehdr, e_shentsize),
                   fmt::format("is {}, want {}", size, sizeof(Elf64_Shdr)));
  WAVESMITH_TRY(check(offset, std::uint64_t{count} * size, "section headers (e_shoff, e_shnum)"));
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint64_t at = offset + std::uint64_t{i} * size;
    WAVESMITH_ASSIGN(Elf64_Shdr raw, read<Elf64_Shdr>(at, "section header"));
    if (raw.sh_type != SHT_NOBITS && raw.sh_type != SHT_NULL)
      WAVESMITH_TRY(check(raw.sh_offset, raw.sh_size, fmt::format("section {} contents", i)));
    sections_.push_back({raw.sh_name, raw.sh_type, raw.sh_link, raw.sh_flags, raw.sh_addr,
                         raw.sh_offset, raw.sh_size, raw.sh_entsize});
  }
  return Status::ok();
}

Status ElfFile::readDynamic() {
  for (const ProgramHeader &program : programs_) {
    if (program.type != PT_DYNAMIC)
      continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= program.fileSize;
         at += sizeof(Elf64_Dyn)) {
      WAVESMITH_ASSIGN(Elf64_Dyn entry, read<Elf64_Dyn>(program.offset + at, "dynamic entry"));
      if (entry.d_tag == DT_NULL)
        break;
      dynamic_.try_emplace(static_cast<std::uint64_t>(entry.d_tag), entry.d_un.d_val);
    }
    break;
  }
  return Status::ok();
}

Expected<std::uint64_t> ElfFile::fileOffset(std::uint64_t address, std::uint64_t size,
                                            std::string_view field) const {
  for (const ProgramHeader &program : programs_) {
    if (program.type != PT_LOAD || address < program.address)
      continue;
    const std::uint64_t inside = address - program.address;
    if (inside <= program.fileSize && size <= program.fileSize - inside)
      return program.offset + inside;
  }
  return error(StatusCode::Corrupt,
               "{}: {}: address {:#x} with {} bytes lies in no loadable segment", origin_, field,
               address, size);
}

Expected<ElfFile::SymbolTable> ElfFile::sectionSymbols(std::uint32_t type) const {
  for (const SectionHeader &section : sections_) {
    if (section.type != type)
      continue;
    const char *field = type == SHT_DYNSYM ? ".dynsym" : ".symtab";
    if (section.entrySize != sizeof(Elf64_Sym))
      return corrupt(
          field, section.offset,
          fmt::format("sh_entsize is {}, want {}", section.entrySize, sizeof(Elf64_Sym)));
    if (section.link >= sections_.size() || sections_[section.link].type != SHT_STRTAB)
      return corrupt(field, section.offset,
                     fmt::format("sh_link {} is no string table", section.link));
    const SectionHeader &strings = sections_[section.link];
    return SymbolTable{section.offset, section.size / sizeof(Elf64_Sym), strings.offset,
                       strings.size};
  }
  return SymbolTable{};
}

Expected<ElfFile::SymbolTable> ElfFile::dynamicSymbols() const {
  WAVESMITH_ASSIGN(SymbolTable table, sectionSymbols(SHT_DYNSYM));
  if (table.count != 0)
    return table;
  // Stripped of section headers: the loader's own view. Only DT_HASH tells the count.
  const auto symbols = dynamic_.find(DT_SYMTAB), strings = dynamic_.find(DT_STRTAB),
             stringSize = dynamic_.find(DT_STRSZ), hash = dynamic_.find(DT_HASH);
  if (symbols == dynamic_.end() || strings == dynamic_.end() || stringSize == dynamic_.end() ||
      hash == dynamic_.end())
    return table;
  WAVESMITH_ASSIGN(std::uint64_t hashOffset, fileOffset(hash->second, 8, "DT_HASH"));
  WAVESMITH_ASSIGN(std::uint32_t count, read<std::uint32_t>(hashOffset + 4, "DT_HASH nchain"));
  table.count = count;
  WAVESMITH_ASSIGN(table.offset, fileOffset(symbols->second,
                                            std::uint64_t{count} * sizeof(Elf64_Sym), "DT_SYMTAB"));
  table.stringSize = stringSize->second;
  WAVESMITH_ASSIGN(table.stringOffset, fileOffset(strings->second, table.stringSize, "DT_STRTAB"));
  return table;
}

Expected<ElfSymbol> ElfFile::symbolAt(const SymbolTable &table, std::uint64_t index) const {
  const std::uint64_t at = table.offset + index * sizeof(Elf64_Sym);
  WAVESMITH_ASSIGN(Elf64_Sym raw, read<Elf64_Sym>(at, "symbol"));
  if (raw.st_name >= table.stringSize && raw.st_name != 0)
    return corrupt(
        fmt::format("symbol {} st_name", index), at,
        fmt::format("{} is past the string table of {} bytes", raw.st_name, table.stringSize));
  ElfSymbol symbol{{},
                   raw.st_value,
                   raw.st_size,
                   static_cast<std::uint8_t>(raw.st_info & 0xf),
                   raw.st_shndx != SHN_UNDEF};
  if (raw.st_name != 0) {
    const auto *text =
        reinterpret_cast<const char *>(bytes_.data() + table.stringOffset + raw.st_name);
    const std::uint64_t room = table.stringSize - raw.st_name;
    const std::size_t length = strnlen(text, std::min(room, kMaxNameLength));
    if (length == room || length == kMaxNameLength)
      return corrupt(fmt::format("symbol {} name", index), table.stringOffset + raw.st_name,
                     fmt::format("is not terminated within {} bytes", length));
    symbol.name = {text, length};
  }
  return symbol;
}

Expected<std::vector<ElfSymbol>> ElfFile::symbols() const {
  std::vector<ElfSymbol> symbols;
  WAVESMITH_ASSIGN(SymbolTable dynamic, dynamicSymbols());
  WAVESMITH_ASSIGN(SymbolTable full, sectionSymbols(SHT_SYMTAB));
  for (const SymbolTable &table : {dynamic, full}) {
    if (table.count > kMaxSymbols)
      return corrupt("symbol table", table.offset,
                     fmt::format("has {} symbols, more than {}", table.count, kMaxSymbols));
    for (std::uint64_t i = 1; i < table.count; ++i) {
      WAVESMITH_ASSIGN(ElfSymbol symbol, symbolAt(table, i));
      symbols.push_back(symbol);
    }
  }
  return symbols;
}

Status ElfFile::appendNotes(std::uint64_t offset, std::uint64_t size,
                            std::vector<ElfNote> &notes) const {
  const std::uint64_t end = offset + size; // checked when the header was read
  while (offset < end && end - offset >= sizeof(Elf64_Nhdr)) {
    WAVESMITH_ASSIGN(Elf64_Nhdr raw, read<Elf64_Nhdr>(offset, "note"));
    const std::uint64_t nameOffset = offset + sizeof(raw);
    const std::uint64_t payloadOffset = nameOffset + alignUp4(raw.n_namesz);
    if (raw.n_namesz > end - nameOffset || payloadOffset > end ||
        raw.n_descsz > end - payloadOffset)
      return corrupt("note", offset,
                     fmt::format("n_namesz {} and n_descsz {} exceed the {} bytes left",
                                 raw.n_namesz, raw.n_descsz, end - nameOffset));
    const auto *name = reinterpret_cast<const char *>(bytes_.data() + nameOffset);
    notes.push_back({{name, strnlen(name, raw.n_namesz)},
                     raw.n_type,
                     payloadOffset,
                     bytes_.subspan(payloadOffset, raw.n_descsz)});
    offset = payloadOffset + alignUp4(raw.n_descsz);
  }
  return Status::ok();
}

Expected<std::vector<ElfNote>> ElfFile::notes() const {
  std::vector<ElfNote> notes;
  for (const ProgramHeader &program : programs_)
    if (program.type == PT_NOTE)
      WAVESMITH_TRY(appendNotes(program.offset, program.fileSize, notes));
  // Notes that a linker kept out of the loaded image.
  for (const SectionHeader &section : sections_)
    if (section.type == SHT_NOTE && !(section.flags & SHF_ALLOC))
      WAVESMITH_TRY(appendNotes(section.offset, section.size, notes));
  return notes;
}

Expected<std::vector<ElfRelocation>> ElfFile::relocations() const {
  std::vector<ElfRelocation> relocations;
  const auto table = dynamic_.find(DT_RELA), size = dynamic_.find(DT_RELASZ);
  if (table == dynamic_.end() || size == dynamic_.end() || size->second == 0)
    return relocations;
  const std::uint64_t count = size->second / sizeof(Elf64_Rela);
  if (count > kMaxRelocations)
    return error(StatusCode::Corrupt, "{}: DT_RELASZ: {} relocations, more than {}", origin_, count,
                 kMaxRelocations);
  WAVESMITH_ASSIGN(std::uint64_t offset, fileOffset(table->second, size->second, "DT_RELA"));
  WAVESMITH_ASSIGN(SymbolTable symbols, dynamicSymbols());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = offset + i * sizeof(Elf64_Rela);
    WAVESMITH_ASSIGN(Elf64_Rela raw, read<Elf64_Rela>(at, "relocation"));
    ElfRelocation relocation{raw.r_offset, static_cast<std::uint32_t>(ELF64_R_TYPE(raw.r_info)),
                             ElfSymbol{{}, 0, 0, 0, true}, raw.r_addend};
    const std::uint64_t symbol = ELF64_R_SYM(raw.r_info);
    if (symbol >= symbols.count && symbol != 0)
      return corrupt(fmt::format("relocation {} symbol", i), at,
                     fmt::format("{} is past the table of {} symbols", symbol, symbols.count));
    if (symbol != 0) {
      WAVESMITH_ASSIGN(relocation.symbol, symbolAt(symbols, symbol));
    }
    relocations.push_back(relocation);
  }
  return relocations;
}

Expected<std::span<const std::byte>> ElfFile::section(std::string_view name) const {
  if (namesSection_ >= sections_.size() || sections_[namesSection_].type != SHT_STRTAB)
    return std::span<const std::byte>();
  const SectionHeader &names = sections_[namesSection_];
  for (const SectionHeader &section : sections_) {
    if (section.type == SHT_NULL || section.type == SHT_NOBITS || section.name >= names.size)
      continue;
    const auto *text = reinterpret_cast<const char *>(bytes_.data() + names.offset + section.name);
    if (std::string_view(text, strnlen(text, names.size - section.name)) != name)
      continue;
    if (section.flags & SHF_COMPRESSED)
      return error(StatusCode::Unsupported, "{}: section {} is compressed", origin_, name);
    return bytes_.subspan(section.offset, section.size);
  }
  return std::span<const std::byte>();
}

} // namespace wavesmith
