#include "compiler/codegen/Linker.h"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <stdlib.h>
#include <thread>
#include <utility>
#include <vector>

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>

#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/NoteSection.h"
#include "compiler/codegen/ObjectEmitter.h"
#include "runtime/codeobject/CodeObject.h"
#include "runtime/support/Status.h"
#include "tests/unit/codegen/Fixtures.h"

namespace wavesmith::compiler {
namespace {

using testing::emitText;
using testing::fixture;
using testing::message;
using testing::replaced;

constexpr const char *kJson = R"({"spec": "attention", "abi": 1})";

std::vector<std::byte> bytesOf(const ObjectBytes &object) {
  const auto *begin = reinterpret_cast<const std::byte *>(object.data());
  return {begin, begin + object.size()};
}

llvm::Expected<ObjectBytes> emitWithNote(llvm::StringRef json) {
  llvm::LLVMContext context;
  const EmitOptions options{.target = "gfx942"};
  auto module = parseLlvmIr(fixture("store.ll"), "store.ll", context);
  if (!module)
    return module.takeError();
  if (llvm::Error error = embedNote(**module, json))
    return error;
  auto machine = makeTargetMachine(options);
  if (!machine)
    return machine.takeError();
  if (llvm::Error error = prepareModule(**module, **machine, options))
    return error;
  return emitObject(**module, **machine);
}

/// Points TMPDIR at an empty directory for the length of a test.
class Linker : public ::testing::Test {
protected:
  Linker() {
    std::string path = (std::filesystem::temp_directory_path() / "linkertest-XXXXXX").string();
    directory = ::mkdtemp(path.data());
    if (const char *old = std::getenv("TMPDIR"))
      oldTmpdir = old;
    ::setenv("TMPDIR", directory.c_str(), 1);
  }
  ~Linker() override {
    if (oldTmpdir.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", oldTmpdir.c_str(), 1);
    std::filesystem::remove_all(directory);
  }
  std::filesystem::path directory;
  std::string oldTmpdir;
};

TEST_F(Linker, MakesASharedObjectAndLeavesNoFile) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object)) << message(object.takeError());
  auto linked = linkCodeObject(*object);
  ASSERT_TRUE(bool(linked)) << message(linked.takeError());
  auto elf = llvm::object::ELF64LEFile::create({linked->data(), linked->size()});
  ASSERT_TRUE(bool(elf)) << message(elf.takeError());
  EXPECT_EQ(elf->getHeader().e_type, llvm::ELF::ET_DYN);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST_F(Linker, FailureCarriesLldsWordsAndTheNextLinkWorks) {
  const std::string text = replaced(fixture("store.ll"), "  ret void",
                                    "  store i32 1, ptr addrspace(1) @elsewhere\n  ret void") +
                           "@elsewhere = external addrspace(1) global i32\n";
  auto object = emitText(text, {.target = "gfx942"});
  ASSERT_TRUE(bool(object)) << message(object.takeError());
  auto linked = linkCodeObject(*object);
  ASSERT_FALSE(bool(linked));
  const Status status = toStatus(linked.takeError());
  EXPECT_EQ(status.code(), StatusCode::CompileFailed);
  EXPECT_NE(status.message().find("elsewhere"), std::string::npos) << status.message();
  EXPECT_TRUE(std::filesystem::is_empty(directory));

  auto good = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(good));
  EXPECT_TRUE(bool(linkCodeObject(*good)));
}

TEST_F(Linker, GarbageIsAnError) {
  auto linked = linkCodeObject(llvm::ArrayRef<char>({'n', 'o', 'p', 'e'}));
  ASSERT_FALSE(bool(linked));
  EXPECT_NE(message(linked.takeError()).find("lld failed"), std::string::npos);
}

