#pragma once
// The AMDGPU metadata note: msgpack to KernelInfo. Private to runtime/codeobject. Depth and size
// are limited before anything is built, so a crafted note costs no more than its bytes.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/codeobject/CodeObject.h"

namespace wavesmith {

struct KernelMetadata {
  KernelInfo info;        ///< only what the note tells
  std::string descriptor; ///< symbol of the descriptor, "<name>.kd"
};

/// `where` leads every message ("k.co: metadata note at offset 0x2c8").
Expected<std::vector<KernelMetadata>> parseMetadata(std::span<const std::byte> payload,
                                                    std::string_view where);

} // namespace wavesmith
