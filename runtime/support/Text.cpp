#include "runtime/support/Text.h"

#include <cstddef>

#include <fmt/format.h>

namespace wavesmith {
namespace {

/// Bytes of the character that the text starts with; 0 when that is no valid UTF-8.
std::size_t characterBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  // C0 and C1 could only begin overlong forms, F5 and above what is beyond Unicode.
  if (lead < 0xc2 || lead > 0xf4)
    return 0;
  const std::size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < bytes)
    return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  const unsigned second = byte(1);
  // Overlong forms, surrogates, beyond U+10FFFF, and the control characters U+0080 to U+009F.
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f) ||
      (lead == 0xc2 && second < 0xa0))
    return 0;
  return bytes;
}

} // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const char first = text.front();
    const bool control =
        (first >= 0 && first < ' ' && first != '\t' && first != '\n') || first == 0x7f;
    const std::size_t bytes = control ? 0 : characterBytes(text);
    if (bytes == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(first));
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

} // namespace wavesmith
