#include "runtime/exec/Npy.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace wavesmith {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The header is a Python dictionary literal with three keys; only that much Python is read.
class HeaderReader {
public:
  HeaderReader(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  Status read(NpyArray &array) {
    WAVESMITH_TRY(expect('{'));
    bool haveDtype = false, haveOrder = false, haveShape = false;
    while (!accept('}')) {
      WAVESMITH_ASSIGN(std::string key, quoted());
      WAVESMITH_TRY(expect(':'));
      if (key == "descr") {
        WAVESMITH_TRY(readDtype(array));
        haveDtype = true;
      } else if (key == "fortran_order") {
        WAVESMITH_TRY(readOrder());
        haveOrder = true;
      } else if (key == "shape") {
        WAVESMITH_TRY(readShape(array));
        haveShape = true;
      } else {
        return wrong("unknown key '" + key + "'");
      }
      if (!accept(',')) {
        WAVESMITH_TRY(expect('}'));
        break;
      }
    }
    if (!haveDtype || !haveOrder || !haveShape)
      return wrong("needs descr, fortran_order and shape");
    return Status::ok();
  }

private:
  Status wrong(std::string_view what) const {
    return error(StatusCode::Corrupt, "{}: .npy header: {}", origin_, what);
  }
  void skipSpace() {
    while (!text_.empty() && isSpace(text_.front()))
      text_.remove_prefix(1);
  }
  bool accept(char c) {
    skipSpace();
    if (text_.empty() || text_.front() != c)
      return false;
    text_.remove_prefix(1);
    return true;
  }
  Status expect(char c) {
    return accept(c) ? Status::ok() : wrong(fmt::format("want '{}' before '{}'", c, rest()));
  }
  std::string_view rest() const { return text_.substr(0, 24); }
  bool acceptWord(std::string_view word) {
    skipSpace();
    if (!text_.starts_with(word))
      return false;
    text_.remove_prefix(word.size());
    return true;
  }
  Expected<std::string> quoted() {
    skipSpace();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"')
      return wrong(fmt::format("want a quoted text at '{}'", rest()));
    const std::size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos)
      return wrong("a text does not end");
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }

  Status readDtype(NpyArray &array) {
    skipSpace();
    if (!text_.empty() && text_.front() == '[')
      return wrong("structured types are not supported; want one like '<f4'");
    WAVESMITH_ASSIGN(array.dtype, quoted());
    const std::string_view dtype = array.dtype;
    std::uint32_t size = 0;
    const char *end = dtype.data() + dtype.size();
    if (dtype.size() >= 3) {
      const auto parsed = std::from_chars(dtype.data() + 2, end, size);
      if (parsed.ec != std::errc() || parsed.ptr != end)
        size = 0;
    }
    if (size == 0 || size > 1 << 20 || std::string_view("<>|=").find(dtype[0]) == dtype.npos ||
        std::string_view("biufcV").find(dtype[1]) == dtype.npos)
      return wrong(fmt::format("descr '{}' is not supported; want one like '<f4' or '|u1'", dtype));
    if (dtype[0] == '>' && size > 1)
      return wrong(fmt::format("descr '{}' is big endian; want little endian ('<')", dtype));
    array.itemBytes = size;
    return Status::ok();
  }

  Status readOrder() {
    if (acceptWord("False"))
      return Status::ok();
    if (acceptWord("True"))
      return wrong("fortran_order is True; save the array in C order");
    return wrong("fortran_order is neither True nor False");
  }

  Status readShape(NpyArray &array) {
    WAVESMITH_TRY(expect('('));
    while (!accept(')')) {
      skipSpace();
      std::uint64_t extent = 0;
      const auto parsed = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (parsed.ec != std::errc())
        return wrong(fmt::format("shape has no number at '{}'", rest()));
      text_.remove_prefix(static_cast<std::size_t>(parsed.ptr - text_.data()));
      array.shape.push_back(extent);
      if (array.shape.size() > 32)
        return wrong("more than 32 dimensions");
      if (!accept(',')) {
        WAVESMITH_TRY(expect(')'));
        break;
      }
    }
    return Status::ok();
  }

  std::string_view text_, origin_;
};

} // namespace

Expected<NpyArray> parseNpy(std::span<const std::byte> file, std::string_view origin) {
  if (file.size() < 10 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0)
    return error(StatusCode::Corrupt, "{}: is no .npy file (no \\x93NUMPY at its start)", origin);
  const int major = std::to_integer<int>(file[6]);
  if (major < 1 || major > 3)
    return error(StatusCode::Unsupported, "{}: .npy version {}; want 1 to 3", origin, major);
  const std::size_t lengthBytes = major == 1 ? 2 : 4;
  std::size_t length = 0;
  if (file.size() < 8 + lengthBytes)
    return error(StatusCode::Corrupt, "{}: .npy header is cut off", origin);
  for (std::size_t i = 0; i < lengthBytes; ++i)
    length |= std::to_integer<std::size_t>(file[8 + i]) << (8 * i);
  NpyArray array;
  array.dataOffset = 8 + lengthBytes + length;
  if (array.dataOffset > file.size())
    return error(StatusCode::Corrupt, "{}: .npy header of {} bytes is cut off", origin, length);
  const std::string_view header(reinterpret_cast<const char *>(file.data()) + 8 + lengthBytes,
                                length);
  WAVESMITH_TRY(HeaderReader(header, origin).read(array));
  std::uint64_t bytes = array.itemBytes;
  for (const std::uint64_t extent : array.shape) {
    if (extent != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / extent)
      return error(StatusCode::Corrupt, "{}: .npy header: the shape overflows 64 bits", origin);
    bytes *= extent;
  }
  if (bytes > file.size() - array.dataOffset)
    return error(StatusCode::Corrupt, "{}: the shape needs {} bytes of data, the file has {}",
                 origin, bytes, file.size() - array.dataOffset);
  array.dataBytes = bytes;
  return array;
}

} // namespace wavesmith
