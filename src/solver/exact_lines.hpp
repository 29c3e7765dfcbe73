#pragma once

#include <map>
#include <memory>

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// The search of an elastic net whose problem knows h along λ₁ exactly: the least of each such curve is a
/// function of λ₂ alone, which is looked at from the upper bound to the lower one, then finer in its valleys.
class ExactLines {
 public:
  /// Null where the problem is none of two λ that knows such curves.
  static std::unique_ptr<ExactLines> of(const BilevelProblem& problem, const Start& range);

  /// One more curve; its λ and w are those of the best so far. True where all are done.
  bool step(const BilevelProblem& problem, Iterate& at);
  /// How much of that is done: of the way to the lower bound, and of the finer looks that such a search
  /// takes.
  double share_done() const;

 private:
  explicit ExactLines(Start range) : range_(std::move(range)) {}
  /// The next λ₂ to look at, if any.
  bool propose(double& second) const;

  Start range_;
  std::map<double, double> least_;  // by λ₂, the least h along λ₁
};

}  // namespace yosida
