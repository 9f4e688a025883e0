#pragma once
// Where this code lies on disk: the directory of the shared library or executable that it was
// linked into, beside which our other libraries and programs are installed. Any thread.

#include <string>

namespace wavesmith {

/// "" when the system does not say.
std::string ownDirectory();

} // namespace wavesmith
