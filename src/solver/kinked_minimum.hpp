#pragma once

#include <optional>

namespace yosida {

/// A minimum of a function that is smooth between kinks, from an interval and a point in it that is no higher
/// than the ends: to rounding where the function is smooth there, else the kink. It knows nothing of bi-level
/// problems: it proposes, the caller evaluates.
class KinkedMinimum {
 public:
  /// What is known at one point; the slopes on both sides differ at a kink.
  struct Sample {
    double x;
    double value;
    double slope_below, slope_above;
  };

  KinkedMinimum(double low, double first, double high);

  /// The next point to evaluate; nothing where the minimum has been found, or patience is at its end.
  std::optional<double> propose() const;
  void add(const Sample& sample);

 private:
  /// An end of the interval; its slope is the one into it.
  struct End {
    double x;
    double value = 0.0;
    std::optional<double> slope = {};
  };

  double first_;
  End low_, high_;  // the function falls from the one and rises to the other
  int looks_ = 0;
  bool is_found_ = false;
};

}  // namespace yosida
