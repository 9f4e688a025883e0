#pragma once
// Text of unknown origin (file names, parts of input files) made fit for a terminal. Pure.

#include <string>
#include <string_view>

namespace wavesmith {

/// Control characters but tab and newline, and bytes that are no UTF-8, as \xNN; the rest as it is.
std::string printable(std::string_view text);

} // namespace wavesmith
