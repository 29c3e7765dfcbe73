#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/tune/tune_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// How far all λ together may move from the answer before the criterion has risen by one standard error.
struct ShiftInterval {
  double low = 0.0, high = 0.0;                  ///< of the common shift, low ≤ 0 ≤ high
  bool low_is_end = false, high_is_end = false;  ///< no rise was seen as far as was looked
};

/// The criterion where all λ are moved by a common shift.
struct CriterionPoint {
  double shift = 0.0, value = 0.0, standard_error = 0.0;
};

/// How sure an answer is. Rows are the units: each is judged by weights that have not seen it.
struct Trust {
  Index rows = 0;               ///< that judge
  std::string criterion;        ///< in words: "10-fold"
  double value = 0.0;           ///< the criterion at its least
  double standard_error = 0.0;  ///< of the mean over the rows
  Vector minimum;               ///< λ at the least criterion
  ShiftInterval interval;       ///< by the standard error
  /// By that of the difference between two λ, row by row: far smaller, as both see the same rows.
  ShiftInterval paired;
  double one_standard_error = 0.0;    ///< the shift of that rule: ≥ 0
  std::vector<CriterionPoint> curve;  ///< around the interval, by rising shift: what a picture shows
  std::string optimism;               ///< a warning where many λ meet few rows; else empty
};

/// The mean loss of rows that took no part in the tuning that it judges.
struct NestedScore {
  Index folds = 0, rows = 0;
  double loss = 0.0, standard_error = 0.0;
  Vector lambda_low, lambda_high;  ///< the least and the largest of each λ over the folds
};

/// The standard error of a mean over the rows, which have weights.
double standard_error_of(const RowLosses& rows);
/// Of the difference of two, row by row.
double paired_standard_error(const RowLosses& a, const RowLosses& b);

/// Looks at the criterion around λ, the minimiser of `problem`; w: its weights there, in the problem's
/// coordinates. Where λ has several components, all move together. Throws RunEnded where it is told to stop.
Trust look_around(const TuneProblem& tuned, const BilevelProblem& problem, const Vector& lambda, Vector w,
                  const StopToken& stop = {});

/// Repeats the whole tuning (pretreatment, λ, rule) on all but one of options.trust.nested folds of the rows
/// at a time, and judges it on the fold left out. Throws InputError where rows and options do not fit.
NestedScore nested_score(const Rows& rows, const TuneOptions& options);

/// The μ of TrustOptions::shrinkage for so many λ and rows, where nobody says: 0.01 where there are at least
/// 5 λ, more than a tenth of the rows that judge them, and these are fewer than 1000; else 0.
double default_shrinkage(Index lambdas, Index judging_rows);
/// A μ so large that all λ are one.
inline constexpr double kOneForAll = 1e6;
/// The μ of least nested loss among 0.003, 0.01, 0.03, 0.1 and kOneForAll.
double choose_shrinkage(const Rows& rows, const TuneOptions& options);

}  // namespace yosida
