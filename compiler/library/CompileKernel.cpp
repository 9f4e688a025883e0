#include "compiler/library/CompileKernel.h"

#include <chrono>
#include <span>

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/ControlFlow/IR/ControlFlow.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/Parser/Parser.h>

#include "compiler/codegen/Codegen.h"
#include "compiler/codegen/Diagnostics.h"
#include "compiler/library/Pipeline.h"
#include "compiler/lowering/Schedule.h"
#include "compiler/target/TargetFacts.h"
#include "dialects/tile/Tile.h"
#include "runtime/codeobject/Note.h"

using namespace mlir;

namespace wavesmith::compiler {
namespace {

/// Collects what MLIR would print, with locations.
class MlirDiagnostics {
public:
  explicit MlirDiagnostics(MLIRContext *context)
      : handler_(context, [this](Diagnostic &diagnostic) {
          if (!text_.empty())
            text_ += "; ";
          llvm::raw_string_ostream stream(text_);
          if (auto where = llvm::dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
            stream << where.getFilename().getValue() << ":" << where.getLine() << ": ";
          stream << diagnostic.str();
          return success();
        }) {}

  const std::string &text() const { return text_; }

private:
  std::string text_;
  ScopedDiagnosticHandler handler_;
};

/// The format of FP8 inputs, as notes name it; "" for others.
std::string inputFormat(const KernelSpec &spec) {
  const auto target = parseTarget(spec.target);
  return target && spec.attention.dtype == DType::FP8 ? std::string(fp8FormatName(target->fp8))
                                                      : "";
}

std::string noteJson(const KernelSpec &spec, const KernelAbi &abi, const Toolchain &toolchain) {
  return printNote({.spec = spec.text(),
                    .specKey = spec.key(),
                    .buildKey = buildKey(spec, toolchain),
                    .abi = std::string(abi.layout),
                    .fp8Format = inputFormat(spec),
                    .schedule = spec.schedule.empty() ? "default" : spec.schedule,
                    .toolchain = toolchain.compilerBuild + " llvm " + toolchain.llvmVersion});
}

/// What the schedule promises of each loop, from the figures of shape, schedule and instructions.
LoopExpectation expectedLoops(const AttentionSpec &attention, const ScheduleRow &schedule,
                              const TargetFacts &target) {
  const bool fp8 = attention.dtype == DType::FP8, matrixSum = schedule.rowSum == "matrix";
  const bool f16 = attention.dtype == DType::F16;
  const ElementType element = fp8 ? target.fp8 : f16 ? ElementType::F16 : ElementType::BF16;
  const MfmaAtom &atom = atoms(target, element).front();
  const int scores = schedule.blockN * atom.n / kWaveLanes; // of a lane in a step
  auto readsOf = [&](int headDim, int bytesOfRead) {
    return schedule.blockN * headDim * bytesOf(element) / (kWaveLanes * bytesOfRead);
  };
  LoopExpectation expected;
  // Full and masked steps, for each wave group; a window has masked ones on both sides.
  expected.loops = attention.window ? 6 : 4;
  expected.mfma = schedule.blockN * (attention.headDimQk + attention.headDimV) / (atom.m * atom.k) +
                  (matrixSum ? schedule.blockN / atom.k : 0);
  expected.expsOfScore = attention.softCap ? 2 : 1;
  expected.exp = expected.expsOfScore * scores;
  expected.ldsReads = readsOf(attention.headDimQk, 16) +
                      readsOf(attention.headDimV, target.transposeReads ? 8 : 16);
  // fma, max3 and exp for each score or pair, an add unless the matrix core sums, and the pairs'
  // converts.
  const int packing = fp8 || target.packedConvert || schedule.rounding == "truncated" ? 1 : 3;
  expected.valuBudget =
      scores + scores / 2 + scores + (matrixSum ? 0 : scores) + packing * scores / 2;
  if (attention.softCap) // mul, exp, add, rcp
    *expected.valuBudget += 4 * scores;
  if (target.transposeReads) {
    expected.ldsWrites = 0;
  } else {
    const LdsImage values =
        valueImage(atom, Schedule{.blockN = schedule.blockN}, attention.headDimV, target);
    // LLVM pairs stores of less than 16 bytes.
    expected.ldsWrites =
        static_cast<int>(values.writeImmediate.size()) / (values.writeBytes < 16 ? 2 : 1);
    // v_perm: one for two dwords, of each level of the transpose.
    expected.stagingValu =
        attention.headDimV * schedule.blockN * bytesOf(element) / 1024 * (fp8 ? 2 : 1);
  }
  // A compare and a select for each, with both ends a subtraction more.
  expected.maskedValu = (attention.window ? 3 : 2) * scores + 1;
  expected.resultWaitStates = atom.passes + target.mfmaResultStates;
  return expected;
}

/// Runs the failing pipeline again to keep the IR before the failing pass, with the pipeline from
/// there on; says where it is.
std::string keepReproducer(ModuleOp module, const PipelineOptions &options,
                           const std::string &directory) {
  llvm::SmallString<128> path(directory);
  if (directory.empty())
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  else if (std::error_code failed = llvm::sys::fs::create_directories(directory))
    return fmt::format("no reproducer: {}: {}", directory, failed.message());
  llvm::sys::path::append(path, options.kernelName + "-%%%%%%.mlir");
  llvm::SmallString<128> unique;
  int descriptor = -1;
  if (std::error_code failed = llvm::sys::fs::createUniqueFile(path, descriptor, unique))
    return fmt::format("no reproducer: {}: {}", path.str().str(), failed.message());
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true).close();

