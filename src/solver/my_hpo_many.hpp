#pragma once

#include <utility>
#include <vector>

#include "solver/my_hpo_descent.hpp"

namespace yosida {

/// The descent of many hyperparameters, by limited-memory quasi-Newton steps: one linear solve an iteration
/// gives ∇h, however many there are. No proximal step, but what can be afforded.
class DescentOfMany final : public Descent {
 public:
  DescentOfMany(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& range,
                std::shared_ptr<SolveMemory> memory);

 private:
  void respond(Iterate& at) override;
  bool move(Iterate& at) override;
  bool move_to_bounds(const Vector& scale, Iterate& at) override;
  void tighten(double wanted, bool has_moved) override;

  Vector descent_direction(const Iterate& at);
  Vector quasi_newton_direction(const Iterate& at) const;
  void remember(const Vector& move, const Vector& turn);

  Vector q_;                                      // H⁻¹∇L_V
  std::vector<std::pair<Vector, Vector>> pairs_;  // (Δλ, Δ∇h) of the last iterations
  double adjoint_tolerance_;                      // of the linear solve
};

}  // namespace yosida
