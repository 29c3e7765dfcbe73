#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "response/tangent.hpp"
#include "solver/basin_search.hpp"

namespace yosida {

/// How exactly h is wanted at a λ.
struct Exactness {
  /// InnerOptions::blur: the inner solve may end at the weights of a λ so far away; 0 where it must be exact.
  double tau = 0.0;
  double tolerance = 0.0;  // InnerOptions::tolerance
  bool with_slope = true;
  /// The λ is one of many and need not be resolved: a rough slope will do, and not at any price.
  bool is_glance = false;
  std::int64_t most_gradients = std::numeric_limits<std::int64_t>::max();

  static Exactness exact();
  /// A rough solve, for the many points between the kinks of an ℓ₁ penalty.
  static Exactness glance();
  /// No finer than rounding allows, where next to no penalty leaves next to nothing to be blurred by.
  static Exactness blurred(double tau) { return {.tau = tau, .tolerance = 1e-11}; }
  static Exactness value_only(double tau, double tolerance) {
    return {.tau = tau, .tolerance = tolerance, .with_slope = false};
  }
  /// The value alone, exact, unless it takes more gradients than these.
  static Exactness exact_value(std::int64_t most_gradients);
  /// The same with so many gradients, whatever they tell.
  static Exactness look(double tau, double tolerance, std::int64_t most_gradients) {
    return {.tau = tau, .tolerance = tolerance, .with_slope = false, .most_gradients = most_gradients};
  }
};

/// The τ of the finest inexact solve.
inline constexpr double kLeastTau = 1e-5;

/// h and h′ at each λ of a problem that has them in closed form; BasinSearch::kUnresolved where they are not
/// finite.
std::vector<BasinSearch::Sample> closed_forms(const BilevelProblem& problem, std::span<const double> lambdas);

/// h(λ) = L_V(w*(λ)) of one hyperparameter. Each inner solve starts from what is known beside it.
class Curve {
 public:
  /// The first inner solve starts from w. All of them use the memory, which may be null.
  Curve(const BilevelProblem& problem, Vector w, std::shared_ptr<SolveMemory> memory);

  /// h(λ) and, where it is wanted, h′(λ). The value is BasinSearch::kUnresolved where the solve has not told
  /// h.
  BasinSearch::Sample evaluate(double lambda, const Exactness& wanted);
  /// w = the weights that the last evaluation at λ has found; false where it has found none.
  bool weights(double lambda, Vector& w) const;
  /// Whether the problem keeps what makes a finer solve at a λ it has been to a matter of a pass or two.
  bool has_memory() const { return memory_ != nullptr; }
  /// Solves so far that have not met their tolerances.
  std::int64_t inexact_solves() const { return inexact_solves_; }

 private:
  Tangent guess(double lambda) const;
  const Tangent* nearest(double lambda) const;
  const Tangent* behind(const Tangent& near, double lambda) const;
  const Tangent* across(double lambda, const Tangent& near) const;
  void add_slope(const Exactness& wanted, Tangent& point, BasinSearch::Sample& sample);

  const BilevelProblem& problem_;
  Vector start_;
  std::shared_ptr<SolveMemory> memory_;
  std::map<double, Tangent> visited_;
  Vector g_;  // ∇L_V
  std::int64_t inexact_solves_ = 0;
};

}  // namespace yosida
