#pragma once
// What hipModuleLoadData may be given: a code object, an offload bundle of several, or a fat binary
// wrapper around one. HIP passes no size, so it is read from the headers.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/support/Status.h"

namespace wavesmith::hipfront {

/// The code object for `target` in `image`. Without `size` the image's own headers are trusted, as
/// HIP does. NotFound when a bundle has none for the target.
Expected<std::span<const std::byte>> findObject(const void *image, std::optional<std::size_t> size,
                                                std::string_view target);

} // namespace wavesmith::hipfront
