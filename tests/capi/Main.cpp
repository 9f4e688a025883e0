// Settings that the tests of the C interface share, before anything reads them.

#include <cstdlib>

#include <gtest/gtest.h>

int main(int argc, char **argv) {
  setenv("WAVESMITH_EMULATOR", "chip=MI325X,devices=2,threads=2", 1);
  setenv("WAVESMITH_CACHE_DIR", "off", 1);
  setenv("WAVESMITH_COMPILER_LIBRARY", WAVESMITH_FAKE_COMPILER, 1);
  for (const char *name : {"WAVESMITH_POLICY", "WAVESMITH_JIT", "WAVESMITH_DEVICE",
                           "WAVESMITH_HIP_LIBRARY", "WAVESMITH_TEMPLATE_DIR"})
    unsetenv(name);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
