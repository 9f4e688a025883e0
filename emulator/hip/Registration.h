#pragma once
// What the host code that hipcc and clang generate calls before main: fat binaries, and which host
// symbols stand for which kernels and variables. Modules are loaded when first used. Any thread.

#include <string>

#include "emulator/hip/Hip.h"

namespace wavesmith::hipfront {

/// The kernel that a host function stands for. InvalidDeviceFunction when it stands for none.
hipError_t findRegisteredKernel(const void *hostFunction, hipFunction_t *function);
/// Address and size of the device variable that a host variable stands for.
hipError_t findRegisteredVariable(const void *hostVariable, void **address, std::size_t *bytes);

} // namespace wavesmith::hipfront
