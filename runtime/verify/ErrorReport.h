#pragma once
// How far a kernel's results are from the float64 reference, and whether that is good enough. NaN
// anywhere fails every comparison. Pure functions.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/verify/HostTensor.h"
#include "runtime/verify/Reference.h"

namespace wavesmith {

/// Rows that see fewer keys than this have bounds of their own: rounding errors of single weights
/// do not average there.
inline constexpr std::int64_t kManyKeys = 64;

/// Bounds on each row of each head.
struct RowBounds {
  double rel = 8e-3;    ///< ||error|| / ||reference||
  double maxRel = 2e-2; ///< max |error| / max |reference|
  double lseRel = 1e-5; ///< |error| / max(1, |lse|)
  double lseAbs = std::numeric_limits<double>::infinity();

  bool operator==(const RowBounds &) const = default;
};

/// What kernels keep on standard-normal inputs and the default scale. Derived in docs/testing.md.
struct AttentionTolerance {
  double outRelRms = 3e-3; ///< over everything
  double oneKey = 0.55;    ///< steps of out's type in rows that see one key only
  RowBounds manyKeys, fewKeys;

  static AttentionTolerance of(DType dtype);
  /// With what the problem's score functions add, and for as few rows as it has.
  static AttentionTolerance of(const AttentionProblem &problem);
};

struct RowPosition {
  std::int64_t sequence = -1, row = -1, head = -1; ///< row within the sequence
};

/// The largest errors among some rows and where they are.
struct RowErrors {
  double rel = 0, maxRel = 0, lseRel = 0, lseAbs = 0; ///< as in RowBounds
  RowPosition worstRel, worstMaxRel, worstLseRel, worstLseAbs;
};

struct ErrorReport {
  double outRelRms = 0;
  double outMaxAbs = 0;
  RowErrors manyKeys, fewKeys;
  /// The largest error in rows of a single key, whose out is its value, in steps of out's type at
  /// that value.
  double oneKeySteps = 0;
  RowPosition worstOneKey;
  std::int64_t rowsCompared = 0; ///< rows times heads that see keys
  std::int64_t rowsWithoutKeys = 0;
  std::int64_t wrongEmptyRows =
      0; ///< rows without keys whose out is not 0 or lse not -inf or the sink
  RowPosition firstWrongEmptyRow;
  std::vector<std::string> damage; ///< overwritten canaries, one sentence each

  RowErrors allRows() const; ///< the larger of both; NaN is larger than anything
  /// What is over its bound, worst place included, one line each; empty: all is well.
  std::vector<std::string> failures(const AttentionTolerance &tolerance) const;
};

/// Compares device results (out as the spec has it, float32 lse or null) and looks after the
/// canaries.
ErrorReport compareWithReference(const CheckedProblem &problem, const AttentionReference &reference,
                                 const HostTensor &out, const HostTensor *lse);

} // namespace wavesmith
