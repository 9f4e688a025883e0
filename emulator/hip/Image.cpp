#include "emulator/hip/Image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <elf.h>

namespace wavesmith::hipfront {
namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint32_t kWrapperMagic = 0x48495046; // "HIPF", as hipcc's fat binaries begin
constexpr std::uint64_t kMaxEntries = 256, kMaxTriple = 256;

struct FatWrapper {
  std::uint32_t magic, version;
  const void *binary;
  const void *unused;
};

template <typename T> T load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

std::size_t elfSize(const std::byte *image) {
  const auto header = load<Elf64_Ehdr>(image);
  std::uint64_t end = sizeof(header);
  end = std::max<std::uint64_t>(end, header.e_phoff +
                                         std::uint64_t{header.e_phnum} * header.e_phentsize);
  end = std::max<std::uint64_t>(end, header.e_shoff +
                                         std::uint64_t{header.e_shnum} * header.e_shentsize);
  if (header.e_phentsize == sizeof(Elf64_Phdr))
    for (std::uint16_t i = 0; i < header.e_phnum; ++i) {
      const auto program = load<Elf64_Phdr>(image + header.e_phoff + i * sizeof(Elf64_Phdr));
      end = std::max<std::uint64_t>(end, program.p_offset + program.p_filesz);
    }
  if (header.e_shentsize == sizeof(Elf64_Shdr))
    for (std::uint16_t i = 0; i < header.e_shnum; ++i) {
      const auto section = load<Elf64_Shdr>(image + header.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL)
        end = std::max<std::uint64_t>(end, section.sh_offset + section.sh_size);
    }
  return end;
}

/// A bundle entry's name ends in the target, with feature flags behind a colon.
bool isFor(std::string_view name, std::string_view target) {
  const std::size_t at = name.find("--" + std::string(target));
  if (!name.starts_with("hip") || at == std::string_view::npos)
    return false;
  const std::size_t end = at + 2 + target.size();
  return end == name.size() || name[end] == ':';
}

Expected<std::span<const std::byte>>
findInBundle(const std::byte *image, std::optional<std::size_t> size, std::string_view target) {
  const auto short_ = [&](std::uint64_t end) { return size && end > *size; };
  std::uint64_t at = kBundleMagic.size();
  if (short_(at + 8))
    return error(StatusCode::Corrupt, "offload bundle: cut off at its entry count");
  const auto count = load<std::uint64_t>(image + at);
  at += 8;
  if (count > kMaxEntries)
    return error(StatusCode::Corrupt, "offload bundle: {} entries, more than {}", count,
                 kMaxEntries);
  std::string names;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (short_(at + 24))
      return error(StatusCode::Corrupt, "offload bundle: cut off at entry {}", i);
    const auto offset = load<std::uint64_t>(image + at),
               bytes = load<std::uint64_t>(image + at + 8),
               length = load<std::uint64_t>(image + at + 16);
    if (length > kMaxTriple || short_(at + 24 + length) ||
        (size && (offset > *size || bytes > *size - offset)))
      return error(StatusCode::Corrupt, "offload bundle: entry {} lies outside the bundle", i);
    const std::string_view name(reinterpret_cast<const char *>(image + at + 24), length);
    if (isFor(name, target))
      return std::span(image + offset, bytes);
    names += (names.empty() ? "" : ", ") + std::string(name);
    at += 24 + length;
  }
  return error(StatusCode::NotFound, "the offload bundle has nothing for {}; it has {}", target,
               names);
}

} // namespace

Expected<std::span<const std::byte>> findObject(const void *image, std::optional<std::size_t> size,
                                                std::string_view target) {
  const auto *bytes = static_cast<const std::byte *>(image);
  if (!size && load<std::uint32_t>(bytes) == kWrapperMagic)
    bytes = static_cast<const std::byte *>(load<FatWrapper>(bytes).binary);
  if ((!size || *size >= kBundleMagic.size()) &&
      std::memcmp(bytes, kBundleMagic.data(), std::min<std::size_t>(4, kBundleMagic.size())) == 0 &&
      std::memcmp(bytes, kBundleMagic.data(), kBundleMagic.size()) == 0)
    return findInBundle(bytes, size, target);
  if (size)
    return std::span(bytes, *size);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0)
    return error(StatusCode::Corrupt,
                 "the image begins with {:#010x}: neither ELF nor an offload bundle",
                 load<std::uint32_t>(bytes));
  return std::span(bytes, elfSize(bytes));
}

} // namespace wavesmith::hipfront
