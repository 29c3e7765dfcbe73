#include "tune/model_problem.hpp"

#include <chrono>

#include "problem/gram_least_squares.hpp"
#include "yosida/problem/cleaning_problem.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/problem/sparse_problem.hpp"

namespace yosida {

std::shared_ptr<const BilevelProblem> Forms::of(const std::shared_ptr<const LinearProblem>& problem,
                                                Form form, SharedRows* all, const StopToken& stop) {
  using Clock = std::chrono::steady_clock;
  Made& made = made_[static_cast<std::size_t>(form)];
  std::call_once(made.once, [&] {
    const Clock::time_point begin = Clock::now();
    const auto gram = form == Form::products && all != nullptr ? all->gram(problem->split(), stop) : nullptr;
    made.problem = gram ? GramLeastSquares::of(problem, stop, gram.get()) : in_form(problem, form, stop);
    made.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  });
  return made.problem;
}

std::shared_ptr<const BilevelProblem> ModelProblem::cheapest(double iterations, Coordinates coordinates,
                                                             const StopToken& stop) const {
  if (!linear) return problem;
  for (const FormCost& each : forms_of(*linear, iterations, coordinates))
    if (auto made = forms->of(linear, each.form, all.get(), stop)) return made;
  return problem;
}

ModelProblem make_problem(Split split, const Prepared& data, const NamedPenalty& penalty, bool intercept,
                          std::shared_ptr<SharedRows> all) {
  if (penalty.fixed) {
    auto cleaning =
        std::make_shared<const CleaningProblem>(std::move(split), data.loss, intercept, *penalty.fixed);
    return {.problem = cleaning, .split = &cleaning->split(), .linear = nullptr, .all = nullptr};
  }
  if (penalty.sparse) {
    auto sparse =
        std::make_shared<const SparseProblem>(std::move(split), data.loss, intercept, *penalty.sparse, all);
    return {.problem = sparse, .split = &sparse->split(), .linear = nullptr, .all = std::move(all)};
  }
  auto linear =
      std::make_shared<const LinearProblem>(std::move(split), data.loss, intercept, penalty.penalty);
  return {.problem = linear, .split = &linear->split(), .linear = linear, .all = std::move(all)};
}

}  // namespace yosida
