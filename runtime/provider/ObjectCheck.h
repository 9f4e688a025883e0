#pragma once
// Whether a code object is the kernel that a spec asks for: what the note in it says, for which
// target it is, what its kernel takes. Needs no device. Pure functions.

#include "runtime/codeobject/CodeObject.h"
#include "runtime/provider/Provider.h"

namespace wavesmith {

/// The object's kernel. Corrupt when the object is damaged or another spec's, Unsupported when it
/// is for another target, argument layout or FP8 format; the message names both sides.
Expected<KernelInfo> checkKernelObject(const KernelSpec &spec, const CodeObjectBlob &object);

} // namespace wavesmith
