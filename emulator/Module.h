#pragma once
// A code object placed in device memory: its segments at one base address, relocated. Shared by
// its Device and whoever launches from it; decoded programs are cached here, per kernel.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "emulator/Emulator.h"
#include "emulator/Memory.h"
#include "runtime/codeobject/LineTable.h"

namespace wavesmith::emulator {

class Program;

class Module {
public:
  static Expected<std::shared_ptr<Module>> place(const CodeObject &object, Memory &memory);

  const CodeObject &object() const { return object_; }
  /// Added to the object's virtual addresses.
  std::uint64_t bias() const { return bias_; }
  bool loaded() const { return image_ != nullptr; }
  Status release(Memory &memory);
  /// Source lines, read at the first question. Malformed ones are as good as none.
  const LineTable &lines() const;
  Allocation &image() const { return *image_; }
  /// Decoded kernels by name; filled by Device::run.
  std::map<std::string, std::shared_ptr<Program>, std::less<>> programs;

private:
  explicit Module(CodeObject object) : object_(std::move(object)) {}
  Status relocate();

  CodeObject object_;
  std::uint64_t bias_ = 0;
  mutable std::once_flag linesRead_;
  mutable LineTable lines_;
  Allocation *image_ = nullptr;
};

} // namespace wavesmith::emulator
