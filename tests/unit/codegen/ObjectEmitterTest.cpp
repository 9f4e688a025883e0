#include "compiler/codegen/ObjectEmitter.h"

#include <thread>
#include <utility>
#include <vector>

#include <llvm/BinaryFormat/ELF.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Parser/Parser.h>

#include "compiler/codegen/Diagnostics.h"
#include "runtime/support/Status.h"
#include "tests/unit/codegen/Fixtures.h"

namespace wavesmith::compiler {
namespace {

using testing::emitText;
using testing::fixture;
using testing::message;
using testing::replaced;
using ::testing::Test;

TEST(ObjectEmitter, EmitsAnObjectForEachTargetAndPipeline) {
  for (const char *target : {"gfx942", "gfx950"})
    for (IrPipeline pipeline : {IrPipeline::None, IrPipeline::O1}) {
      auto object = emitText(fixture("store.ll"), {.target = target, .pipeline = pipeline});
      ASSERT_TRUE(bool(object)) << message(object.takeError());
      EXPECT_EQ(llvm::StringRef(object->data(), 4), "\177ELF");
      // e_ident[EI_ABIVERSION]: 4 = code object v6.
      EXPECT_EQ((*object)[llvm::ELF::EI_ABIVERSION], llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V6);
    }
}

TEST(ObjectEmitter, CodeObjectVersionIsAnOption) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx942", .codeObjectVersion = 500});
  ASSERT_TRUE(bool(object)) << message(object.takeError());
  EXPECT_EQ((*object)[llvm::ELF::EI_ABIVERSION], llvm::ELF::ELFABIVERSION_AMDGPU_HSA_V5);
}

TEST(ObjectEmitter, SameInputGivesSameBytes) {
  auto first = emitText(fixture("store.ll"), {.target = "gfx942"});
  auto second = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(first) && bool(second));
  EXPECT_EQ(*first, *second);
}

TEST(ObjectEmitter, UnknownTargetIsNamed) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx999"});
  ASSERT_FALSE(bool(object));
  const Status status = toStatus(object.takeError());
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("gfx999"), std::string::npos) << status.message();
}

TEST(ObjectEmitter, ParseErrorNamesFileAndLine) {
  auto object = emitText("define void @f() {\n  ret i32 %nothing\n}\n", {.target = "gfx942"});
  ASSERT_FALSE(bool(object));
  EXPECT_EQ(message(object.takeError()).substr(0, 13), "fixture.ll:2:");
}

TEST(ObjectEmitter, IrThatDoesNotVerifyIsAnError) {
  // The parser takes a kernel that is called; only the verifier objects.
  const std::string text = fixture("store.ll") + "define void @caller(ptr addrspace(1) %p) {\n"
                                                 "  call amdgpu_kernel void @store(ptr "
                                                 "addrspace(1) %p)\n  ret void\n}\n";
  auto object = emitText(text, {.target = "gfx942"});
  ASSERT_FALSE(bool(object));
  const std::string text2 = message(object.takeError());
  EXPECT_NE(text2.find("does not verify"), std::string::npos) << text2;
}

TEST(ObjectEmitter, ModuleWithoutKernelIsAnError) {
  auto object = emitText("define void @f() {\n  ret void\n}\n", {.target = "gfx942"});
  ASSERT_FALSE(bool(object));
  EXPECT_NE(message(object.takeError()).find("defines no kernel"), std::string::npos);
}

TEST(ObjectEmitter, ForeignTripleIsAnError) {
  const std::string text =
      replaced(fixture("store.ll"), "amdgcn-amd-amdhsa", "x86_64-unknown-linux-gnu");
  auto object = emitText(text, {.target = "gfx942"});
  ASSERT_FALSE(bool(object));
  EXPECT_NE(message(object.takeError()).find("x86_64"), std::string::npos);
}

TEST(ObjectEmitter, LdsBeyondTheTargetIsReportedAndDoesNotAbort) {
  const std::string text = replaced(fixture("store.ll"), "  ret void",
                                    "  %l = getelementptr i8, ptr addrspace(3) @lds, i32 %t\n"
                                    "  store volatile i8 1, ptr addrspace(3) %l\n  ret void") +
                           "@lds = internal addrspace(3) global [70000 x i8] poison, align 16\n";
  auto object = emitText(text, {.target = "gfx942"});
  ASSERT_FALSE(bool(object));
  const std::string refusal = message(object.takeError());
  EXPECT_NE(refusal.find("local memory"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("65536"), std::string::npos) << refusal;
  EXPECT_TRUE(bool(emitText(text, {.target = "gfx950"}))) << "160 KiB there";
}

TEST(ObjectEmitter, AssemblyTextForDumps) {
  llvm::LLVMContext context;
  const EmitOptions options{.target = "gfx942"};
  auto module = parseLlvmIr(fixture("store.ll"), "store.ll", context);
  ASSERT_TRUE(bool(module));
  auto machine = makeTargetMachine(options);
  ASSERT_TRUE(bool(machine));
  ASSERT_FALSE(bool(prepareModule(**module, **machine, options)));
  auto assembly = emitAssembly(**module, **machine);
  ASSERT_TRUE(bool(assembly));
  EXPECT_NE(assembly->find("global_store_dword"), std::string::npos);
}

TEST(ObjectEmitter, ThreadsEmitInParallel) {
  std::vector<ObjectBytes> objects(4);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (ObjectBytes &object : objects)
    threads.emplace_back([&object] {
      auto emitted = emitText(fixture("store.ll"), {.target = "gfx942"});
      if (emitted)
        object = std::move(*emitted);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(objects[0].empty());
  for (const ObjectBytes &object : objects)
    EXPECT_EQ(object, objects[0]);
}

class Translation : public Test {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  Translation() { context.loadDialect<mlir::LLVM::LLVMDialect>(); }
  mlir::MLIRContext context;
};

TEST_F(Translation, MlirModuleBecomesLlvmIr) {
  auto module = parse("module { llvm.func @f(%a: i32) -> i32 { llvm.return %a : i32 } }");
  ASSERT_TRUE(bool(module));
  llvm::LLVMContext context;
  auto translated = translateToLlvmIr(*module, context);
  ASSERT_TRUE(bool(translated)) << message(translated.takeError());
  EXPECT_TRUE((*translated)->getFunction("f"));
}

TEST_F(Translation, OpsOfOtherDialectsAreAnErrorThatNamesThem) {
  context.allowUnregisteredDialects();
  auto module = parse("module { llvm.func @f() { \"foreign.op\"() : () -> () llvm.return } }");
  ASSERT_TRUE(bool(module));
  llvm::LLVMContext context;
  auto translated = translateToLlvmIr(*module, context);
  ASSERT_FALSE(bool(translated));
  const std::string text = message(translated.takeError());
  EXPECT_NE(text.find("foreign.op"), std::string::npos) << text;
}

} // namespace
} // namespace wavesmith::compiler
