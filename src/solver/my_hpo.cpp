#include "yosida/solver/my_hpo.hpp"

#include "solver/my_hpo_one.hpp"
#include "solver/my_hpo_quick.hpp"
#include "solver/my_hpo_several.hpp"

namespace yosida {

const std::vector<Setting<MyHpo::Settings>>& MyHpo::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("tolerance", &Settings::tolerance, LowerLimit::positive(),
                     "stop when the scaled hypergradient is under it, relative to L_V", "ours"),
      settings::real("scan_tolerance", &Settings::scan_tolerance, LowerLimit::positive(),
                     "inner solves of the scan end at this share of the gradient at w = 0",
                     "ours: the coarsest at which basins keep their order"),
      settings::real("spacing", &Settings::spacing, LowerLimit::positive(),
                     "distance of the scan's points, in widths of the narrowest feature of h(λ)",
                     "ours: 1.9 units of λ for penalties on squares, 0.1 for the lasso"),
      settings::real("epsilon", &Settings::epsilon, LowerLimit::non_negative(),
                     "share of ‖λ' − λ‖² in the proximal term, for several hyperparameters",
                     "ours: without it a weight near 0 leaves its step unlimited"),
  };
  return rows;
}

MyHpo::State MyHpo::init(const BilevelProblem& problem, const Start& start) const {
  State state;
  state.start = start;
  state.lambda = start.lambda;
  state.w = starting_weights(problem);
  return state;
}

void MyHpo::step(const BilevelProblem& problem, State& state) const {
  // Not in init: what a search computes to begin with is work of the first step.
  if (!state.search) {
    if (problem.hyperparameters() == 1)
      state.search = search_for_one(problem, settings, state.start, state.w);
    else
      state.search = std::make_unique<SearchForSeveral>(problem, settings, state.start);
  }
  state.search->step(state);
}

}  // namespace yosida
