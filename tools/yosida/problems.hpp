#pragma once

#include <memory>

#include "data_flags.hpp"
#include "penalty_flags.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida::cli {

/// A model on a split, with the penalty of the model.
struct ModelProblem {
  std::shared_ptr<const BilevelProblem> problem;
  const Split* split;                           // the problem's own
  std::shared_ptr<const LinearProblem> linear;  // the same where the penalty is ℓ₂ alone, else null

  /// In its cheapest form for so many iterations.
  std::shared_ptr<const BilevelProblem> cheapest(double iterations) const;
};
ModelProblem make_problem(Split split, const Prepared& data, const Penalty& penalty, bool intercept);

}  // namespace yosida::cli
