#pragma once
// Wavesmith's own note inside a code object: an SHT_NOTE section of owner "Wavesmith", type 1,
// whose description is JSON text. The emitter puts it into the module as a constant, so that the
// linker lays it into a PT_NOTE segment beside AMDGPU's metadata. Stateless, any thread.

#include <optional>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace llvm {
class Module;
}

namespace wavesmith::compiler {

inline constexpr llvm::StringLiteral kNoteOwner = "Wavesmith";
inline constexpr unsigned kNoteType = 1;
inline constexpr llvm::StringLiteral kNoteSection = ".note.wavesmith";

/// Adds the note to the module; a module carries one at most.
llvm::Error embedNote(llvm::Module &module, llvm::StringRef json);

/// The note's JSON from an object or a linked code object; empty when there is none.
llvm::Expected<std::optional<std::string>> readNote(llvm::ArrayRef<char> object);

} // namespace wavesmith::compiler
