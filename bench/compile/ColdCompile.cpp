// Cold compile of one specialisation, template text to checked code object, no cache. The first
// repetition also pays for starting LLVM; bench/run_compile.py runs each name in its own process
// and puts the figures beside Triton's.

#include <cstddef>
#include <memory>

#include <benchmark/benchmark.h>

#include "compiler/library/CompileKernel.h"
#include "runtime/provider/CompilerInterface.h"
#include "runtime/provider/Provider.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace {

using namespace wavesmith;

void coldCompile(benchmark::State &state, const KernelSpec &spec) {
  const std::unique_ptr<KernelCompiler> compiler = compiler::createKernelCompiler();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Expected<CodeObjectBlob> object = compiler->compile(spec, {});
    if (!object) {
      state.SkipWithError(object.status().message().c_str());
      return;
    }
    bytes = object->bytes.size();
  }
  state.counters["object_bytes"] = static_cast<double>(bytes);
}

void registerSpecs() {
  for (const Target &target : knownTargets())
    for (const DType dtype : {DType::BF16, DType::FP8})
      for (const bool causal : {false, true}) {
        const KernelSpec spec{
            .target = target.name,
            .attention = {.dtype = dtype, .headDimQk = 192, .headDimV = 128, .causal = causal}};
        const Status valid = spec.validate();
        if (!valid) {
          valid.ignoreError("specialisations that do not exist yet are not measured");
          continue;
        }
        const std::string name = fmt::format("ColdCompile/{}/{}/{}", target.name, dtypeName(dtype),
                                             causal ? "causal" : "full");
        benchmark::RegisterBenchmark(name.c_str(),
                                     [spec](benchmark::State &state) { coldCompile(state, spec); })
            ->Unit(benchmark::kMillisecond)
            ->Iterations(1)
            ->Repetitions(5);
      }
}

} // namespace

int main(int argc, char **argv) {
  registerSpecs();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
