#include "compiler/codegen/Codegen.h"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Parser/Parser.h>

#include "compiler/codegen/AcceptanceGate.h"
#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/Reproducer.h"
#include "compiler/codegen/ResourceGates.h"
#include "runtime/codeobject/CodeObject.h"
#include "runtime/support/Status.h"
#include "tests/unit/codegen/Fixtures.h"

namespace wavesmith::compiler {
namespace {

using testing::fixture;
using ::testing::HasSubstr;
using testing::message;
using ::testing::StartsWith;

std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Codegen : public ::testing::Test {
protected:
  Codegen() {
    context.loadDialect<mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
    std::string path = (std::filesystem::temp_directory_path() / "codegentest-XXXXXX").string();
    directory = ::mkdtemp(path.data());
  }
  ~Codegen() override { std::filesystem::remove_all(directory); }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      found.push_back(entry.path());
    return found;
  }

  mlir::MLIRContext context;
  std::filesystem::path directory;
};

TEST_F(Codegen, MlirModuleToCheckedCodeObject) {
  auto module = parse(fixture("store.mlir"));
  ASSERT_TRUE(bool(module));
  auto result = generateObject(*module, {.emit = {.target = "gfx942"}, .note = "{\"a\": 1}"});
  ASSERT_TRUE(bool(result)) << message(result.takeError());
  ASSERT_EQ(result->kernels.size(), 1u);
  EXPECT_EQ(result->kernels[0].name, "store");
  ASSERT_EQ(result->loops.size(), 1u);
  EXPECT_TRUE(result->loops[0].loops.empty());
  EXPECT_GT(result->times.emit, 0);
  EXPECT_GE(result->times.total(), result->times.emit + result->times.link);

  const auto *begin = reinterpret_cast<const std::byte *>(result->bytes.data());
  auto object = CodeObject::parse({begin, begin + result->bytes.size()}, "generated");
  ASSERT_TRUE(bool(object)) << object.status().message();
  EXPECT_EQ(object->target(), "gfx942");
  EXPECT_EQ(object->wavesmithNote(), "{\"a\": 1}");
}

TEST_F(Codegen, IrTextGoesTheSameWayAndItsLoopsAreReported) {
  auto result = generateObjectFromIr(fixture("pipelined_loop.ll"), "pipelined_loop.ll",
                                     {.emit = {.target = "gfx942"}});
  ASSERT_TRUE(bool(result)) << message(result.takeError());
  ASSERT_EQ(result->loops.size(), 1u);
  EXPECT_EQ(result->loops[0].loops.size(), 1u);
}

TEST_F(Codegen, ReaderOfTheRuntimeAgreesWithOursOnResources) {
  auto result = generateObjectFromIr(fixture("pipelined_loop.ll"), "pipelined_loop.ll",
                                     {.emit = {.target = "gfx942"}});
  ASSERT_TRUE(bool(result)) << message(result.takeError());
  const auto *begin = reinterpret_cast<const std::byte *>(result->bytes.data());
  auto object = CodeObject::parse({begin, begin + result->bytes.size()}, "generated");
  ASSERT_TRUE(bool(object)) << object.status().message();
  ASSERT_EQ(object->kernels().size(), 1u);
  const KernelInfo &theirs = object->kernels()[0];
  const KernelResources &ours = result->kernels[0];
  EXPECT_EQ(theirs.name, ours.name);
  EXPECT_EQ(theirs.vgprs, ours.vgprs);
  EXPECT_EQ(theirs.agprs, ours.agprs);
  EXPECT_EQ(theirs.sgprs, ours.sgprs);
  EXPECT_EQ(theirs.ldsBytes, ours.ldsBytes);
  EXPECT_EQ(theirs.kernargBytes, ours.kernargBytes);
  EXPECT_EQ(theirs.codeSize, ours.codeBytes);
}

TEST_F(Codegen, BrokenLimitAndBrokenLoopAreReportedTogether) {
  auto result = generateObjectFromIr(fixture("pipelined_loop.ll"), "pipelined_loop.ll",
                                     {.emit = {.target = "gfx942"},
                                      .resources = {.ldsBytes = 8192},
                                      .loops = LoopExpectation{.mfma = 9}});
  ASSERT_FALSE(bool(result));
  const Status status = toStatus(result.takeError());
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("16384 bytes of LDS, at most 8192 allowed"));
  EXPECT_THAT(status.message(), HasSubstr("8 MFMAs in an iteration, expected 9"));
}

TEST_F(Codegen, UnknownKernelIsNamed) {
  auto result = generateObjectFromIr(fixture("store.ll"), "store.ll",
                                     {.emit = {.target = "gfx942"}, .kernel = "nothing"});
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(message(result.takeError()), "the module has no kernel 'nothing'");
}

TEST_F(Codegen, DumpsIrAssemblyAndObject) {
  auto module = parse(fixture("store.mlir"));
  ASSERT_TRUE(bool(module));
  const std::string where = directory / "dump";
  auto result = generateObject(*module, {.emit = {.target = "gfx942"}, .dumpDirectory = where});
  ASSERT_TRUE(bool(result)) << message(result.takeError());
  EXPECT_THAT(readFile(where + "/store.ll"), HasSubstr("define amdgpu_kernel void @store"));
  EXPECT_THAT(readFile(where + "/store.s"), HasSubstr("s_endpgm"));
  EXPECT_THAT(readFile(where + "/store.co"), StartsWith("\177ELF"));
  // The dump changes nothing.
  auto plain = generateObject(*module, {.emit = {.target = "gfx942"}});
  ASSERT_TRUE(bool(plain));
  EXPECT_EQ(plain->bytes, result->bytes);
}

