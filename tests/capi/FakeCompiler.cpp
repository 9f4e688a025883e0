// A compiler library for tests: for every spec an object with our note and argument block whose
// kernel ends at once. So what the C interface does around kernels is tested in milliseconds and
// where no LLVM is linked. WAVESMITH_TEST_COMPILE_MS makes each compile last.

#include <chrono>
#include <cstdlib>
#include <thread>

#include "runtime/provider/CompilerInterface.h"
#include "tests/unit/dispatch/FakeObject.h"

namespace wavesmith {
namespace {

class FakeCompiler : public KernelCompiler {
public:
  std::string buildId() const override { return Toolchain::builtin().compilerBuild; }

  Expected<CodeObjectBlob> compile(const KernelSpec &spec, const CompileOptions &) override {
    if (const char *wait = std::getenv("WAVESMITH_TEST_COMPILE_MS"))
      std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(wait)));
    if (spec.attention.headDimQk == 64 && !spec.isRowKernel())
      return error(StatusCode::CompileFailed, "no kernel with head dim 64, says the test");
    WAVESMITH_ASSIGN(const KernelAbi abi, spec.abi());
    WAVESMITH_ASSIGN(const Target target, parseTarget(spec.target));
    const SharedCodeObject object =
        test::fakeObject(spec, {.abi = std::string(abi.layout),
                                .fp8Format = std::string(fp8FormatName(target.fp8)),
                                .arguments = static_cast<int>(abi.argumentBytes / 8),
                                .maxThreads = static_cast<int>(abi.threads)});
    return *object;
  }
};

} // namespace
} // namespace wavesmith

extern "C" wavesmith::KernelCompiler *wavesmithCompilerCreate() {
  return new wavesmith::FakeCompiler;
}
