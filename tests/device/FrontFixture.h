#pragma once
// Calls hip* functions of the emulator's library that the runtime's own table does not hold.

#include <dlfcn.h>

#include "tests/device/DeviceFixture.h"

namespace wavesmith::test {

class FrontTest : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    // The library that the table opened: the same device.
    library_ = dlopen(WAVESMITH_FRONT, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  void TearDown() override {
    DeviceTest::TearDown();
    if (library_)
      dlclose(library_);
  }
  template <typename Function> Function symbol(const char *name) {
    void *found = dlsym(library_, name);
    if (!found)
      throw std::runtime_error(std::string("the front has no ") + name);
    return reinterpret_cast<Function>(found);
  }

private:
  void *library_ = nullptr;
};

/// Plain C functions only: C++ headers overload some names.
#define FRONT(name) symbol<decltype(&::name)>(#name)

} // namespace wavesmith::test
