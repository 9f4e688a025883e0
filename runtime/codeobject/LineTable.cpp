#include "runtime/codeobject/LineTable.h"

#include <algorithm>

#include "runtime/codeobject/ByteReader.h"
#include "runtime/codeobject/ElfFile.h"

namespace wavesmith {
namespace {

// DWARF 5, 7.22 and 7.5.6.
enum : std::uint8_t {
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
};
enum : std::uint8_t { kEndSequence = 1, kSetAddress = 2, kDefineFile = 3 };
enum : std::uint64_t { kContentPath = 1, kContentDirectory = 2 };
enum : std::uint64_t {
  kFormData2 = 0x05,
  kFormData4 = 0x06,
  kFormData8 = 0x07,
  kFormString = 0x08,
  kFormBlock = 0x09,
  kFormData1 = 0x0b,
  kFormStrp = 0x0e,
  kFormUdata = 0x0f,
  kFormData16 = 0x1e,
  kFormLineStrp = 0x1f,
};

struct Sections {
  std::span<const std::byte> line, strings, lineStrings;
};

} // namespace

/// One unit of .debug_line: its header, then its program.
class LineProgram {
public:
  LineProgram(const Sections &sections, LineTable &table) : sections_(sections), table_(table) {}

  /// False when the bytes contradict themselves.
  bool run(std::span<const std::byte> unit, bool wide) {
    reader_ = ByteReader(unit);
    wide_ = wide;
    const std::size_t firstFile = table_.files_.size();
    if (!header())
      return false;
    fileBase_ = static_cast<std::uint32_t>(firstFile);
    return program();
  }

private:
  struct Content {
    std::uint64_t type, form;
  };
  struct EntryValue {
    std::string_view path;
    std::uint64_t directory = 0;
  };

  bool header() {
    version_ = reader_.fixed<std::uint16_t>();
    if (version_ < 2 || version_ > 5)
      return false;
    if (version_ >= 5)
      reader_.skip(2); // sizes of addresses and segment selectors
    const std::uint64_t length = reader_.unsignedOf(wide_ ? 8 : 4);
    if (!reader_.ok() || length > reader_.left())
      return false;
    const std::size_t programBegin = reader_.offset() + length;
    minLength_ = reader_.fixed<std::uint8_t>();
    if (version_ >= 4)
      reader_.skip(1); // operations per instruction: no VLIW here
    reader_.skip(1);   // default_is_stmt
    lineBase_ = reader_.fixed<std::int8_t>();
    lineRange_ = reader_.fixed<std::uint8_t>();
    opcodeBase_ = reader_.fixed<std::uint8_t>();
    if (opcodeBase_ == 0)
      return false;
    operands_ = reader_.take(opcodeBase_ - 1u);
    if (!reader_.ok() || !(version_ >= 5 ? tables5() : tables4()))
      return false;
    reader_.seek(programBegin);
    return reader_.ok();
  }

  bool tables4() {
    directories_ = {""};
    for (auto name = reader_.text(); !name.empty(); name = reader_.text())
      directories_.push_back(name);
    // Files count from 1; what 0 would be is the compilation's business.
    table_.files_.emplace_back();
    for (auto name = reader_.text(); !name.empty(); name = reader_.text())
      addFile4(name);
    return reader_.ok();
  }

  void addFile4(std::string_view name) {
    const std::uint64_t directory = reader_.uleb();
    reader_.uleb(); // time
    reader_.uleb(); // size
    addFile({name, directory});
  }

  void addFile(const EntryValue &file) {
    const std::string_view directory =
        file.directory < directories_.size() ? directories_[file.directory] : "";
    table_.files_.push_back({directory, file.path});
  }

  bool tables5() {
    std::vector<EntryValue> values;
    if (!entries(values))
      return false;
    directories_.clear();
    for (const EntryValue &value : values)
      directories_.push_back(value.path);
    if (!entries(values))
      return false;
    for (const EntryValue &value : values)
      addFile(value);
    return true;
  }

