#pragma once

#include "solver/my_hpo_curve.hpp"
#include "yosida/solver/my_hpo.hpp"

namespace yosida {

/// h is known to rounding wherever it is evaluated: inner problems have a closed form or factor cheaply.
inline bool is_exact(const BilevelProblem& problem) {
  return problem.traits().has_closed_form || problem.traits().factors_cheaply;
}

/// h has kinks of an ℓ₁ penalty. Problems with one state their bounds, and that h has narrow features. Bounds
/// alone tell nothing: a network may have them as well, whose exact solves take thousands of gradients.
inline bool has_l1_kinks(const BilevelProblem& problem) {
  const ProblemTraits& traits = problem.traits();
  return traits.bounds.has_value() && traits.feature_width < ProblemTraits::kSmoothWidth;
}

/// The scan of the search for one λ: how near its points are to each other, how exactly h is told at each,
/// and when no more of them are needed.
class Scan {
 public:
  /// How far down a scan goes: until h has risen, where that is enough to go by, or until it is known to be
  /// level from there to the end.
  enum class Depth { usual, to_level };
  /// `columns_are_alike`: the features have one scale, so that h has one place to be low.
  Scan(const BilevelProblem& problem, const MyHpo::Settings& settings, Depth depth, bool columns_are_alike)
      : problem_(problem),
        settings_(settings),
        depth_(depth),
        columns_are_alike_(columns_are_alike),
        tells_between_(!problem.traits().has_closed_form && problem.traits().factors_cheaply &&
                       !(problem.traits().feature_width < ProblemTraits::kSmoothWidth)) {}

  /// The distance of the points.
  static double spacing(const BilevelProblem& problem, const MyHpo::Settings& settings,
                        Depth depth = Depth::usual);
  /// Below this λ a closed form has next to no penalty left in any direction: h moves along one exponential.
  static double plain_below(const BilevelProblem& problem);
  /// Leaves out what may turn out not to be needed. The scan looks at `start` all the same.
  void begin(BasinSearch& search, double start) const;
  /// The points of one iteration: one where it is dear, a few or all where they are not.
  void advance(Curve& curve, BasinSearch& search);
  /// Whether h is known down to the end of the range, each point by a solve that has told it.
  bool tells_all() const { return is_level_ || !has_unresolved_; }
  /// Whether h is level from the last point to there.
  bool is_level() const { return is_level_; }

 private:
  void add_closed_forms(BasinSearch& search) const;
  void add_exact_point(Curve& curve, BasinSearch& search);
  void add_inexact_point(Curve& curve, BasinSearch& search);
  BasinSearch::Sample coarse_sample(double lambda, Curve& curve, const BasinSearch& search);
  bool is_level_below(const BasinSearch::Sample& sample, double last, Curve& curve, BasinSearch& search);
  bool is_level_to_end(const BasinSearch::Sample& sample, Curve& curve, BasinSearch& search);
  bool are_level(double a, double b, const BasinSearch& search) const;
  bool only_overfits(const BasinSearch::Sample& sample, double last, const Curve& curve,
                     const BasinSearch& search);

  const BilevelProblem& problem_;
  MyHpo::Settings settings_;
  Depth depth_;
  bool columns_are_alike_;
  bool tells_between_;  // samples tell where nothing lies between them: h is smooth, and its slopes are known
  double last_ = std::numeric_limits<double>::quiet_NaN();  // the last value told
  bool is_coarse_useless_ = false;                          // coarse solves have stopped to tell h
  int rises_ = 0;                                           // values in a row, each above the one before
  int unresolved_ = 0;                                      // points in a row
  std::optional<BasinSearch::Sample> at_end_;               // of the range, exact
  int looks_at_end_ = 0;
  bool is_level_ = false;        // h, from the last point to the end of the range
  bool has_unresolved_ = false;  // points that have not told h
};

}  // namespace yosida
