#pragma once
// The seam between runtime and compiler. libwavesmith-compiler.so exports one C function,
// wavesmithCompilerCreate, returning this interface; the runtime dlopens it at the first JIT miss
// and never links it. Both sides come from one build (the build id is compared at load).

#include <memory>
#include <string>
#include <string_view>

#include "runtime/provider/Provider.h"

namespace wavesmith {

struct CompileOptions {
  std::string templateDirectory;   ///< other templates than the built-in ones; "" = built-in
  std::string dumpDirectory;       ///< write the IR after every pass there; "" = no
  std::string reproducerDirectory; ///< where a failure leaves its .mlir; "" = the temp directory
};

class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;
  /// Must equal Toolchain::builtin().compilerBuild of the loading runtime.
  virtual std::string buildId() const = 0;
  /// Template text to linked code object. Reentrant; compiles of different threads run in parallel
  /// but for the link step.
  virtual Expected<CodeObjectBlob> compile(const KernelSpec &spec,
                                           const CompileOptions &options) = 0;
};

} // namespace wavesmith

/// The caller owns the result. Exported although the project hides symbols by default.
extern "C" __attribute__((visibility("default"))) wavesmith::KernelCompiler *
wavesmithCompilerCreate();
