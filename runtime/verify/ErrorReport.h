#pragma once
// How far a kernel's results are from the float64 reference, and whether that is good enough. NaN
// anywhere fails every comparison. Pure functions.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/verify/HostTensor.h"
#include "runtime/verify/Reference.h"

namespace wavesmith {

/// Bounds for bf16 kernels on standard-normal inputs. out is rounded to bf16 (relative 2^-9 a
/// value) after P was (another 2^-9, averaged over the keys); lse comes from float32 sums.
struct AttentionTolerance {
  double outRelRms = 3e-3;    ///< over everything
  double outRowRel = 8e-3;    ///< ||error|| / ||reference|| of any row and head
  double outRowMaxRel = 2e-2; ///< max |error| / max |reference| of any row and head
  double lseRel = 1e-5;       ///< |error| / max(1, |lse|)
};

struct RowPosition {
  std::int64_t sequence = -1, row = -1, head = -1; ///< row within the sequence
};

struct ErrorReport {
  double outRelRms = 0;
  double outRowRelMax = 0;
  double outRowMaxRel = 0;
  double outMaxAbs = 0;
  double lseMaxAbs = 0;
  double lseRelMax = 0;
  RowPosition worstRowRel, worstRowMax, worstLse; ///< where the maxima are
  std::int64_t rowsCompared = 0;                  ///< rows times heads that see keys
  std::int64_t rowsWithoutKeys = 0;
  std::int64_t wrongEmptyRows = 0; ///< rows without keys whose out is not 0 or lse not -inf
  RowPosition firstWrongEmptyRow;
  std::vector<std::string> damage; ///< overwritten canaries, one sentence each

  /// What is over its bound, worst place included, one line each; empty: all is well.
  std::vector<std::string> failures(const AttentionTolerance &tolerance) const;
};

/// Compares device results (bf16 out, float32 lse or null) and looks after the canaries.
ErrorReport compareWithReference(const CheckedProblem &problem, const AttentionReference &reference,
                                 const HostTensor &out, const HostTensor *lse);

} // namespace wavesmith
