#include "runtime/verify/ErrorReport.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/verify/Element16.h"

namespace wavesmith {
namespace {

/// Keeps the largest value and where it was; NaN counts as larger than anything.
void keepWorst(double value, const RowPosition &at, double &worst, RowPosition &where) {
  if (std::isnan(worst) || value <= worst)
    return;
  worst = value;
  where = at;
}

/// Between neighbours of a 16-bit type around a value.
double stepAt(DType type, double value) {
  const int exponent = value == 0 ? std::numeric_limits<int>::min() : std::ilogb(value);
  return type == DType::F16 ? std::ldexp(1, std::max(exponent, -14) - 10)
                            : std::ldexp(1, std::max(exponent, -126) - 7);
}

std::string nameOf(const RowPosition &at) {
  return fmt::format("sequence {} row {} head {}", at.sequence, at.row, at.head);
}

class Comparison {
public:
  Comparison(const CheckedProblem &problem, const AttentionReference &reference,
             const HostTensor &out, const HostTensor *lse)
      : problem_(problem.problem), type_(problem.spec.attention.outType()), reference_(reference),
        out_(out), lse_(lse) {}

  ErrorReport run() {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < problem_.lengths.size(); ++i) {
      for (std::int64_t row = 0; row < problem_.lengths[i].q; ++row)
        for (std::int64_t head = 0; head < problem_.heads; ++head)
          compare({static_cast<std::int64_t>(i), row, head}, begin + row);
      begin += problem_.lengths[i].q;
    }
    report_.outRelRms = squares_ > 0 ? std::sqrt(errors_ / squares_) : std::sqrt(errors_);
    if (const auto damage = out_.findDamage("out"))
      report_.damage.push_back(*damage);
    if (lse_)
      if (const auto damage = lse_->findDamage("lse"))
        report_.damage.push_back(*damage);
    return std::move(report_);
  }

private:
  void compare(const RowPosition &at, std::int64_t row) {
    const auto *out = out_.at<std::uint16_t>(row, at.head);
    const double *expected = reference_.outRow(row, at.head);
    if (reference_.seen[static_cast<std::size_t>(row)] == 0) {
      compareEmpty(at, row, out);
      return;
    }
    ++report_.rowsCompared;
    double error2 = 0, square2 = 0, errorMax = 0, expectedMax = 0;
    for (std::int64_t i = 0; i < reference_.dim; ++i) {
      const double error = std::abs(double{elementToFloat(type_, out[i])} - expected[i]);
      error2 += error * error;
      square2 += expected[i] * expected[i];
      if (!(error <= errorMax) && !std::isnan(errorMax))
        errorMax = error;
      expectedMax = std::max(expectedMax, std::abs(expected[i]));
    }
    if (reference_.seen[static_cast<std::size_t>(row)] == 1 && !problem_.sink)
      for (std::int64_t i = 0; i < reference_.dim; ++i)
        keepWorst(std::abs(double{elementToFloat(type_, out[i])} - expected[i]) /
                      stepAt(type_, expected[i]),
                  at, report_.oneKeySteps, report_.worstOneKey);
    errors_ += error2;
    squares_ += square2;
    RowPosition ignored;
    RowErrors &worst = reference_.seen[static_cast<std::size_t>(row)] < kManyKeys
                           ? report_.fewKeys
                           : report_.manyKeys;
    keepWorst(errorMax, at, report_.outMaxAbs, ignored);
    keepWorst(ratio(std::sqrt(error2), std::sqrt(square2)), at, worst.rel, worst.worstRel);
    keepWorst(ratio(errorMax, expectedMax), at, worst.maxRel, worst.worstMaxRel);
    if (lse_) {
      const double expectedLse = reference_.lseOf(row, at.head);
      const double error =
          std::abs(static_cast<double>(*lse_->at<float>(row, at.head)) - expectedLse);
      keepWorst(error, at, worst.lseAbs, worst.worstLseAbs);
      keepWorst(error / std::max(1.0, std::abs(expectedLse)), at, worst.lseRel, worst.worstLseRel);
    }
  }

  // +0 or -0 is the zero of the contract; anything else, NaN too, is not.
  void compareEmpty(const RowPosition &at, std::int64_t row, const std::uint16_t *out) {
    ++report_.rowsWithoutKeys;
    bool right = std::all_of(out, out + reference_.dim,
                             [](std::uint16_t bits) { return (bits & 0x7fff) == 0; });
    if (lse_) {
      const double made{*lse_->at<float>(row, at.head)}, wanted = reference_.lseOf(row, at.head);
      right = right && (made == wanted || (std::isnan(made) && std::isnan(wanted)));
    }
    if (right)
      return;
    if (report_.wrongEmptyRows++ == 0)
      report_.firstWrongEmptyRow = at;
  }

  static double ratio(double error, double reference) {
    if (error == 0)
      return 0;
    return reference > 0 ? error / reference : std::numeric_limits<double>::infinity();
  }