TEST_F(Codegen, UnwritableDumpIsAnError) {
  auto result =
      generateObjectFromIr(fixture("store.ll"), "store.ll",
                           {.emit = {.target = "gfx942"}, .dumpDirectory = "/proc/nothing/here"});
  ASSERT_FALSE(bool(result));
  EXPECT_THAT(message(result.takeError()), HasSubstr("/proc/nothing/here"));
}

TEST_F(Codegen, FailureLeavesAReproducerThatParses) {
  auto module = parse(fixture("store.mlir"));
  ASSERT_TRUE(bool(module));
  auto result = generateObject(
      *module, {.emit = {.target = "gfx999"},
                .reproducer = ReproducerOptions{.directory = directory, .name = "store"}});
  ASSERT_FALSE(bool(result));
  const Status status = toStatus(result.takeError());
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  ASSERT_EQ(files().size(), 1u);
  const std::string path = files().front();
  EXPECT_THAT(status.message(), HasSubstr("(reproducer: " + path + ")"));
  const std::string text = readFile(path);
  EXPECT_THAT(text, StartsWith("// error: unknown target 'gfx999'"));
  EXPECT_THAT(text, HasSubstr("// replay: mlir-translate --mlir-to-llvmir " + path +
                              " | llc -O3 -mtriple=amdgcn-amd-amdhsa -mcpu=gfx999"));
  EXPECT_TRUE(bool(parse(text)));
}

TEST_F(Codegen, SuccessLeavesNoReproducer) {
  auto module = parse(fixture("store.mlir"));
  ASSERT_TRUE(bool(module));
  auto result = generateObject(*module, {.emit = {.target = "gfx942"},
                                         .reproducer = ReproducerOptions{.directory = directory}});
  ASSERT_TRUE(bool(result)) << message(result.takeError());
  EXPECT_TRUE(files().empty());
}

TEST_F(Codegen, ReproducerThatCannotBeWrittenKeepsTheError) {
  const Status status =
      toStatus(withReproducer(codegenError(StatusCode::CompileFailed, "the reason"), "module {}",
                              {.directory = "/proc/nothing/here"}));
  EXPECT_EQ(status.code(), StatusCode::CompileFailed);
  EXPECT_THAT(status.message(), StartsWith("the reason (no reproducer: cannot make /proc/nothing"));
}

TEST_F(Codegen, ReproducersDoNotOverwriteEachOther) {
  const ReproducerOptions options{
      .directory = directory, .name = "twice", .command = "a {file} b {file}"};
  auto first = writeReproducer("module {}", "two\nlines", options);
  auto second = writeReproducer("module {}", "two\nlines", options);
  ASSERT_TRUE(bool(first) && bool(second));
  EXPECT_NE(*first, *second);
  EXPECT_EQ(readFile(*first), "// error: two\n// error: lines\n// replay: a " + *first + " b " +
                                  *first + "\nmodule {}\n");
}

TEST_F(Codegen, ContextsOfThreadsAreIndependent) {
  const std::string text = fixture("store.mlir");
  std::vector<ObjectBytes> objects(4);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (ObjectBytes &object : objects)
    threads.emplace_back([&] {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      context.loadDialect<mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
      auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
      if (auto result = generateObject(*module, {.emit = {.target = "gfx942"}}))
        object = std::move(result->bytes);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(objects[0].empty());
  for (const ObjectBytes &object : objects)
    EXPECT_EQ(object, objects[0]);
}

TEST(Diagnostics, ErrorsBecomeStatuses) {
  EXPECT_TRUE(toStatus(llvm::Error::success()).isOk());
  const Status ours = toStatus(codegenError(StatusCode::Io, "cannot read {}", "x"));
  EXPECT_EQ(ours.code(), StatusCode::Io);
  EXPECT_EQ(ours.message(), "cannot read x");
  const Status foreign =
      toStatus(llvm::createStringError(llvm::inconvertibleErrorCode(), "from LLVM"));
  EXPECT_EQ(foreign.code(), StatusCode::CompileFailed);
  EXPECT_EQ(foreign.message(), "from LLVM");
  const Status joined = toStatus(llvm::joinErrors(codegenError(StatusCode::Corrupt, "one"),
                                                  codegenError(StatusCode::Io, "two")));
  EXPECT_EQ(joined.code(), StatusCode::Corrupt);
  EXPECT_EQ(joined.message(), "one; two");
  const Status context = toStatus(withContext(codegenError(StatusCode::Io, "why"), "where"));
  EXPECT_EQ(context.code(), StatusCode::Io);
  EXPECT_EQ(context.message(), "where: why");
  EXPECT_TRUE(toStatus(withContext(llvm::Error::success(), "where")).isOk());
}

TEST(Diagnostics, ExpectedCarriesValueOrStatus) {
  const Expected<int> value = toExpected<int>(llvm::Expected<int>(7));
  ASSERT_TRUE(bool(value));
  EXPECT_EQ(*value, 7);
  const Expected<int> none =
      toExpected<int>(llvm::Expected<int>(codegenError(StatusCode::NotFound, "gone")));
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(none.status().message(), "gone");
}

} // namespace
} // namespace wavesmith::compiler
