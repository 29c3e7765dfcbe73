#include "tune/model_problem.hpp"

#include "problem/collapsed_least_squares.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/problem/elastic_net_problem.hpp"

namespace yosida {

std::shared_ptr<const BilevelProblem> CollapseOnce::of(const std::shared_ptr<const LinearProblem>& problem,
                                                       const StopToken& stop) {
  std::call_once(once_, [&] { collapsed_ = yosida::collapsed(problem, stop); });
  return collapsed_;
}

std::shared_ptr<const BilevelProblem> ModelProblem::cheapest(double iterations, Coordinates coordinates,
                                                             const StopToken& stop) const {
  return linear && collapse_is_cheaper(*linear, iterations, coordinates) ? collapsed->of(linear, stop)
                                                                         : problem;
}

ModelProblem make_problem(Split split, const Prepared& data, const Penalty& penalty, bool intercept) {
  using Kind = ElasticNetProblem::Kind;
  const PenaltyForm form = data.model->penalty;
  if (form == PenaltyForm::l2) {
    auto linear = std::make_shared<const LinearProblem>(std::move(split), data.loss, intercept, penalty);
    return {.problem = linear, .split = &linear->split(), .linear = linear};
  }
  auto sparse = std::make_shared<const ElasticNetProblem>(
      std::move(split), data.loss, intercept, form == PenaltyForm::l1 ? Kind::lasso : Kind::elastic_net);
  return {.problem = sparse, .split = &sparse->split(), .linear = nullptr};
}

}  // namespace yosida
