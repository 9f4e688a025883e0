#pragma once
// The safetensors container (huggingface/safetensors, "Format"): eight bytes with the length of a
// JSON header, the header, then the tensors' bytes without gaps. The reader takes nothing on trust:
// any bytes give a value that the writer would write, or an error that names the place. Little
// endian, as the format; values, any thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct SafetensorsTensor {
  std::string dtype; ///< "F32", "BF16", "F8_E4M3", ...: types of whole bytes
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> data; ///< row by row; product of the shape times the size of an element

  static SafetensorsTensor ofFloats(std::span<const float> values); ///< F32, one dimension
  /// The elements of an F32 tensor.
  std::vector<float> floats() const;
  bool operator==(const SafetensorsTensor &) const = default;
};

struct Safetensors {
  /// The format's own limit for headers.
  static constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
  static constexpr std::string_view kMetadataName = "__metadata__";

  std::map<std::string, std::string> metadata; ///< free text by name
  std::map<std::string, SafetensorsTensor> tensors;

  bool operator==(const Safetensors &) const = default;

  /// Corrupt, led by `origin`, for: a header that is cut off, too long or no JSON; a name given
  /// twice; unknown types and members; shapes beyond 64 bits; offsets that overlap, leave gaps, do
  /// not fit the shape or the file; bytes that belong to no tensor.
  static Expected<Safetensors> parse(std::span<const std::byte> file, std::string_view origin);
  /// As the Python package writes: metadata first, tensors by falling alignment and then by name,
  /// the header padded with spaces to a multiple of eight. InvalidArgument when parse() would
  /// refuse the result.
  Expected<std::vector<std::byte>> print() const;
};

} // namespace wavesmith
