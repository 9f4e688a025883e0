#include "compiler/codegen/NoteSection.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "compiler/codegen/Diagnostics.h"

namespace wavesmith::compiler {
namespace {

constexpr llvm::StringLiteral kSymbol = "__wavesmith_note";

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
       llvm::ConstantInt::get(i32, kNoteType), paddedBytes(context, kNoteOwner.str(), ownerSize),
       paddedBytes(context, json.str(), json.size())},
      /*Packed=*/true);
  constexpr unsigned kConstantAddressSpace = 4;
  auto *global = new llvm::GlobalVariable(
      module, note->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, note,
      kSymbol, nullptr, llvm::GlobalValue::NotThreadLocal, kConstantAddressSpace);
  // LLVM gives a section of this name the type SHT_NOTE; nothing refers to it, so pin it.
  global->setSection(kNoteSection);
  global->setAlignment(llvm::Align(4));
  llvm::appendToCompilerUsed(module, {global});
  return llvm::Error::success();
}

llvm::Expected<std::optional<std::string>> readNote(llvm::ArrayRef<char> object) {
  auto elf = llvm::object::ELF64LEFile::create(llvm::StringRef(object.data(), object.size()));
  if (!elf)
    return withContext(elf.takeError(), "not a code object");
  auto sections = elf->sections();
  if (!sections)
    return withContext(sections.takeError(), "reading the section table");
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    std::optional<std::string> found;
    for (const auto &note : elf->notes(section, error))
      if (!found && note.getName() == kNoteOwner && note.getType() == kNoteType)
        found = note.getDescAsStringRef(section.sh_addralign).str();
    if (error)
      return withContext(std::move(error), "reading a note section");
    if (found)
      return found;
  }
  return std::nullopt;
}

} // namespace wavesmith::compiler
