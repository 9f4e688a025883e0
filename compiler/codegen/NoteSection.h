#pragma once
// Puts Wavesmith's own note (runtime/codeobject/Note.h: owner, type, JSON text) into a module as a
// constant in an SHT_NOTE section, so that the linker lays it into a PT_NOTE segment beside
// AMDGPU's metadata. The loader reads it with CodeObject::wavesmithNote. Stateless, any thread.

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace llvm {
class Module;
}

namespace wavesmith::compiler {

/// Adds the note to the module; a module carries one at most.
llvm::Error embedNote(llvm::Module &module, llvm::StringRef json);

} // namespace wavesmith::compiler
