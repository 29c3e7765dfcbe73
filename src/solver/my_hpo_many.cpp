#include "solver/my_hpo_many.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "solver/box_quadratic.hpp"
#include "solver/stationarity.hpp"

namespace yosida {
namespace {

/// With at most so many hyperparameters the response Φ₁ is a matrix, one linear solve a column.
constexpr Index kMaxDense = 64;
/// No component of λ moves further than this in one iteration: e^λ by a factor of 50.
constexpr double kMaxMove = 4.0;
constexpr int kMaxRejections = 12;
/// A validation loss is known to this share of itself.
constexpr double kRounding = 1e-14;
/// A rise of L_V by so little is none: inner solves leave more.
constexpr double kUnseen = 1e-11;
/// Iterations that rounding may keep from improving the certificate.
constexpr int kMaxStalled = 4;
constexpr int kMaxSnaps = 4;
/// Inner solves end at this share of the certificate reached, and never above the first.
constexpr double kForcing = 0.03;
constexpr double kFirstTolerance = 1e-3;
constexpr double kLeastTolerance = 1e-12;
constexpr double kExact = 1e-10;  // where a small Hessian is factored, that costs little more
/// With many hyperparameters a certificate of any one says little: their tolerances start coarse and shrink.
constexpr double kFirstInner = 5e-3;
constexpr double kFirstAdjoint = 0.1;
constexpr double kShrink = 0.8;
/// Pairs the limited-memory step remembers.
constexpr std::size_t kMemory = 10;
/// Its first step moves the steepest component by so much.
constexpr double kFirstMove = 2.0;

using State = MyHpo::State;

/// v = argmin L_T(·, λ) from the w given; returns L_V(v) and leaves ∇L_V in state.g.
double evaluate(const BilevelProblem& problem, State& state, const Vector& lambda, Vector& w) {
  const InnerReport inner =
      problem.inner_solve(lambda, {.proximal = {}, .tolerance = state.many.tolerance}, w);
  if (!inner.converged) ++state.inexact_solves;
  return problem.validation_gradient(w, state.g);
}

/// Φ₁ = −H⁻¹ C, ∇h = Φ₁ᵀ ∇L_V and the Gauss–Newton curvature Φ₁ᵀ ∇²L_V Φ₁.
void respond_by_matrix(const BilevelProblem& problem, State& state) {
  auto& many = state.many;
  const Index count = state.lambda.size();
  Matrix right(problem.weights(), count);
  Vector column(problem.weights());
  for (Index j = 0; j < count; ++j) {
    problem.cross_product(state.w, state.lambda, Vector::Unit(count, j), column);
    right.col(j) = -column;
  }
  if (many.phi1.size() == 0) many.phi1 = Matrix::Zero(problem.weights(), count);
  if (!problem.hessian_solve_many(state.w, state.lambda, right, {.tolerance = many.tolerance}, many.phi1)
           .converged)
    ++state.inexact_solves;
  many.g = many.phi1.transpose() * state.g;
  Matrix turned(problem.weights(), count);
  for (Index j = 0; j < count; ++j) {
    problem.validation_hessian_product(state.w, many.phi1.col(j), column);
    turned.col(j) = column;
  }
  many.gauss_newton = many.phi1.transpose() * turned;
}

/// ∇h = −Cᵀ q, H q = ∇L_V: one linear solve, however many hyperparameters.
void respond_by_adjoint(const BilevelProblem& problem, State& state) {
  auto& many = state.many;
  if (many.q.size() == 0) many.q = Vector::Zero(problem.weights());
  if (!problem.hessian_solve(state.w, state.lambda, state.g, {.tolerance = many.adjoint_tolerance}, many.q)
           .converged)
    ++state.inexact_solves;
  problem.cross_product_transposed(state.w, state.lambda, many.q, many.g);
  many.g = -many.g;
}

/// Rounding may have left a Gauss–Newton matrix with negative eigenvalues: they are cut off.
Eigen::MatrixXd convex(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> parts(0.5 * (matrix + matrix.transpose()));
  const Vector values = parts.eigenvalues().cwiseMax(1e-12 * parts.eigenvalues().cwiseAbs().maxCoeff());
  return parts.eigenvectors() * values.asDiagonal() * parts.eigenvectors().transpose();
}

/// λ⁺ = argmin L_V on the tangent + ρ/2 (‖Φ₁(λ' − λ)‖² + ε‖λ' − λ‖²) inside the bounds, accepted where
/// L_V(w*(λ⁺)) falls; ρ follows the ratio of the actual to the predicted fall.
bool proximal_step(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state) {
  auto& many = state.many;
  const Index count = state.lambda.size();
  const Eigen::MatrixXd model = convex(many.gauss_newton);
  Eigen::MatrixXd prox = many.phi1.transpose() * many.phi1;
  // Where a weight is near 0 so is its column of Φ₁: the second term limits the step there.
  const double typical = std::max(prox.trace() / static_cast<double>(count), 1e-300);
  prox.diagonal().array() += settings.epsilon * typical;
  if (many.rho == 0.0) many.rho = many.gauss_newton.trace() / std::max(prox.trace(), 1e-300);
  const Vector low = (state.range.low - state.lambda).cwiseMax(-kMaxMove);
  const Vector high = (state.range.high - state.lambda).cwiseMin(kMaxMove);
  Vector w(problem.weights());
  for (int rejection = 0; rejection < kMaxRejections; ++rejection) {
    const Vector move = minimise_in_box(many.g, model + many.rho * prox, low, high);
    const double predicted = -(many.g.dot(move) + 0.5 * move.dot(model * move));
    if (!(predicted > 0.0)) return false;
    const Vector lambda = (state.lambda + move).cwiseMax(state.range.low).cwiseMin(state.range.high);
    w = state.w + many.phi1 * move;  // the tangent starts the inner solve
    const double validation = evaluate(problem, state, lambda, w);
    // Near the optimum both falls drown in rounding; then the step is taken at its word, and the certificate
    // judges.
    const double slack = kRounding * std::abs(many.validation);
    many.at_rounding = predicted <= slack;
    const double ratio = (many.validation - validation + slack) / (predicted + slack);
    if (ratio > 0.75) {
      many.rho *= 0.1;
    } else if (!(ratio > 0.25)) {
      many.rho *= 4.0;
    }
    if (!(ratio > 1e-4)) continue;
    state.lambda = lambda;
    state.w = w;
    many.validation = validation;
    respond_by_matrix(problem, state);
    return true;
  }
  return false;
}

/// −(approximate inverse Hessian) g on the free components, by the pairs (s, y) of the last iterations.
Vector quasi_newton_direction(const State& state) {
  const auto& many = state.many;
  Vector direction = many.g;
  for (Index j = 0; j < direction.size(); ++j)
    if (is_held(state.range, state.lambda[j], many.g[j], j)) direction[j] = 0.0;
  const Vector free = direction.cwiseAbs().cwiseSign();
  std::vector<double> alpha(many.pairs.size());
  for (std::size_t i = many.pairs.size(); i-- > 0;) {
    const auto& [s, y] = many.pairs[i];
    alpha[i] = s.dot(direction) / s.dot(y);
    direction -= alpha[i] * y;
  }
  if (many.pairs.empty()) {
    direction *= kFirstMove / std::max(direction.cwiseAbs().maxCoeff(), 1e-300);
  } else {
    const auto& [s, y] = many.pairs.back();
    direction *= s.dot(y) / y.squaredNorm();
  }
  for (std::size_t i = 0; i < many.pairs.size(); ++i) {
    const auto& [s, y] = many.pairs[i];
    direction += (alpha[i] - y.dot(direction) / s.dot(y)) * s;
  }
  return -direction.cwiseProduct(free);
}

/// A projected limited-memory quasi-Newton step, halved until L_V(w*(λ⁺)) falls.
bool limited_memory_step(const BilevelProblem& problem, State& state) {
  auto& many = state.many;
  Vector direction = quasi_newton_direction(state);
  if (!(direction.dot(many.g) < 0.0)) {  // pairs from elsewhere mislead: forget them
    many.pairs.clear();
    direction = quasi_newton_direction(state);
  }
  const double furthest = direction.cwiseAbs().maxCoeff();
  if (!(furthest > 0.0)) return false;
  double step = std::min(1.0, kMaxMove / furthest);
  Vector w(problem.weights());
  for (int rejection = 0; rejection < kMaxRejections; ++rejection, step *= 0.35) {
    Vector lambda = state.lambda + step * direction;
    state.range.clamp(lambda);
    const Vector move = lambda - state.lambda;
    const double predicted = -many.g.dot(move);
    if (!(predicted > 0.0)) return false;
    w = state.w;
    const double validation = evaluate(problem, state, lambda, w);
    if (!(many.validation - validation >= 1e-4 * predicted)) continue;
    const Vector last = many.g;
    state.lambda = lambda;
    state.w = w;
    many.validation = validation;
    respond_by_adjoint(problem, state);
    const Vector y = many.g - last;
    if (move.dot(y) > 1e-10 * move.norm() * y.norm()) {
      if (many.pairs.size() == kMemory) many.pairs.erase(many.pairs.begin());
      many.pairs.emplace_back(move, y);
    }
    return true;
  }
  if (many.pairs.empty()) return false;
  many.pairs.clear();  // once more, by the gradient alone
  return true;
}

void respond(const BilevelProblem& problem, State& state, bool dense) {
  if (dense) {
    respond_by_matrix(problem, state);
  } else {
    respond_by_adjoint(problem, state);
  }
}

/// Moves each λ_j whose scaled slope is above the tolerance to the bound it falls to, where L_V does not
/// rise: one by one where there are few, together where there are many.
bool snap_to_bounds(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state,
                    bool dense) {
  auto& many = state.many;
  Vector scale(state.lambda.size());
  problem.certificate_scale(state.w, state.lambda, scale);
  bool moved = false;
  const auto take = [&](const Vector& lambda) {
    Vector w = state.w;
    const double validation = evaluate(problem, state, lambda, w);
    if (!(validation <= many.validation * (1.0 + kUnseen))) return;
    state.lambda = lambda;
    state.w = w;
    many.validation = validation;
    moved = true;
  };
  Vector together = state.lambda;
  for (Index j = 0; j < together.size(); ++j) {
    if (std::abs(many.g[j]) * scale[j] <= settings.tolerance * std::abs(many.validation)) continue;
    together[j] = many.g[j] > 0.0 ? state.range.low[j] : state.range.high[j];
    if (!dense) continue;
    Vector lambda = state.lambda;
    lambda[j] = together[j];
    take(lambda);
  }
  if (!dense) take(together);
  problem.validation_gradient(state.w, state.g);
  respond(problem, state, dense);
  return moved;
}

}  // namespace

void step_many(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state) {
  auto& many = state.many;
  const bool dense = state.lambda.size() <= kMaxDense;
  if (many.g.size() == 0) {
    many.g = Vector::Zero(state.lambda.size());
    many.tolerance = problem.factors_cheaply() ? kExact : dense ? kFirstTolerance : kFirstInner;
    many.adjoint_tolerance = std::min(kFirstAdjoint, problem.factors_cheaply() ? kExact : 1.0);
    many.validation = evaluate(problem, state, state.lambda, state.w);
    respond(problem, state, dense);
  }
  const bool moved = dense ? proximal_step(problem, settings, state) : limited_memory_step(problem, state);
  const double certificate =
      scaled_hypergradient(problem, state.range, state.w, state.lambda, many.g, many.validation);
  many.stalled = certificate < 0.9 * many.certificate ? 0 : many.stalled + 1;
  many.certificate = std::min(certificate, many.certificate);
  state.converged = certificate <= settings.tolerance;
  const bool finest = !moved && many.tolerance <= kLeastTolerance;
  if (!state.converged && (finest || ((many.at_rounding || !moved) && many.stalled >= kMaxStalled))) {
    // h may fall towards a bound too slowly to be seen: go there.
    if (many.snaps >= kMaxSnaps || !snap_to_bounds(problem, settings, state, dense))
      state.converged = state.at_precision = true;
    ++many.snaps;
    many.stalled = 0;
    return;
  }
  const double wanted = std::clamp(kForcing * certificate, kLeastTolerance, many.tolerance);
  // Where no step is left at this tolerance, a finer look may show one.
  if (!moved && !state.converged) {
    many.tolerance = std::max(kLeastTolerance, 1e-2 * wanted);
    many.validation = evaluate(problem, state, state.lambda, state.w);
    many.adjoint_tolerance *= 0.1;
    respond(problem, state, dense);
  } else if (dense) {
    many.tolerance = wanted;
  } else {
    many.tolerance = std::max(kLeastTolerance, kShrink * many.tolerance);
    many.adjoint_tolerance = std::max(kLeastTolerance, kShrink * many.adjoint_tolerance);
  }
}

}  // namespace yosida
