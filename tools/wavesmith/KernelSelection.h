#pragma once
// The flags that choose kernels by what they can do, for `wavesmith build`. One object a command;
// main thread.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith::cli {

class KernelSelection {
public:
  void declare(CLI::App &app);
  /// What the flags ask for, each kernel once; split attention brings its reducer.
  Expected<std::vector<KernelSpec>> specs() const;

private:
  std::string targets_, kernels_, rotation_, dtypes_, headDims_, causal_, lse_, splitKv_, scores_;
};

} // namespace wavesmith::cli
