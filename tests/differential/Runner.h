#pragma once
// Runs programs on the emulator and on the host and says where they differ.

#include <map>
#include <memory>
#include <span>

#include "emulator/Emulator.h"
#include "tests/differential/Program.h"
#include "tests/differential/Toolchain.h"

namespace wavesmith::differential {

struct Verdict {
  enum class Kind : std::uint8_t {
    Same,
    Different,   ///< a result or a shared counter
    Fault,       ///< a check of the emulator fired
    NotCompiled, ///< or not loaded
  };
  Kind kind = Kind::Same;
  std::string text;
};
std::string_view name(Verdict::Kind kind);

/// One way of compiling and running.
struct Configuration {
  std::string target = "gfx942";
  std::string level = "O2";
  std::vector<std::string> orders = {"default"};
};

class Runner {
public:
  explicit Runner(Toolchain toolchain) : toolchain_(std::move(toolchain)) {}

  /// The programs share one compilation on each side; verdicts in their order, the first order that
  /// does not give `Same` counts. What the target lacks is not run and `Same`.
  std::vector<Verdict> run(std::span<const Program> programs, const Configuration &configuration);

  /// How often instructions were executed, by mnemonic.
  const std::map<std::string, std::uint64_t> &coverage() const { return coverage_; }
  std::uint64_t runs() const { return runs_; } ///< programs executed, each order counted

private:
  struct Results;
  Expected<Results> runOnHost(const HostLibrary &library, const Program &program) const;
  Verdict runOnDevice(emulator::Device &device, const emulator::Module &module,
                      const Program &program, const Results &expected, const std::string &order);

  Toolchain toolchain_;
  std::map<std::string, std::uint64_t> coverage_;
  std::uint64_t runs_ = 0;
  /// The host's side of the last batch: the levels of optimisation share it.
  std::string hostSource_;
  std::unique_ptr<HostLibrary> host_;
};

/// The text of a compilation of these programs.
std::string sourceOf(std::span<const Program> programs);

} // namespace wavesmith::differential
