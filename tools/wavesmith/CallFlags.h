#pragma once
// The flags that describe an attention call, for every subcommand that takes one: shapes, masks,
// splits, quantisation, inputs. One object a command; main thread.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "runtime/session/Session.h"
#include "runtime/support/Status.h"

namespace wavesmith::cli {

/// Those of the score functions.
class ScoreFlags {
public:
  void declare(CLI::App &app);
  Status put(AttentionProblem &problem) const;

private:
  std::string window_, softCap_;
  bool sink_ = false;
};

class CallFlags {
public:
  /// `needsTarget`: else request() is told what the target is where the flag is not given.
  void declare(CLI::App &app, bool needsTarget = true);

  bool hasTarget() const { return !target_.empty(); }
  /// The call, checked, with defaults for what other flags say.
  Expected<RunRequest> request(const std::string &target = "") const;

private:
  Expected<std::vector<SequenceLength>> lengths() const;
  Status quantization(RunRequest &request) const;

  std::string target_, dtype_, headDim_, heads_, kvHeads_, qLen_, kvLen_, lens_, splits_, quantize_,
      input_, rotate_, distribution_;
  ScoreFlags scores_;
  bool causal_ = false;
};

} // namespace wavesmith::cli
