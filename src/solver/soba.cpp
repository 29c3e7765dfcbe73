#include "yosida/solver/soba.hpp"

#include "solver/single_loop.hpp"

namespace yosida {

const std::vector<Setting<Soba::Settings>>& Soba::table() {
  static const std::vector<Setting<Settings>> rows = [] {
    std::vector<Setting<Settings>> all = single_loop::table<Settings>();
    all.push_back(settings::real("decay", &Settings::decay, LowerLimit::non_negative(),
                                 "steps shrink as 1/(k + 1)^decay where batches are drawn",
                                 "the paper: steps of 1/√k"));
    return all;
  }();
  return rows;
}

Soba::State Soba::init(const BilevelProblem& problem, const Start& start) const {
  return single_loop::start(problem, start, settings, name);
}

void Soba::step(const BilevelProblem& problem, State& state) const {
  const double alpha = step_or_inverse(settings.alpha, state.curvatures.train(problem, state.lambda));
  for (std::int64_t t = 0; t < single_loop::steps_of(settings, state); ++t) {
    // ∇L_T, Hu, Cᵀu on a batch of training rows, ∇L_V and ∂L_V/∂λ on one of validation rows
    single_loop::directions(problem, state);
    // Deviation: steps shrink only where batches are drawn, for it is their noise that asks for it.
    const double shrunk =
        state.draws.is_whole() ? 1.0 : std::pow(static_cast<double>(++state.k), -settings.decay);
    // w ← w − a∇L_T,  u ← u − a(Hu + ∇L_V),  λ ← P(λ − b(Cᵀu + ∂L_V/∂λ)),  all three from the old values
    single_loop::move(alpha * shrunk, state.beta * shrunk, state);
    if (state.status == SolverStatus::failed) return;
  }
}

}  // namespace yosida