  bool entries(std::vector<EntryValue> &values) {
    values.clear();
    std::vector<Content> format(reader_.fixed<std::uint8_t>());
    for (Content &content : format) {
      content.type = reader_.uleb();
      content.form = reader_.uleb();
    }
    const std::uint64_t count = reader_.uleb();
    // Each entry takes a byte at least.
    if (!reader_.ok() || count > reader_.left() || (format.empty() && count != 0))
      return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      EntryValue value;
      for (const Content &content : format)
        if (!entryValue(content, value))
          return false;
      values.push_back(value);
    }
    return true;
  }

  bool entryValue(const Content &content, EntryValue &value) {
    std::string_view text;
    std::uint64_t number = 0;
    switch (content.form) {
    case kFormString:
      text = reader_.text();
      break;
    case kFormLineStrp:
    case kFormStrp: {
      ByteReader strings(content.form == kFormStrp ? sections_.strings : sections_.lineStrings);
      strings.seek(reader_.unsignedOf(wide_ ? 8 : 4));
      text = strings.text();
      if (!strings.ok())
        return false;
      break;
    }
    case kFormUdata:
      number = reader_.uleb();
      break;
    case kFormData1:
    case kFormData2:
    case kFormData4:
    case kFormData8:
      number = reader_.unsignedOf(content.form == kFormData1   ? 1
                                  : content.form == kFormData2 ? 2
                                  : content.form == kFormData4 ? 4
                                                               : 8);
      break;
    case kFormData16:
      reader_.skip(16);
      break;
    case kFormBlock:
      reader_.skip(reader_.uleb());
      break;
    default:
      return false;
    }
    if (content.type == kContentPath)
      value.path = text;
    else if (content.type == kContentDirectory)
      value.directory = number;
    return reader_.ok();
  }

  bool program() {
    restart();
    while (reader_.left()) {
      const auto opcode = reader_.fixed<std::uint8_t>();
      if (opcode >= opcodeBase_) {
        if (lineRange_ == 0)
          return false;
        const unsigned adjusted = opcode - opcodeBase_;
        address_ += adjusted / lineRange_ * minLength_;
        line_ += static_cast<std::uint64_t>(std::int64_t{lineBase_} +
                                            static_cast<std::int64_t>(adjusted % lineRange_));
        addRow();
      } else if (opcode == 0) {
        if (!extended())
          return false;
      } else if (!standard(opcode)) {
        return false;
      }
      if (!reader_.ok())
        return false;
    }
    return true;
  }

  bool standard(std::uint8_t opcode) {
    switch (opcode) {
    case kCopy:
      addRow();
      return true;
    case kAdvancePc:
      address_ += reader_.uleb() * minLength_;
      return true;
    case kAdvanceLine:
      line_ += static_cast<std::uint64_t>(reader_.sleb());
      return true;
    case kSetFile:
      file_ = reader_.uleb();
      return true;
    case kSetColumn:
      column_ = reader_.uleb();
      return true;
    case kConstAddPc:
      if (lineRange_ == 0)
        return false;
      address_ += (255u - opcodeBase_) / lineRange_ * minLength_;
      return true;
    case kFixedAdvancePc:
      address_ += reader_.fixed<std::uint16_t>();
      return true;
    default:
      for (auto left = std::to_integer<unsigned>(operands_[opcode - 1u]); left > 0; --left)
        reader_.uleb();
      return true;
    }
  }

  bool extended() {
    const std::uint64_t length = reader_.uleb();
    if (!reader_.ok() || length == 0 || length > reader_.left())
      return false;
    const std::size_t end = reader_.offset() + length;
    switch (reader_.fixed<std::uint8_t>()) {
    case kEndSequence:
      endSequence();
      restart();
      break;
    case kSetAddress:
      if (length - 1 > sizeof(address_))
        return false;
      address_ = reader_.unsignedOf(length - 1);
      break;
    case kDefineFile:
      if (version_ < 5)
        addFile4(reader_.text());
      break;
    default:
      break;
    }
    reader_.seek(end);
    return reader_.ok();
  }

