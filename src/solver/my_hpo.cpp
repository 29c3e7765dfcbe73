#include "yosida/solver/my_hpo.hpp"

#include "solver/my_hpo_many.hpp"
#include "solver/my_hpo_one.hpp"

namespace yosida {

const std::vector<Setting<MyHpo::Settings>>& MyHpo::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("tolerance", &Settings::tolerance, Bound::positive(),
                     "stop when the scaled hypergradient is under it, relative to L_V", "ours"),
      settings::real("scan_tolerance", &Settings::scan_tolerance, Bound::positive(),
                     "inner solves of the scan end at this share of the gradient at w = 0",
                     "ours: the coarsest at which basins keep their order"),
      settings::real("spacing", &Settings::spacing, Bound::positive(),
                     "distance of the scan's points, in widths of the narrowest feature of h(λ)",
                     "ours: 1.9 units of λ for penalties on squares, 0.1 for the lasso"),
      settings::real("epsilon", &Settings::epsilon, Bound::non_negative(),
                     "share of ‖λ' − λ‖² in the proximal term, for several hyperparameters",
                     "ours: without it a weight near 0 leaves its step unlimited"),
  };
  return rows;
}

MyHpo::State MyHpo::init(const BilevelProblem& problem, const Start& start) const {
  State state;
  state.range = start;
  state.lambda = start.lambda;
  state.g = Vector::Zero(problem.weights());
  state.w = starting_weights(problem);
  return state;
}

void MyHpo::step(const BilevelProblem& problem, State& state) const {
  if (problem.hyperparameters() == 1) {
    step_one(problem, settings, state);
  } else {
    step_many(problem, settings, state);
  }
}

}  // namespace yosida
