#include "yosida/solver/saba.hpp"

#include "solver/single_loop.hpp"

namespace yosida {
namespace {

/// direction ← direction − that of this batch last time + the mean of those of all batches; both are renewed.
void correct(Vector& direction, Matrix& memory, Index batch, double share) {
  auto mean = memory.row(memory.rows() - 1).transpose();
  auto last = memory.row(batch).transpose();
  for (Index j = 0; j < direction.size(); ++j) {
    const double difference = direction[j] - last[j];
    last[j] = direction[j];
    direction[j] = difference + mean[j];
    mean[j] += share * difference;
  }
}

}  // namespace

const std::vector<Setting<Saba::Settings>>& Saba::table() {
  static const std::vector<Setting<Settings>> rows = single_loop::table<Settings>();
  return rows;
}

Saba::State Saba::init(const BilevelProblem& problem, const Start& start) const {
  State state;
  static_cast<SingleLoop::State&>(state) = single_loop::start(problem, start, settings, name);
  const auto room = [](Index size, Index batches) -> Matrix { return Matrix::Zero(batches + 1, size); };
  const Index train = state.draws.train_count();
  const Index validation = state.draws.validation_count();
  state.memory = {.train = room(problem.weights(), train),
                  .product = room(problem.weights(), train),
                  .cross = room(problem.hyperparameters(), train),
                  .validation = room(problem.weights(), validation),
                  .direct = room(problem.hyperparameters(), validation)};
  return state;
}

void Saba::step(const BilevelProblem& problem, State& state) const {
  const double alpha = step_or_inverse(settings.alpha, state.curvatures.train(problem, state.lambda));
  for (std::int64_t t = 0; t < single_loop::steps_of(settings, state); ++t) {
    // ∇L_T, Hu, Cᵀu on a batch of training rows, ∇L_V and ∂L_V/∂λ on one of validation rows
    const auto [train, validation] = single_loop::directions(problem, state);
    // each ← each − memory of the batch + mean of the memory
    correct(state.train, state.memory.train, train, state.draws.train_share(train));
    correct(state.product, state.memory.product, train, state.draws.train_share(train));
    correct(state.cross, state.memory.cross, train, state.draws.train_share(train));
    correct(state.validation, state.memory.validation, validation, state.draws.validation_share(validation));
    correct(state.direct, state.memory.direct, validation, state.draws.validation_share(validation));
    // w ← w − α∇L_T,  u ← u − α(Hu + ∇L_V),  λ ← P(λ − β(Cᵀu + ∂L_V/∂λ)),  all three from the old values
    single_loop::move(alpha, state.beta, state);
    if (state.status == SolverStatus::failed) return;
  }
}

}  // namespace yosida
