#pragma once
// Bounds-checked ELF64 little-endian reading, as far as AMDGPU code objects need it: headers,
// loadable segments, symbol tables, notes, dynamic relocations. Private to runtime/codeobject.
// Every failure names field and file offset. Views into the caller's bytes; immutable once opened.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct ProgramHeader {
  std::uint32_t type = 0, flags = 0;
  std::uint64_t offset = 0, address = 0, fileSize = 0, memorySize = 0;
};

struct SectionHeader {
  std::uint32_t name = 0, type = 0, link = 0;
  std::uint64_t flags = 0, address = 0, offset = 0, size = 0, entrySize = 0;
};

struct ElfSymbol {
  std::string_view name;
  std::uint64_t address = 0, size = 0;
  std::uint8_t type = 0; ///< STT_*
  bool defined = false;
};

struct ElfNote {
  std::string_view owner;
  std::uint32_t type = 0;
  std::uint64_t offset = 0; ///< of the payload in the file
  std::span<const std::byte> payload;
};

struct ElfRelocation {
  std::uint64_t offset = 0;
  std::uint32_t type = 0;
  ElfSymbol symbol; ///< of index 0: unnamed, defined, zero
  std::int64_t addend = 0;
};

class ElfFile {
public:
  static Expected<ElfFile> open(std::span<const std::byte> bytes, std::string_view origin);

  std::uint16_t type() const { return type_; }
  std::uint16_t machine() const { return machine_; }
  std::uint32_t flags() const { return flags_; }
  std::uint8_t osAbi() const { return osAbi_; }
  std::uint8_t abiVersion() const { return abiVersion_; }
  const std::vector<ProgramHeader> &programHeaders() const { return programs_; }
  std::string_view origin() const { return origin_; }

  /// Defined and undefined symbols of .dynsym, then .symtab. Names are capped in length.
  Expected<std::vector<ElfSymbol>> symbols() const;
  Expected<std::vector<ElfNote>> notes() const;
  Expected<std::vector<ElfRelocation>> relocations() const;
  /// The contents of the section of that name; empty when there is none.
  Expected<std::span<const std::byte>> section(std::string_view name) const;

  /// A fixed-size value at a file offset; `field` leads the error.
  template <typename T> Expected<T> read(std::uint64_t offset, std::string_view field) const {
    WAVESMITH_TRY(check(offset, sizeof(T), field));
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  Status check(std::uint64_t offset, std::uint64_t size, std::string_view field) const;
  /// "origin: field at offset 0x..: what"
  Status corrupt(std::string_view field, std::uint64_t offset, std::string_view what) const;

private:
  struct SymbolTable {
    std::uint64_t offset = 0, count = 0, stringOffset = 0, stringSize = 0;
  };

  Status readHeaders();
  Status readProgramHeaders(std::uint64_t offset, std::uint16_t size, std::uint16_t count);
  Status readSectionHeaders(std::uint64_t offset, std::uint16_t size, std::uint16_t count);
  Status readDynamic();
  Status appendNotes(std::uint64_t offset, std::uint64_t size, std::vector<ElfNote> &notes) const;
  Expected<SymbolTable> sectionSymbols(std::uint32_t type) const;
  Expected<SymbolTable> dynamicSymbols() const;
  Expected<ElfSymbol> symbolAt(const SymbolTable &table, std::uint64_t index) const;
  Expected<std::uint64_t> fileOffset(std::uint64_t address, std::uint64_t size,
                                     std::string_view field) const;

  std::span<const std::byte> bytes_;
  std::string origin_;
  std::uint16_t type_ = 0, machine_ = 0;
  std::uint32_t flags_ = 0;
  std::uint8_t osAbi_ = 0, abiVersion_ = 0;
  std::uint16_t namesSection_ = 0; ///< e_shstrndx
  std::vector<ProgramHeader> programs_;
  std::vector<SectionHeader> sections_;
  std::unordered_map<std::uint64_t, std::uint64_t> dynamic_; ///< DT_* -> value, the first of each
};

} // namespace wavesmith
