#pragma once
// Reads little-endian values from a bounded range; the first failure sticks and gives zeros from
// then on, so that a caller may check once per step. Private to runtime/codeobject.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace wavesmith {

class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t offset() const { return at_; }
  std::size_t left() const { return ok_ ? bytes_.size() - at_ : 0; }
  void seek(std::size_t offset) {
    if (offset > bytes_.size())
      ok_ = false;
    else
      at_ = offset;
  }
  void skip(std::uint64_t bytes) { (void)take(bytes); }

  template <typename T> T fixed() {
    T value{};
    const auto bytes = take(sizeof(T));
    if (bytes.size() == sizeof(T))
      std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::uint64_t unsignedOf(std::size_t size) {
    std::uint64_t value = 0;
    const auto bytes = take(size);
    if (!bytes.empty() && bytes.size() <= sizeof(value))
      std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (!ok_)
        return 0;
      if (shift < 64)
        value |= std::uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80))
        return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (!ok_)
        return 0;
      if (shift < 64)
        value |= std::uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) {
        if (shift + 7 < 64 && (byte & 0x40))
          value |= ~std::uint64_t{0} << (shift + 7);
        return static_cast<std::int64_t>(value);
      }
    }
  }
  /// Without its terminator, which must be there, and soon: tables may refer to one text often.
  std::string_view text() {
    constexpr std::size_t kMaxLength = 4096;
    const auto *begin = reinterpret_cast<const char *>(bytes_.data() + at_);
    const std::size_t room = std::min(left(), kMaxLength);
    const std::size_t length = room ? strnlen(begin, room) : 0; // nothing may have no address
    if (length == room) {
      ok_ = false;
      return {};
    }
    at_ += length + 1;
    return {begin, length};
  }
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > left()) {
      ok_ = false;
      return {};
    }
    const auto result = bytes_.subspan(at_, size);
    at_ += size;
    return result;
  }

private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

} // namespace wavesmith
