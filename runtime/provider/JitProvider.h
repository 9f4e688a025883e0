#pragma once
// The last provider of the chain: compiles, through a compiler library that is opened at the first
// miss and never before, so that a process which only loads prebuilt objects maps no LLVM. The
// library stays loaded until the process ends. Any thread; compiles run in parallel.

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/provider/CompilerInterface.h"
#include "runtime/provider/Provider.h"

namespace wavesmith {

struct JitOptions {
  bool allowed = true;         ///< false: a miss is JitForbidden
  std::string compilerLibrary; ///< "" = beside our own library or executable
  CompileOptions compile;
  Toolchain toolchain = Toolchain::builtin(); ///< for keys in messages
  /// Judges what was compiled before anybody gets it: the verification record, or why it failed.
  std::function<Expected<std::string>(const KernelSpec &, const SharedCodeObject &)> verify;
  /// Instead of a library: tests and processes that link the compiler.
  std::function<std::unique_ptr<KernelCompiler>()> create;

  /// WAVESMITH_JIT, WAVESMITH_COMPILER_LIBRARY and the compiler's directories.
  static Expected<JitOptions> fromEnvironment();
};

class JitProvider : public Provider {
public:
  explicit JitProvider(JitOptions options);
  std::string_view name() const override { return "jit"; }
  Expected<SharedCodeObject> get(const KernelSpec &spec) override;
  bool makes() const override { return options_.allowed; }
  bool canMake() override { return options_.allowed && compiler(); }
  /// Whether the compiler library has been opened.
  bool loaded() const;

private:
  Expected<KernelCompiler *> compiler();
  Expected<std::unique_ptr<KernelCompiler>> open() const;

  JitOptions options_;
  mutable std::mutex mutex_;
  bool tried_ = false;
  Status failure_;
  std::unique_ptr<KernelCompiler> compiler_;
};

/// Where the compiler library is looked for, in order.
std::vector<std::string> compilerLibraryCandidates();

} // namespace wavesmith
