#pragma once
// Relocatable AMDGPU object -> loadable shared code object, with lld as a library. lld is not
// re-entrant: a process-wide mutex serialises the links; everything else of a compile runs in
// parallel. Nothing is written to disk, so that even a kill leaves nothing behind.

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/codegen/ObjectEmitter.h"

namespace wavesmith::compiler {

/// InMemory takes a private directory (0700, removed on return) where the system lacks what it
/// needs.
enum class LinkFiles { InMemory, InDirectory };

/// Links one object; the error carries lld's messages.
llvm::Expected<ObjectBytes> linkCodeObject(llvm::ArrayRef<char> object,
                                           LinkFiles files = LinkFiles::InMemory);

} // namespace wavesmith::compiler