  void restart() {
    address_ = column_ = 0;
    file_ = line_ = 1;
    firstRow_ = table_.rows_.size();
  }

  void addRow() {
    // A linker drops functions by setting their code to the end of memory or to nothing.
    if (table_.rows_.size() > firstRow_ && address_ < table_.rows_.back().address)
      return;
    const bool known = file_ < table_.files_.size() - fileBase_;
    table_.rows_.push_back({address_, known ? fileBase_ + static_cast<std::uint32_t>(file_) : ~0u,
                            static_cast<std::uint32_t>(line_),
                            static_cast<std::uint32_t>(column_)});
  }

  void endSequence() {
    const std::size_t count = table_.rows_.size() - firstRow_;
    if (count && address_ > table_.rows_[firstRow_].address)
      table_.sequences_.push_back({table_.rows_[firstRow_].address, address_, firstRow_, count});
    else
      table_.rows_.resize(firstRow_);
  }

  const Sections &sections_;
  LineTable &table_;
  ByteReader reader_{{}};
  bool wide_ = false; ///< 64-bit DWARF
  unsigned version_ = 0;
  std::uint8_t minLength_ = 1, lineRange_ = 1, opcodeBase_ = 1;
  std::int8_t lineBase_ = 0;
  std::span<const std::byte> operands_; ///< how many each standard opcode has
  std::vector<std::string_view> directories_;
  std::uint32_t fileBase_ = 0; ///< of this unit in the table
  std::size_t firstRow_ = 0;   ///< of the sequence
  std::uint64_t address_ = 0, file_ = 1, line_ = 1, column_ = 0;
};

Expected<LineTable> LineTable::read(std::span<const std::byte> elf, std::string_view origin) {
  WAVESMITH_ASSIGN(ElfFile file, ElfFile::open(elf, origin));
  Sections sections;
  WAVESMITH_ASSIGN(sections.line, file.section(".debug_line"));
  WAVESMITH_ASSIGN(sections.strings, file.section(".debug_str"));
  WAVESMITH_ASSIGN(sections.lineStrings, file.section(".debug_line_str"));
  LineTable table;
  ByteReader units(sections.line);
  while (units.left()) {
    const std::size_t at = units.offset();
    std::uint64_t length = units.fixed<std::uint32_t>();
    const bool wide = length == 0xffffffff;
    if (wide)
      length = units.fixed<std::uint64_t>();
    const auto unit = units.take(length);
    if (!units.ok() || !LineProgram(sections, table).run(unit, wide))
      return error(StatusCode::Corrupt, "{}: .debug_line: the unit at offset {:#x} is malformed",
                   origin, at);
  }
  std::ranges::sort(table.sequences_, {}, &Sequence::begin);
  return table;
}

std::optional<std::string> LineTable::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(sequences_, address, {}, &Sequence::begin);
  // Sequences do not overlap in an object that was linked.
  if (after == sequences_.begin() || address >= std::prev(after)->end)
    return std::nullopt;
  const Sequence &sequence = *std::prev(after);
  const std::span rows(rows_.data() + sequence.first, sequence.count);
  auto row = std::ranges::upper_bound(rows, address, {}, &Row::address);
  // Line 0 is code that no line stands for; what came before says more.
  for (; row != rows.begin(); --row)
    if (const Row &found = *std::prev(row); found.line != 0 && found.file < files_.size()) {
      const auto &[directory, name] = files_[found.file];
      const bool joined = !directory.empty() && !name.starts_with('/');
      std::string text =
          fmt::format("{}{}{}:{}", joined ? directory : "",
                      joined && !directory.ends_with('/') ? "/" : "", name, found.line);
      return found.column ? fmt::format("{}:{}", text, found.column) : text;
    }
  return std::nullopt;
}

} // namespace wavesmith
