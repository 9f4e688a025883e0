#pragma once
// A batch whose sequences take the paths that a policy chooses: first a decision for each, then one
// launch list with a part that takes the inputs as they are and an FP8 part, each over its own
// sequences, into the same out and lse. Pure functions; values.

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/dispatch/AttentionPlan.h"
#include "runtime/dispatch/LaunchList.h"
#include "runtime/dispatch/QuantizedPlan.h"
#include "runtime/dispatch/policy/Policy.h"

namespace wavesmith {

struct DispatchRequest {
  /// Of the tensors as they are: never FP8. sharedDescales says which scales of the FP8 path are
  /// for all heads.
  AttentionProblem problem;
  /// How the FP8 path quantises; none: there are no scales, and so no FP8 path.
  std::optional<Quantization> quantization;
  bool fp8Context = false; ///< the caller's consent to FP8 over cached context
  /// The path of every sequence, whatever the policy says; FP8 still needs a kernel and scales.
  std::optional<policy::Path> path;
};

/// As pathName() of a policy, but Path::Bf16, which takes 16-bit inputs as they are, is named after
/// these: "bf16" or "f16".
std::string_view pathName(policy::Path path, DType inputs);

struct Decisions {
  DType inputs = DType::BF16;
  struct Choice {
    policy::Values values;
    policy::Decision decision;
    std::vector<std::size_t> sequences; ///< that it is of, rising
  };
  std::vector<Choice> choices; ///< one for each pair of lengths, in the order of the batch

  /// The sequences of a path, rising.
  std::vector<std::size_t> of(policy::Path path) const;
};

Expected<Decisions> decideSequences(const DispatchRequest &request, const policy::Policy &policy,
                                    const policy::Crossovers &crossovers = {});

struct DispatchPlan {
  std::optional<AttentionPlan> plain; ///< none when no sequence takes the path
  std::optional<QuantizedPlan> fp8;   ///< likewise
  /// Of plain, then of fp8, whose workspace begins at this offset of the list's.
  std::uint64_t fp8Workspace = 0;

  LaunchList list() const;
};

/// A refused sequence is an error that names it and the reason. options.sequences has no say here.
/// The decisions may be those of other lengths: a context pass settles them for all its parts.
/// `work` is of the FP8 path; with QuantizedWork::Queries there is no other.
Expected<DispatchPlan> planDispatch(const DispatchRequest &request, const Decisions &decisions,
                                    const PlanOptions &options = {},
                                    QuantizedWork work = QuantizedWork::All);

} // namespace wavesmith
