#include <span>

#include "compiler/codegen/Codegen.h"
#include "compiler/codegen/Diagnostics.h"
#include "tests/mutation/Trial.h"

namespace wavesmith::testing {

Expected<CodeObject> compileIr(const std::string &ir, const std::string &name,
                               const std::string &target) {
  compiler::CodegenOptions options;
  options.emit.target = target;
  // Neither foreign kernels nor mutants have to keep our figures; gfx950 has 160 KiB of LDS.
  options.resources = {.ldsBytes = 160 << 10, .wavesPerSimd = 1, .sgprSpills = 1 << 10};
  llvm::Expected<compiler::ObjectResult> object = compiler::generateObjectFromIr(ir, name, options);
  if (!object)
    return compiler::toStatus(object.takeError()).withContext(name);
  const auto bytes = std::as_bytes(std::span(object->bytes.data(), object->bytes.size()));
  return CodeObject::parse({bytes.begin(), bytes.end()}, name);
}

} // namespace wavesmith::testing
