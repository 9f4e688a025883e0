#pragma once
// Source lines of code addresses: a reader of .debug_line, DWARF 2 to 5. Bounds-checked: any bytes
// give a table or a Status that names section and offset. Immutable; any thread may look up.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

class LineTable {
public:
  /// `elf`: the object's bytes, which must outlive the table. An object without debug information
  /// gives an empty one.
  static Expected<LineTable> read(std::span<const std::byte> elf, std::string_view origin);

  /// "dir/file.cl:12:5" for the instruction at a virtual address of the object.
  std::optional<std::string> find(std::uint64_t address) const;
  bool empty() const { return sequences_.empty(); }

private:
  friend class LineProgram;
  struct Row {
    std::uint64_t address;
    std::uint32_t file, line, column; ///< file: into files_
  };
  /// Rows of ascending addresses.
  struct Sequence {
    std::uint64_t begin, end;
    std::size_t first, count;
  };

  struct File {
    std::string_view directory, name;
  };

  std::vector<File> files_;
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_; ///< by their beginning
};

} // namespace wavesmith
