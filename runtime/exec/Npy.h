#pragma once
// NumPy's .npy files, versions 1 to 3, little endian, C order: the range of the data in the file's
// bytes. Pure functions; any bytes give a value or an error.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct NpyArray {
  std::string dtype; ///< as the file spells it, "<f4"
  std::uint32_t itemBytes = 0;
  std::vector<std::uint64_t> shape;
  std::size_t dataOffset = 0; ///< the header ends here
  std::size_t dataBytes = 0;  ///< product of shape and item size; present in the file
};

/// `origin` (a path) leads every message.
Expected<NpyArray> parseNpy(std::span<const std::byte> file, std::string_view origin);

} // namespace wavesmith