  const AttentionProblem &problem_;
  const DType type_; ///< of out
  const AttentionReference &reference_;
  const HostTensor &out_;
  const HostTensor *lse_;
  ErrorReport report_;
  double errors_ = 0, squares_ = 0;
};

} // namespace

ErrorReport compareWithReference(const CheckedProblem &problem, const AttentionReference &reference,
                                 const HostTensor &out, const HostTensor *lse) {
  return Comparison(problem, reference, out, lse).run();
}

AttentionTolerance AttentionTolerance::of(DType dtype) {
  AttentionTolerance tolerance;
  if (dtype == DType::F16) {
    // Weights and out have three bits more; sums and logarithms are float32 for both.
    constexpr double kFiner = 0x1p-3;
    tolerance.outRelRms *= kFiner;
    for (RowBounds *bounds : {&tolerance.manyKeys, &tolerance.fewKeys}) {
      bounds->rel *= kFiner;
      bounds->maxRel *= kFiner;
    }
  }
  if (dtype != DType::FP8)
    return tolerance;
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  return {.outRelRms = 3e-2,
          .manyKeys = {.rel = 6e-2, .maxRel = 1e-1, .lseRel = kUnbounded, .lseAbs = 2e-2},
          .fewKeys = {.rel = 1.5e-1, .maxRel = 2e-1, .lseRel = kUnbounded, .lseAbs = 6e-2}};
}

AttentionTolerance AttentionTolerance::of(const AttentionProblem &problem) {
  AttentionTolerance tolerance = of(problem.dtype);
  // Over one row the mean of squares is that row's error, which has the row's bound; over more of
  // them it nears its own.
  std::int64_t rows = 0;
  bool fewKeys = false;
  for (const SequenceLength &length : problem.lengths) {
    rows += length.q * problem.heads;
    fewKeys = fewKeys || (length.q > 0 && length.kv < kManyKeys);
  }
  const double row = fewKeys ? tolerance.fewKeys.rel : tolerance.manyKeys.rel;
  if (rows > 0)
    tolerance.outRelRms += (row - tolerance.outRelRms) / static_cast<double>(rows);
  // A capped score is off by up to cap * 2^-21, and so is the logarithm of a sum of its powers.
  if (problem.softCap)
    for (RowBounds *bounds : {&tolerance.manyKeys, &tolerance.fewKeys})
      bounds->lseRel += std::ldexp(*problem.softCap, -21);
  return tolerance;
}

RowErrors ErrorReport::allRows() const {
  RowErrors all = manyKeys;
  keepWorst(fewKeys.rel, fewKeys.worstRel, all.rel, all.worstRel);
  keepWorst(fewKeys.maxRel, fewKeys.worstMaxRel, all.maxRel, all.worstMaxRel);
  keepWorst(fewKeys.lseRel, fewKeys.worstLseRel, all.lseRel, all.worstLseRel);
  keepWorst(fewKeys.lseAbs, fewKeys.worstLseAbs, all.lseAbs, all.worstLseAbs);
  return all;
}

std::vector<std::string> ErrorReport::failures(const AttentionTolerance &tolerance) const {
  std::vector<std::string> lines;
  // Written so that NaN fails.
  const auto check = [&](std::string_view what, double value, double bound,
                         const RowPosition *where) {
    if (value <= bound)
      return;
    lines.push_back(fmt::format("{} is {:.3g}, at most {:.3g} is right{}", what, value, bound,
                                where ? ": " + nameOf(*where) : ""));
  };
  check("relative RMS error of out", outRelRms, tolerance.outRelRms, nullptr);
  const auto checkRows = [&](const RowErrors &errors, const RowBounds &bounds) {
    check("||error|| / ||row|| of out", errors.rel, bounds.rel, &errors.worstRel);
    check("max |error| / max |row| of out", errors.maxRel, bounds.maxRel, &errors.worstMaxRel);
    check("|error| / max(1, |lse|) of lse", errors.lseRel, bounds.lseRel, &errors.worstLseRel);
    // One line for NaN is enough.
    if (!std::isnan(errors.lseRel))
      check("|error| of lse", errors.lseAbs, bounds.lseAbs, &errors.worstLseAbs);
  };
  check("|error| of out in rows of one key, in steps of its type,", oneKeySteps, tolerance.oneKey,
        &worstOneKey);
  checkRows(manyKeys, tolerance.manyKeys);
  checkRows(fewKeys, tolerance.fewKeys);
  if (wrongEmptyRows > 0)
    lines.push_back(fmt::format(
        "{} of {} rows without keys are not out = 0 and lse = -inf (or the sink), first: {}",
        wrongEmptyRows, rowsWithoutKeys, nameOf(firstWrongEmptyRow)));
  lines.insert(lines.end(), damage.begin(), damage.end());
  return lines;
}

} // namespace wavesmith
