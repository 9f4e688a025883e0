#include "compiler/library/CompileKernel.h"

extern "C" wavesmith::KernelCompiler *wavesmithCompilerCreate() {
  return wavesmith::compiler::createKernelCompiler().release();
}
