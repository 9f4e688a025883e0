#pragma once
// Reader of AMDGPU code objects (ELF64, code object v4-v6): kernels, their descriptors and
// arguments, loadable segments, our notes. Bounds-checked: any bytes give a CodeObject or a Status
// that names the field and the file offset. Immutable after parse; owns its bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct KernelArgument {
  std::string name;
  std::string valueKind; ///< "global_buffer", "by_value", "hidden_block_count_x", ...
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

/// The 64-byte kernel descriptor, fields as in LLVM's AMDGPUUsage.
struct KernelDescriptor {
  std::uint32_t groupSegmentSize = 0;
  std::uint32_t privateSegmentSize = 0;
  std::uint32_t kernargSize = 0;
  std::int64_t entryOffset = 0; ///< of the code, relative to the descriptor
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  std::uint16_t properties = 0;
  std::uint16_t kernargPreload = 0;
};

struct KernelInfo {
  std::string name;
  std::uint64_t descriptorAddress = 0; ///< virtual address in the object
  std::uint64_t entryAddress = 0;      ///< virtual address in the object
  std::uint64_t codeSize = 0;          ///< of the kernel's symbol; 0 when the object has none
  KernelDescriptor descriptor;
  // From the metadata note.
  std::uint32_t ldsBytes = 0, scratchBytes = 0, kernargBytes = 0, kernargAlign = 8;
  std::uint32_t sgprs = 0, vgprs = 0, agprs = 0, sgprSpills = 0, vgprSpills = 0;
  std::uint32_t maxFlatWorkgroupSize = 1024, wavefrontSize = 64;
  std::vector<std::uint32_t> requiredWorkgroupSize; ///< empty or three
  std::vector<KernelArgument> arguments;            ///< explicit and hidden, in order
};

struct Segment {
  std::uint64_t address = 0;    ///< virtual address in the object
  std::uint64_t memorySize = 0; ///< >= bytes.size(); the rest is zero
  std::span<const std::byte> bytes;
  bool readable = false, writable = false, executable = false;
};

struct Relocation {
  std::uint64_t offset = 0; ///< where, virtual address in the object
  std::uint32_t type = 0;   ///< R_AMDGPU_*
  std::uint64_t symbolValue = 0;
  std::int64_t addend = 0;
};

struct Symbol {
  std::string name;
  std::uint64_t address = 0, size = 0;
};

class CodeObject {
public:
  // The segments view the object's own bytes, so it moves but does not copy.
  CodeObject(CodeObject &&) = default;
  CodeObject &operator=(CodeObject &&) = default;

  /// Takes the bytes over. `origin` (a path or a key) leads every message.
  static Expected<CodeObject> parse(std::vector<std::byte> bytes, std::string_view origin);

  const std::string &target() const { return target_; } ///< "gfx942"
  std::uint32_t elfFlags() const { return elfFlags_; }
  int version() const { return version_; } ///< code object version: 4, 5 or 6
  const std::vector<KernelInfo> &kernels() const { return kernels_; }
  /// The kernel of that name; the error lists those that exist.
  Expected<const KernelInfo *> kernel(std::string_view name) const;
  const std::vector<Segment> &segments() const { return segments_; }
  const std::vector<Relocation> &relocations() const { return relocations_; }
  const std::vector<Symbol> &globals() const { return globals_; } ///< data symbols
  /// Wavesmith's own note (JSON text), if the object carries one: see Note.h.
  const std::optional<std::string> &wavesmithNote() const { return note_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Bytes at a virtual address, or empty when no segment holds them.
  std::span<const std::byte> at(std::uint64_t address, std::uint64_t size) const;

private:
  friend class CodeObjectParser;
  CodeObject() = default;

  std::vector<std::byte> bytes_;
  std::string target_;
  std::uint32_t elfFlags_ = 0;
  int version_ = 0;
  std::vector<KernelInfo> kernels_;
  std::vector<Segment> segments_;
  std::vector<Relocation> relocations_;
  std::vector<Symbol> globals_;
  std::optional<std::string> note_;
};

} // namespace wavesmith
