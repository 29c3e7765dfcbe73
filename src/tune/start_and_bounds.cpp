#include "tune/start_and_bounds.hpp"

#include "yosida/solver/bounds.hpp"

namespace yosida {

Coordinates coordinates_of(const Method& method, const Solver& solver) {
  if (!solver.stays_in_row_space()) return Coordinates::features;
  return method.only_solves ? Coordinates::any : Coordinates::row_space;
}

Start judged_inside(const BilevelProblem& problem, const Start& start, const Method& method,
                    const Outcome& outcome) {
  if (start.is_bounded()) return start;
  const Vector& lambda = outcome.best.lambda;
  Start own = start;
  own.low = outcome.low;
  own.high = outcome.high;
  if (own.is_bounded()) return own;
  own.lambda = default_start(problem, method.lambda0);
  own = with_bounds(problem, own);
  const bool is_inside =
      (lambda.array() >= own.low.array()).all() && (lambda.array() <= own.high.array()).all();
  return is_inside ? own : start;
}

}  // namespace yosida
