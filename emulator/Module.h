#pragma once
// A code object placed in device memory: its segments at one base address, relocated. Shared by
// its Device and whoever launches from it; decoded programs are cached here, per kernel.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "emulator/Emulator.h"
#include "emulator/Memory.h"

namespace wavesmith::emulator {

class Program;

class Module {
public:
  static Expected<std::shared_ptr<Module>> place(const CodeObject &object, Memory &memory);

  const CodeObject &object() const { return object_; }
  /// Added to the object's virtual addresses.
  std::uint64_t bias() const { return bias_; }
  Allocation &image() const { return *image_; }
  /// Decoded kernels by name; filled by Device::run.
  std::map<std::string, std::shared_ptr<Program>, std::less<>> programs;

private:
  explicit Module(CodeObject object) : object_(std::move(object)) {}
  Status relocate();

  CodeObject object_;
  std::uint64_t bias_ = 0;
  Allocation *image_ = nullptr;
};

} // namespace wavesmith::emulator
