#include "compiler/codegen/NoteSection.h"

#include <cstddef>
#include <string>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "compiler/codegen/Diagnostics.h"
#include "runtime/codeobject/Note.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {
namespace {

constexpr llvm::StringLiteral kSymbol = "__wavesmith_note";
constexpr llvm::StringLiteral kSection = ".note.wavesmith";

// Name and description of a note are each padded to four bytes with zeros.
llvm::Constant *paddedBytes(llvm::LLVMContext &context, std::string bytes, size_t size) {
  bytes.resize(llvm::alignTo(size, 4), '\0');
  return llvm::ConstantDataArray::getString(context, bytes, /*AddNull=*/false);
}

} // namespace

llvm::Error embedNote(llvm::Module &module, llvm::StringRef json) {
  if (module.getNamedGlobal(kSymbol))
    return codegenError(StatusCode::InvalidArgument, "the module already carries a note");
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *i32 = llvm::Type::getInt32Ty(context);
  const size_t ownerSize = kNoteOwner.size() + 1; // the terminating zero counts
  llvm::Constant *note = llvm::ConstantStruct::getAnon(
      {llvm::ConstantInt::get(i32, ownerSize), llvm::ConstantInt::get(i32, json.size()),
       llvm::ConstantInt::get(i32, kNoteType),
       paddedBytes(context, std::string(kNoteOwner), ownerSize),
       paddedBytes(context, json.str(), json.size())},
      /*Packed=*/true);
  constexpr unsigned kConstantAddressSpace = 4;
  auto *global = new llvm::GlobalVariable(
      module, note->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, note,
      kSymbol, nullptr, llvm::GlobalValue::NotThreadLocal, kConstantAddressSpace);
  // LLVM gives a section of this name the type SHT_NOTE; nothing refers to it, so pin it.
  global->setSection(kSection);
  global->setAlignment(llvm::Align(4));
  llvm::appendToCompilerUsed(module, {global});
  return llvm::Error::success();
}

} // namespace wavesmith::compiler