  PassManager passes(module.getContext());
  buildPipeline(passes, options);
  passes.enableCrashReproducerGeneration(unique, /*genLocalReproducer=*/true);
  (void)passes.run(module);
  return fmt::format("replay with: wavesmith-opt -run-reproducer {}", unique.str().str());
}

class Compiler final : public KernelCompiler {
public:
  std::string buildId() const override { return Toolchain::builtin().compilerBuild; }
  Expected<CodeObjectBlob> compile(const KernelSpec &spec, const CompileOptions &options) override {
    return compileKernel(spec, options);
  }
};

} // namespace

Expected<CodeObjectBlob> compileKernel(const KernelSpec &spec, const CompileOptions &options) {
  const auto start = std::chrono::steady_clock::now();
  WAVESMITH_ASSIGN(Selection selection, select(spec));
  WAVESMITH_ASSIGN(const std::string text,
                   templateText(selection.templateName, options.templateDirectory));

  Toolchain toolchain = Toolchain::builtin();
  if (!options.templateDirectory.empty()) {
    // The note must carry the key under which the runtime files an object of these templates.
    WAVESMITH_ASSIGN(toolchain, Toolchain::withTemplates(options.templateDirectory));
  }

  DialectRegistry registry;
  registerTranslations(registry);
  registry.insert<tile::TileDialect, arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect,
                  scf::SCFDialect, LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  MlirDiagnostics diagnostics(&context);

  const std::string name = selection.templateName + ".mlir";
  auto parse = [&] { return parseSourceString<ModuleOp>(text, ParserConfig(&context), name); };
  OwningOpRef<ModuleOp> module = parse();
  if (!module)
    return error(StatusCode::CompileFailed, "template does not parse: {}", diagnostics.text());

  const PipelineOptions pipeline{
      .target = spec.target, .kernelName = spec.kernelName(), .selection = selection};
  PassManager passes(&context);
  buildPipeline(passes, pipeline);
  if (!options.dumpDirectory.empty())
    passes.enableIRPrintingToFileTree([](Pass *, Operation *) { return false; },
                                      [](Pass *, Operation *) { return true; }, true, false, false,
                                      options.dumpDirectory);
  if (failed(passes.run(*module))) {
    const std::string why = diagnostics.text();
    return error(StatusCode::CompileFailed, "{}: {}; {}", spec.text(), why,
                 keepReproducer(*parse(), pipeline, options.reproducerDirectory));
  }

  CodegenOptions codegen;
  codegen.emit.target = spec.target;
  WAVESMITH_ASSIGN(const KernelAbi abi, spec.abi());
  codegen.note = noteJson(spec, abi, toolchain);
  codegen.resources.workgroupSize = abi.threads;
  codegen.dumpDirectory = options.dumpDirectory;
  const TargetFacts *target = findTarget(spec.target);
  if (!target)
    return error(StatusCode::Unsupported, "the compiler has no facts about {}", spec.target);
  codegen.resources.ldsBytes = static_cast<unsigned>(target->ldsBytes);
  codegen.resources.registersPerLane = static_cast<unsigned>(target->vgprsPerSimdLane);
  if (spec.isRowKernel()) {
    // Bandwidth comes from many waves, each of which waits for its loads.
    codegen.emit.pipeline = IrPipeline::O1;
    codegen.resources.wavesPerSimd = 4;
  } else {
    codegen.loops = expectedLoops(spec.attention, *selection.schedule, *target);
  }
  codegen.reproducer = {.directory = options.reproducerDirectory, .name = spec.kernelName()};
  llvm::Expected<ObjectResult> object = generateObject(*module, codegen);
  if (!object)
    return toStatus(object.takeError()).withContext(spec.text());

  CodeObjectBlob blob;
  auto bytes = std::as_bytes(std::span(object->bytes.data(), object->bytes.size()));
  blob.bytes.assign(bytes.begin(), bytes.end());
  blob.kernelName = spec.kernelName();
  blob.provider = "jit";
  blob.compileMs =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return blob;
}

std::unique_ptr<KernelCompiler> createKernelCompiler() { return std::make_unique<Compiler>(); }

} // namespace wavesmith::compiler
