// A template's text through the parser and the passes that bind and fold its parameters, which get
// the first value that each of them allows, then through the lowering of row kernels. Foreign text
// gives a diagnostic; what is lowered verifies.

#include <string>

#include <llvm/Support/raw_ostream.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Pass/PassManager.h>

#include "compiler/passes/Passes.h"
#include "dialects/tile/Tile.h"
#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

namespace {

/// "name=value,..." for every parameter of the template.
std::string valuesFor(mlir::ModuleOp module) {
  std::string values;
  llvm::raw_string_ostream stream(values);
  for (tile::ParamOp param : module.getOps<tile::ParamOp>()) {
    stream << param.getSymName() << '=';
    const mlir::ArrayAttr allowed = param.getAllowedAttr();
    if (allowed && !allowed.empty()) {
      if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(allowed[0]))
        stream << number.getInt();
      else
        stream << allowed[0];
    } else {
      stream << (param.getKind() == "i1" ? "true" : param.getKind() == "type" ? "f32" : "64");
    }
    stream << ',';
  }
  return values;
}

/// The parser of MLIR recurses; how deep it may is not for this target to find out.
bool nestsDeep(std::string_view text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '(' || c == '[' || c == '{' || c == '<';
    depth -= c == ')' || c == ']' || c == '}' || c == '>';
    if (depth > 64)
      return true;
  }
  return false;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(fuzz::text(data, size)); // the lexer wants a zero byte behind it
  if (nestsDeep(text))
    return 0;
  mlir::DialectRegistry registry;
  registry.insert<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::size_t errors = 0;
  const mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    return mlir::success();
  });
  const auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  if (!module) {
    fuzz::require(errors != 0, "text that does not parse has a diagnostic");
    return 0;
  }
  mlir::PassManager passes(&context);
  passes.addPass(compiler::createBindParameters({.values = valuesFor(*module)}));
  passes.addPass(compiler::createFoldParameters());
  passes.addPass(compiler::createAssignRows({.rows = 64}));
  passes.addPass(compiler::createLowerRows({.target = "gfx942", .kernelName = "", .threads = 256}));
  if (mlir::failed(passes.run(*module)))
    fuzz::require(errors != 0, "a template that does not lower has a diagnostic");
  return 0;
}
