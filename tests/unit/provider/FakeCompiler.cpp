#include "tests/unit/provider/FakeCompiler.h"

wavesmith::KernelCompiler *wavesmithCompilerCreate() {
  auto *compiler = new wavesmith::test::FakeCompiler;
#ifdef WAVESMITH_TEST_FOREIGN
  compiler->build = "another-build";
#endif
  return compiler;
}
