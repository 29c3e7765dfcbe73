#pragma once

#include "solver/basin_search.hpp"
#include "yosida/solver/my_hpo.hpp"

namespace yosida {

/// The bounds of the search for one λ. Those given stay. The data's own move on while h is lowest there and
/// still falls: that no penalty is needed, or no weight, is said only where a smaller or a larger penalty has
/// been seen to change nothing.
class MovableBounds {
 public:
  /// w: the weights before anything is trained; `memory` as with_bounds takes it.
  MovableBounds(const BilevelProblem& problem, const Start& start, const Vector& w, SolveMemory* memory);

  const Start& range() const { return range_; }
  double low() const { return range_.low[0]; }
  double high() const { return range_.high[0]; }
  bool are_own() const { return are_own_; }
  /// L_V before anything is trained.
  double untrained_value() const { return untrained_value_; }

  /// Moves the bound at which the best sample lies, and the scan with it; false where there is no reason to.
  bool move(const BasinSearch::Sample& best, double spacing, BasinSearch& search);
  /// To be told when a scan is over. Below the old bound h may be rounding: the bound goes back up to where
  /// values and slopes last agreed.
  void scan_has_ended(BasinSearch& search);

 private:
  bool is_worth_moving(bool is_low, const BasinSearch::Sample& best) const;

  const BilevelProblem& problem_;
  bool are_own_;
  Start range_;
  double untrained_value_;                                         // L_V before anything is trained
  double value_at_low_ = std::numeric_limits<double>::infinity();  // h where the bound was before
  double value_at_high_ = std::numeric_limits<double>::infinity();
  int moves_ = 0;
  std::optional<double> moved_from_;  // where the lower bound was, while what lies below it is scanned
};

}  // namespace yosida
