#pragma once
// Relocatable AMDGPU object -> loadable shared code object, with lld as a library. lld is not
// re-entrant: a process-wide mutex serialises the links; everything else of a compile runs in
// parallel. Files live in a private directory (0700) that is gone again on every path.

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/codegen/ObjectEmitter.h"

namespace wavesmith::compiler {

/// Links one object; the error carries lld's messages.
llvm::Expected<ObjectBytes> linkCodeObject(llvm::ArrayRef<char> object);

} // namespace wavesmith::compiler
