#include "tune/model_problem.hpp"

#include <chrono>

#include "yosida/problem/collapse.hpp"
#include "yosida/problem/elastic_net_problem.hpp"

namespace yosida {

std::shared_ptr<const BilevelProblem> Forms::of(const std::shared_ptr<const LinearProblem>& problem,
                                                Form form, const StopToken& stop) {
  using Clock = std::chrono::steady_clock;
  Made& made = made_[static_cast<std::size_t>(form)];
  std::call_once(made.once, [&] {
    const Clock::time_point begin = Clock::now();
    made.problem = in_form(problem, form, stop);
    made.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  });
  return made.problem;
}

std::shared_ptr<const BilevelProblem> ModelProblem::cheapest(double iterations, Coordinates coordinates,
                                                             const StopToken& stop) const {
  if (!linear) return problem;
  for (const FormCost& each : forms_of(*linear, iterations, coordinates))
    if (auto made = forms->of(linear, each.form, stop)) return made;
  return problem;
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
