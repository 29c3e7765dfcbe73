#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "solver/kinked_minimum.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// The search of an elastic net whose problem knows h along λ₁ exactly: the least of each such curve is a
/// function m of λ₂ alone. It is looked at from the upper bound to the lower one, then finer in its valleys,
/// and the lowest of these is followed to its bottom, which is to rounding or the kink that it ends in.
class ExactLines {
 public:
  /// Null where the problem is none of two λ that knows such curves.
  static std::unique_ptr<ExactLines> of(const BilevelProblem& problem, const Start& range);

  /// One more curve; λ and w are those of the best so far. True where all are done: as converged, or still
  /// running where an inner solve does not say what the curves say.
  bool step(const BilevelProblem& problem, Iterate& at);
  /// How much of that is done: of the way to the lower bound, and of the finer looks that such a search
  /// takes.
  double share_done() const;

 private:
  explicit ExactLines(Start range) : range_(std::move(range)) {}
  /// The next λ₂ to look at, if any.
  bool propose(double& second) const;
  static std::shared_ptr<const ExactCurve> curve_at(const BilevelProblem& problem, double second);
  /// The least of a curve becomes the iterate.
  void take(double second, const ExactCurve& curve, const ExactCurve::Point& best, Iterate& at);
  bool step_down(const BilevelProblem& problem, Iterate& at);
  void conclude(const BilevelProblem& problem, Iterate& at) const;

  Start range_;
  std::map<double, double> least_;  // by λ₂, the least h along λ₁
  double lowest_ = std::numeric_limits<double>::infinity();
  std::optional<KinkedMinimum> bottom_;  // of the lowest valley, on the way down
};

}  // namespace yosida
