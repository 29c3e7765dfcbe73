#pragma once

#include <vector>

#include "yosida/data/split.hpp"

namespace yosida::bench {

/// The exact w*(c) of 1/2N ‖y − Xw‖² + c ‖w‖₁ + ridge ‖w‖² for every c, by following it from the c at which w
/// becomes 0 down: between two events (a weight enters or leaves) w is linear in c, so L_V is a quadratic in
/// c.
class LassoPath {
 public:
  LassoPath(const Split& split, bool intercept, double ridge);

  double validation(double c) const;
  /// Where weights enter and leave, falling.
  std::vector<double> events() const;
  double largest() const { return largest_; }
  /// The path could be followed down to here.
  double smallest() const { return segments_.empty() ? largest_ : segments_.back().end; }
  /// The path ends above what was asked for.
  bool is_broken() const { return is_broken_; }

 private:
  /// L_V = a + b t + c t² with t = begin − penalty.
  struct Segment {
    double begin, end;
    double a, b, c;
  };
  double largest_ = 0.0;
  double at_zero_ = 0.0;
  bool is_broken_ = false;
  std::vector<Segment> segments_;
};

}  // namespace yosida::bench
