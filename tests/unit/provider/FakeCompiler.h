#pragma once
// A compiler whose code objects are the spec's text, with what tests want to steer.

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/provider/CompilerInterface.h"
#include "runtime/support/Hash.h"

namespace wavesmith::test {

inline std::vector<std::byte> bytesOf(std::string_view text) {
  const auto bytes = asBytes(text);
  return {bytes.begin(), bytes.end()};
}

class FakeCompiler : public KernelCompiler {
public:
  std::string build = Toolchain::builtin().compilerBuild;
  std::chrono::milliseconds duration{0};
  std::atomic<int> compiles{0};
  std::atomic<int> failures{0}; ///< compiles that fail before one succeeds

  std::string buildId() const override { return build; }
  Expected<CodeObjectBlob> compile(const KernelSpec &spec, const CompileOptions &) override {
    ++compiles;
    std::this_thread::sleep_for(duration);
    if (failures.fetch_sub(1) > 0)
      return Status(StatusCode::CompileFailed, "asked to fail");
    CodeObjectBlob blob;
    blob.bytes = bytesOf(spec.text());
    blob.kernelName = spec.kernelName();
    return blob;
  }
};

/// Forwards to a compiler that the test keeps.
class BorrowedCompiler : public KernelCompiler {
public:
  explicit BorrowedCompiler(KernelCompiler &compiler) : compiler_(compiler) {}
  std::string buildId() const override { return compiler_.buildId(); }
  Expected<CodeObjectBlob> compile(const KernelSpec &spec, const CompileOptions &options) override {
    return compiler_.compile(spec, options);
  }

private:
  KernelCompiler &compiler_;
};

inline KernelSpec mainJobSpec() {
  return {"gfx942", {DType::BF16, 192, 128, true, true, false}, ""};
}

} // namespace wavesmith::test
