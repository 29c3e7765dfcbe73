#include "solver/my_hpo_many.hpp"

#include <algorithm>
#include <cmath>

#include "solver/direct_term.hpp"

namespace yosida {
namespace {

/// With many hyperparameters a certificate of any one says little: tolerances start coarse and shrink by a
/// factor in each iteration, more where no step is left.
constexpr double kFirstTolerance = 5e-3;
constexpr double kFirstAdjointTolerance = 0.1;
constexpr double kShrink = 0.8;
constexpr double kSharper = 1e-2;
constexpr double kSharperAdjoint = 0.1;
/// Pairs that a step remembers.
constexpr std::size_t kMemory = 10;
/// A pair along which ∇h turns by no more than this, as a cosine, says nothing of the curvature.
constexpr double kLeastTurn = 1e-10;
/// The first step moves the steepest component by so much.
constexpr double kFirstMove = 2.0;
/// A step that is rejected is shortened by this factor; one is accepted where h falls by so large a share of
/// what its slope promises.
constexpr double kShorter = 0.35;
constexpr double kAcceptedShare = 1e-4;

}  // namespace

DescentOfMany::DescentOfMany(const BilevelProblem& problem, const MyHpo::Settings& settings,
                             const Start& range, std::shared_ptr<SolveMemory> memory)
    : Descent(problem, settings, range, kFirstTolerance, std::move(memory)),
      q_(Vector::Zero(problem.weights())),
      adjoint_tolerance_(problem.traits().factors_cheaply ? kFactoredTolerance : kFirstAdjointTolerance) {}

/// H q = ∇L_V;  ∇h = ∂L_V/∂λ − Cᵀq
void DescentOfMany::respond(Iterate& at) {
  if (!problem_
           .hessian_solve(at.w, at.lambda, g_, {.tolerance = adjoint_tolerance_, .memory = memory_.get()}, q_)
           .converged)
    ++at.inexact_solves;
  problem_.cross_product_transposed(at.w, at.lambda, q_, hypergradient_);
  hypergradient_ = -hypergradient_;
  add_direct_term(problem_, at.w, at.lambda, hypergradient_);
}

/// λ⁺ = λ + t d, projected on the bounds, with t shortened until h falls.
bool DescentOfMany::move(Iterate& at) {
  const Vector direction = descent_direction(at);
  const double furthest = direction.cwiseAbs().maxCoeff();
  if (!(furthest > 0.0)) return false;
  double t = std::min(1.0, kMaxMove / furthest);
  for (int rejection = 0; rejection < kMaxRejections; ++rejection, t *= kShorter) {
    Vector lambda = at.lambda + t * direction;
    range_.clamp(lambda);
    const Vector move = lambda - at.lambda;
    const double predicted = -hypergradient_.dot(move);
    if (!(predicted > 0.0)) return false;
    Vector w = at.w;
    const double validation = evaluate(lambda, w, at);
    if (!(validation_ - validation >= kAcceptedShare * predicted)) continue;
    const Vector before = hypergradient_;
    take(lambda, w, validation, at);
    respond(at);
    remember(move, hypergradient_ - before);
    return true;
  }
  if (pairs_.empty()) return false;
  pairs_.clear();  // once more, by the gradient alone
  return true;
}

/// Pairs from elsewhere may mislead: then they are forgotten.
Vector DescentOfMany::descent_direction(const Iterate& at) {
  Vector direction = quasi_newton_direction(at);
  if (direction.dot(hypergradient_) < 0.0) return direction;
  pairs_.clear();
  return quasi_newton_direction(at);
}

/// −(approximate inverse of d²h/dλ²) ∇h on the components that no bound holds, by the two loops of
/// limited-memory BFGS over the pairs (s, y).
Vector DescentOfMany::quasi_newton_direction(const Iterate& at) const {
  Vector direction = hypergradient_;
  for (Index j = 0; j < direction.size(); ++j)
    if (is_held(at, j)) direction[j] = 0.0;
  const Vector free = direction.cwiseAbs().cwiseSign();
  std::vector<double> alpha(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    const auto& [s, y] = pairs_[i];
    alpha[i] = s.dot(direction) / s.dot(y);
    direction -= alpha[i] * y;
  }
  if (pairs_.empty()) {
    direction *= kFirstMove / std::max(direction.cwiseAbs().maxCoeff(), 1e-300);
  } else {
    const auto& [s, y] = pairs_.back();
    direction *= s.dot(y) / y.squaredNorm();
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto& [s, y] = pairs_[i];
    direction += (alpha[i] - y.dot(direction) / s.dot(y)) * s;
  }
  return -direction.cwiseProduct(free);
}

void DescentOfMany::remember(const Vector& move, const Vector& turn) {
  if (!(move.dot(turn) > kLeastTurn * move.norm() * turn.norm())) return;
  if (pairs_.size() == kMemory) pairs_.erase(pairs_.begin());
  pairs_.emplace_back(move, turn);
}

/// All together: one inner solve, not one for each.
bool DescentOfMany::move_to_bounds(const Vector& scale, Iterate& at) {
  Vector lambda = at.lambda;
  for (Index j = 0; j < lambda.size(); ++j)
    if (creeps(j, scale)) lambda[j] = bound_downhill(j);
  return take_if_not_higher(lambda, at);
}

void DescentOfMany::tighten(double wanted, bool has_moved) {
  if (has_moved) {
    tolerance_ = std::max(kLeastTolerance, kShrink * tolerance_);
    adjoint_tolerance_ = std::max(kLeastTolerance, kShrink * adjoint_tolerance_);
  } else {
    tolerance_ = std::max(kLeastTolerance, kSharper * wanted);
    adjoint_tolerance_ *= kSharperAdjoint;
  }
}

}  // namespace yosida
