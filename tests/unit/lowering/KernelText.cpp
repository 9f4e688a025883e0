#include "tests/unit/lowering/KernelText.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "compiler/codegen/AcceptanceGate.h"
#include "compiler/codegen/Linker.h"
#include "compiler/codegen/ObjectEmitter.h"
#include "compiler/lowering/EmitAttention.h"

namespace wavesmith::compiler::testing {

namespace {

/// Both contexts outlive the module that is compiled in them.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

llvm::Error prepare(const KernelCase &kernel, const Schedule &schedule, const std::string &name,
                    Compilation &compilation) {
  initialiseTarget();
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      emitAttention(kernel.shape, schedule, *findTarget(kernel.target), name, context);
  if (!module || failed(mlir::verify(*module)))
    return llvm::createStringError(diagnostics);
  const EmitOptions options{.target = kernel.target};
  auto machine = makeTargetMachine(options);
  if (!machine)
    return machine.takeError();
  auto translated = translateToLlvmIr(*module, compilation.context);
  if (!translated)
    return translated.takeError();
  compilation.machine = std::move(*machine);
  compilation.module = std::move(*translated);
  return prepareModule(*compilation.module, *compilation.machine, options);
}

Produced failure(llvm::Error error) { return {.error = llvm::toString(std::move(error))}; }

} // namespace

std::string KernelCase::name() const {
  return fmt::format("{}_{}_d{}x{}{}{}{}{}", target, nameOf(shape.element), shape.headDimQk,
                     shape.headDimV, shape.causal ? "_causal" : "", shape.writeLse ? "_lse" : "",
                     shape.splitKv ? "_split" : "",
                     shape.output == ElementType::F16 && !isHalf(shape.element) ? "_f16out" : "");
}

KernelCase KernelCase::withFp8() const {
  KernelCase other = *this;
  other.shape.element = findTarget(target)->fp8;
  other.shape.scaled = true;
  return other;
}

KernelCase KernelCase::withFloat16() const {
  KernelCase other = *this;
  other.shape.element = other.shape.output = ElementType::F16;
  return other;
}

Schedule KernelCase::schedule() const {
  const bool full = shape.headDimV == 256; // its outputs leave no more registers
  const bool f16 = shape.element == ElementType::F16;
  const float exponent = f16 ? 7 : 0;
  if (target == "gfx942" && isHalf(shape.element)) {
    const PRounding rounding = full && !f16 ? PRounding::Nearest : PRounding::Truncated;
    return full ? Schedule{.ring = 4,
                           .registerAhead = 1,
                           .weightExponent = exponent,
                           .order = SoftmaxOrder::Windowed,
                           .pRounding = rounding}
                : Schedule{.weightExponent = exponent, .pRounding = rounding};
  }
  if (target == "gfx942") {
    return {.blockN = 64,
            .ring = full ? 4 : 5,
            .rescaleThreshold = 3.9f,
            .weightExponent = 4,
            .rowSum = shape.headDimQk > 128 ? RowSum::Vector : RowSum::Matrix,
            .order = SoftmaxOrder::Windowed};
  }
  Schedule schedule{.blockN = full ? 32 : 64,
                    .ring = 5,
                    .kBuffers = 3,
                    .vBuffers = 4,
                    .weightExponent = exponent};
  if (!isHalf(shape.element))
    schedule = {.blockN = full ? 64 : 128,
                .ring = full ? 4 : 3,
                .pre = full ? 3 : 1,
                .kBuffers = 3,
                .vBuffers = 4,
                .rescaleThreshold = 4.8f,
                .weightExponent = 4,
                .rowSum = full ? RowSum::Vector : RowSum::Matrix};
  // One tile of each stream may be in flight; a transfer of the group's four waves brings 4 KiB.
  const int elements = 4096 / bytesOf(shape.element);
  schedule.keyWaits = {.vmem = schedule.blockN * shape.headDimQk / elements, .lds = -1};
  schedule.valueWaits = {.vmem = schedule.blockN * shape.headDimV / elements, .lds = -1};
  return schedule;
}

Produced buildKernel(const KernelCase &kernel, const Schedule &schedule, const std::string &name) {
  Compilation compilation;
  if (llvm::Error error = prepare(kernel, schedule, name, compilation))
    return failure(std::move(error));
  auto object = emitObject(*compilation.module, *compilation.machine);
  if (!object)
    return failure(object.takeError());
  auto linked = linkCodeObject(*object);
  if (!linked)
    return failure(linked.takeError());
  Produced produced;
  produced.bytes.resize(linked->size());
  std::memcpy(produced.bytes.data(), linked->data(), linked->size());
  return produced;
}

std::string loopViolations(const std::vector<std::byte> &object, const std::string &name,
                           const KernelCase &kernel) {
  const KernelShape &shape = kernel.shape;
  const int fragments = (shape.headDimQk + shape.headDimV) / 16;
  const int keys = kernel.schedule().blockN, scores = keys / 2; // of a lane
  const bool matrixSum = kernel.schedule().rowSum == RowSum::Matrix;
  // Of V through registers; LLVM pairs those of less than 16 bytes.
  const int writes = keys * shape.headDimV * bytesOf(shape.element) / 4096;
  LoopExpectation expected;
  expected.loops = 4; // full and masked tiles, for each group
  if (shape.element == ElementType::F8E4M3Ocp) {
    expected.mfma = keys * (shape.headDimQk + shape.headDimV) / 2048 + (matrixSum ? keys / 64 : 0);
    expected.exp = scores;
    expected.ldsReads = keys * (shape.headDimQk + 2 * shape.headDimV) / 1024;
    expected.ldsWrites = 0;
    expected.vmcntZero = 0;
    expected.valuBudget = (matrixSum ? 3 : 4) * scores;
    expected.maskedValu = 2 * scores + 1;
    expected.resultWaitStates = 20;
  } else if (!isHalf(shape.element)) {
    expected.mfma = 2 * (shape.headDimQk + shape.headDimV) / 16 + (matrixSum ? 4 : 0);
    expected.exp = 32;
    expected.ldsReads = fragments;
    expected.ldsWrites = std::max(writes, 2); // of 64 columns pairs of 4 bytes
    expected.valuBudget = 32 + 16 + 32 + (matrixSum ? 0 : 32) + 16;
    expected.stagingValu = shape.headDimV / 8;
    expected.maskedValu = 65;
  } else if (kernel.target == "gfx942") {
    expected.mfma = 2 * fragments;
    expected.exp = 16;
    expected.ldsReads = fragments;
    expected.ldsWrites = writes;
    const bool truncated = kernel.schedule().pRounding == PRounding::Truncated;
    expected.valuBudget = 16 + 8 + 16 + 16 + (truncated ? 8 : 24); // fma, max, exp, sum, pack
    expected.stagingValu = shape.headDimV / 16;
    expected.maskedValu = 33;
  } else {
    expected.mfma = keys * (shape.headDimQk + shape.headDimV) / 512;
    expected.exp = scores;
    expected.ldsReads = keys * (shape.headDimQk + 2 * shape.headDimV) / 512;
    expected.ldsWrites = 0;
    expected.vmcntZero = 0;
    expected.valuBudget = 4 * scores;
    expected.maskedValu = 2 * scores + 1;
    expected.resultWaitStates = 12;
  }
  const llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(object.data()), object.size());
  auto report = inspectLoops(bytes, name, expected);
  if (!report)
    return llvm::toString(report.takeError());
  return llvm::toString(toError(*report));
}

} // namespace wavesmith::compiler::testing