TEST_F(Linker, UnusableTemporaryDirectoryIsNamed) {
  ::setenv("TMPDIR", "/nonexistent/place", 1);
  auto linked = linkCodeObject(llvm::ArrayRef<char>({'x'}), LinkFiles::InDirectory);
  ASSERT_FALSE(bool(linked));
  const Status status = toStatus(linked.takeError());
  EXPECT_EQ(status.code(), StatusCode::Io);
  EXPECT_NE(status.message().find("/nonexistent/place"), std::string::npos) << status.message();
}

TEST_F(Linker, NothingOnDiskAndTheSameBytesAsThroughADirectory) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object)) << message(object.takeError());
  auto directly = linkCodeObject(*object, LinkFiles::InDirectory);
  ASSERT_TRUE(bool(directly)) << message(directly.takeError());
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  // Where no directory can be made, nothing can be left behind by a kill either.
  ::setenv("TMPDIR", "/nonexistent/place", 1);
  auto linked = linkCodeObject(*object);
  ASSERT_TRUE(bool(linked)) << message(linked.takeError());
  EXPECT_EQ(*linked, *directly);
}

TEST_F(Linker, LeavesNoDescriptorOpen) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = count();
  auto object = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object)) << message(object.takeError());
  ASSERT_TRUE(bool(linkCodeObject(*object)));
  auto failed = linkCodeObject(llvm::ArrayRef<char>({'n', 'o', 'p', 'e'}));
  ASSERT_FALSE(bool(failed));
  llvm::consumeError(failed.takeError());
  EXPECT_EQ(count(), before);
}

TEST_F(Linker, ThreadsTakeTurns) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object));
  std::vector<ObjectBytes> linked(4);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (ObjectBytes &bytes : linked)
    threads.emplace_back([&] {
      if (auto result = linkCodeObject(*object))
        bytes = std::move(*result);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(linked[0].empty());
  for (const ObjectBytes &bytes : linked)
    EXPECT_EQ(bytes, linked[0]);
}

TEST_F(Linker, NoteSurvivesLinkingInAnAllocatedSegmentBesideTheMetadata) {
  auto object = emitWithNote(kJson);
  ASSERT_TRUE(bool(object)) << message(object.takeError());
  auto linked = linkCodeObject(*object);
  ASSERT_TRUE(bool(linked)) << message(linked.takeError());

  auto read = CodeObject::parse(bytesOf(*linked), "linked");
  ASSERT_TRUE(bool(read)) << read.status().message();
  EXPECT_EQ(read->wavesmithNote(), kJson);

  auto elf = llvm::object::ELF64LEFile::create({linked->data(), linked->size()});
  ASSERT_TRUE(bool(elf));
  std::vector<std::string> owners;
  auto segments = elf->program_headers();
  ASSERT_TRUE(bool(segments));
  for (const auto &segment : *segments) {
    if (segment.p_type != llvm::ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &entry : elf->notes(segment, error))
      owners.push_back(entry.getName().str());
    EXPECT_FALSE(bool(error)) << message(std::move(error));
  }
  EXPECT_THAT(owners, ::testing::UnorderedElementsAre("AMDGPU", "Wavesmith"));
}

TEST_F(Linker, NotesOfEveryPaddingReadBack) {
  for (const char *json : {"{}", "{ }", "{  }", "{   }"}) {
    auto object = emitWithNote(json);
    ASSERT_TRUE(bool(object));
    auto linked = linkCodeObject(*object);
    ASSERT_TRUE(bool(linked)) << message(linked.takeError());
    auto read = CodeObject::parse(bytesOf(*linked), "linked");
    ASSERT_TRUE(bool(read)) << read.status().message();
    EXPECT_EQ(read->wavesmithNote(), json);
  }
}

TEST_F(Linker, SecondNoteIsRefused) {
  llvm::LLVMContext context;
  auto module = parseLlvmIr(fixture("store.ll"), "store.ll", context);
  ASSERT_TRUE(bool(module));
  ASSERT_FALSE(bool(embedNote(**module, "{}")));
  EXPECT_EQ(message(embedNote(**module, "{}")), "the module already carries a note");
}

} // namespace
} // namespace wavesmith::compiler
