#pragma once
// HIP's declarations, exported: whatever the headers declare and we define leaves the library.
// Entries newer than the 5.2 headers are declared in Newer.h by ourselves.

#pragma GCC visibility push(default)
#include <hip/hip_runtime_api.h>
#pragma GCC visibility pop

#include "emulator/hip/Newer.h"
