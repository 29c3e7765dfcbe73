#pragma once

#include <memory>
#include <mutex>

#include "yosida/problem/collapse.hpp"
#include "yosida/tune/prepare.hpp"

namespace yosida {

/// A problem collapsed when it is first asked for, and once for all who ask.
class CollapseOnce {
 public:
  std::shared_ptr<const BilevelProblem> of(const std::shared_ptr<const LinearProblem>& problem,
                                           const StopToken& stop);

 private:
  std::once_flag once_;
  std::shared_ptr<const BilevelProblem> collapsed_;
};

/// A model on a split, with the penalty of the model. Copies share the collapsed form.
struct ModelProblem {
  std::shared_ptr<const BilevelProblem> problem;
  const Split* split;                           // the problem's own
  std::shared_ptr<const LinearProblem> linear;  // the same where the penalty is ℓ₂ alone, else null
  std::shared_ptr<CollapseOnce> collapsed = std::make_shared<CollapseOnce>();

  /// In its cheapest form for so many iterations. Throws RunEnded where making it is stopped.
  std::shared_ptr<const BilevelProblem> cheapest(double iterations, Coordinates coordinates,
                                                 const StopToken& stop) const;
};
ModelProblem make_problem(Split split, const Prepared& data, const Penalty& penalty, bool intercept);

}  // namespace yosida
