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
  /// The least of a curve.
  struct Least {
    double value = std::numeric_limits<double>::infinity();
    double lambda = ExactCurve::kAll;  // λ₁
  };
  struct Line {
    std::shared_ptr<const ExactCurve> curve;
    ExactCurve::Point best;
  };
  /// The next λ₂ to look at, if any.
  std::optional<double> propose() const;
  /// Likewise on the way from the upper bound to the lower one.
  std::optional<double> propose_scan() const;
  std::optional<double> propose_finer() const;
  /// The λ₁ of the leasts on both sides of a λ₂, the smaller one.
  double first_near(double second) const;
  /// The curve at a λ₂, where its least is known to be about λ₁ = `near`: as far down as that takes.
  std::optional<Line> line_at(const BilevelProblem& problem, double second, double near) const;
  /// The least of a curve becomes the iterate.
  void take(double second, const Line& line, Iterate& at);
  bool step_down(const BilevelProblem& problem, Iterate& at);
  void conclude(const BilevelProblem& problem, Iterate& at) const;

  Start range_;
  std::map<double, Least> least_;  // by λ₂
  double lowest_ = std::numeric_limits<double>::infinity();
  std::optional<KinkedMinimum> bottom_;  // of the lowest valley, on the way down
};

}  // namespace yosida
