#include "solver/my_hpo_many.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "solver/along_line.hpp"
#include "solver/box_quadratic.hpp"
#include "solver/direct_term.hpp"
#include "solver/exact_lines.hpp"
#include "solver/my_hpo_one.hpp"
#include "solver/stationarity.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

/// With at most so many hyperparameters the response Φ₁ is a matrix, one linear solve a column; with more
/// where one small factorisation serves all of these.
constexpr Index kMaxDense = 64;
constexpr Index kMaxDenseFactored = 300;
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
/// ρ, beside what makes its term as large as the model's own.
constexpr double kLeastRho = 1e-6;
/// Shares of a penalty nearer than this to 0 or 1 are not told from these.
constexpr double kLeastShare = 1e-9;
/// Pairs the limited-memory step remembers.
constexpr std::size_t kMemory = 10;
/// The ℓ₂ penalties of the lines of an elastic net, from the largest of its bounds to the least, and how much
/// coarser their scans are.
constexpr double kShares[] = {0.04, 0.1, 0.16, 0.24, 0.35, 0.6, 1.0};
constexpr double kCoarser = 3.0;
constexpr int kPointsAStep = 16;  // of a scan
/// How often the answer of an elastic net is looked at again along its penalties, and what a better one
/// gains.
constexpr int kMaxLineChecks = 4;
constexpr double kWorthwhile = 1e-6;
/// Its first step moves the steepest component by so much.
constexpr double kFirstMove = 2.0;

using State = MyHpo::State;

/// v = argmin L_T(·, λ) from the w given; returns L_V(v) and leaves ∇L_V in state.g.
double evaluate(const BilevelProblem& problem, State& state, const Vector& lambda, Vector& w) {
  const InnerReport inner =
      problem.inner_solve(lambda, {.proximal = {}, .tolerance = state.many.tolerance}, w);
  if (!inner.converged) ++state.inexact_solves;
  return problem.validation_gradient(w, lambda, state.g);
}

/// Φ₁ = −H⁻¹ C, ∇h = Φ₁ᵀ ∇L_V + ∂L_V/∂λ and the Gauss–Newton curvature Φ₁ᵀ ∇²L_V Φ₁.
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
  add_direct_term(problem, state.w, state.lambda, many.g);
  problem.validation_curvature(state.w, state.lambda, many.phi1, many.curvature);
  if (many.kappa.size() == 0) return;
  // Penalties e^λ on squares: ∇²_wλ L_T is linear in w, and of the second derivative of w* only what the data
  // term's third derivative would add is left out:  ∇L_Vᵀ ∂²w*/∂λ_i∂λ_j = −qᵀ(C_i Φ_j + C_j Φ_i) + δ_ij
  // ∂h/∂λ_i
  Vector q = Vector::Zero(problem.weights());
  problem.hessian_solve(state.w, state.lambda, state.g, {.tolerance = many.tolerance}, q);
  Eigen::MatrixXd turning(count, count);
  Vector along(count);
  for (Index j = 0; j < count; ++j) {
    problem.cross_product_transposed(many.phi1.col(j), state.lambda, q, along);
    turning.col(j) = along;
  }
  many.curvature -= turning + turning.transpose();
  many.curvature.diagonal() += many.g;
  // With one weight to each λ of a least-squares problem w* is affine in the share θ_j = 2e^λj (H⁻¹)_jj, all
  // other λ held. −C_jᵀΦ_j / C_jᵀw is that share, and a mean of those along w where a λ has several weights
  // or folds.
  for (Index j = 0; j < count; ++j) {
    const double pull = -right.col(j).dot(state.w);
    const double share = right.col(j).dot(many.phi1.col(j)) / pull;
    if (!(pull > 0.0) || !(share > kLeastShare && share < 1.0 - kLeastShare)) continue;
    many.kappa[j] = std::exp(state.lambda[j]) * (1.0 / share - 1.0);
  }
}

/// ∇h = ∂L_V/∂λ − Cᵀ q, H q = ∇L_V: one linear solve, however many hyperparameters.
void respond_by_adjoint(const BilevelProblem& problem, State& state) {
  auto& many = state.many;
  if (many.q.size() == 0) many.q = Vector::Zero(problem.weights());
  if (!problem.hessian_solve(state.w, state.lambda, state.g, {.tolerance = many.adjoint_tolerance}, many.q)
           .converged)
    ++state.inexact_solves;
  problem.cross_product_transposed(state.w, state.lambda, many.q, many.g);
  many.g = -many.g;
  add_direct_term(problem, state.w, state.lambda, many.g);
}

/// The same matrix with the sizes of its eigenvalues: where h curves down, a step is held back as much as
/// where it curves up. On the components given alone, so that those held by bounds do not disturb the others;
/// the rest is the identity, which no step feels.
Eigen::MatrixXd convex(const Eigen::MatrixXd& matrix, const std::vector<Index>& free) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
  const Eigen::MatrixXd part = matrix(free, free);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> parts(0.5 * (part + part.transpose()));
  const Vector sizes = parts.eigenvalues().cwiseAbs();
  const Vector values = sizes.cwiseMax(1e-12 * sizes.maxCoeff());
  result(free, free) = parts.eigenvectors() * values.asDiagonal() * parts.eigenvectors().transpose();
  return result;
}

/// The coordinates of a proximal step: the share θ = e^λ/(e^λ + κ) of a penalty beside the curvature κ it
/// works on, from 0 (no penalty) to 1 (no weight). h is smooth in θ at both ends, where it is flat in λ: a
/// step can reach a bound at once, and dh/dθ is the scaled hypergradient up to a factor of 4. Without a known
/// κ, λ itself.
struct Shares {
  const Vector& kappa;

  bool are_lambda() const { return kappa.size() == 0; }
  Vector of(const Vector& lambda) const {
    if (are_lambda()) return lambda;
    return (1.0 + (kappa.array().log() - lambda.array()).exp()).inverse();
  }
  /// dλ/dθ
  Vector rate(const Vector& lambda) const {
    if (are_lambda()) return Vector::Ones(lambda.size());
    const Eigen::ArrayXd ratio = (lambda.array() - kappa.array().log()).exp();
    return (1.0 + ratio).square() / ratio;
  }
  /// λ + the move in θ; what reaches a bound is there exactly.
  Vector moved(const Vector& lambda, const Vector& move, const Start& range) const {
    if (are_lambda()) return (lambda + move).cwiseMax(range.low).cwiseMin(range.high);
    const Vector theta = of(lambda);
    Vector next(lambda.size());
    for (Index j = 0; j < lambda.size(); ++j) {
      // θ/(1 − θ) without cancellation near 1
      const double ratio = (theta[j] + move[j]) / (1.0 / (1.0 + std::exp(lambda[j]) / kappa[j]) - move[j]);
      next[j] = move[j] == 0.0  ? lambda[j]
                : ratio > 0.0   ? std::clamp(std::log(kappa[j] * ratio), range.low[j], range.high[j])
                : move[j] > 0.0 ? range.high[j]
                                : range.low[j];
    }
    return next;
  }
};

/// The step to λ⁺ in θ, exactly: without the rounding of 1 − θ.
Vector difference(const Shares& shares, const Vector& from, const Vector& to) {
  if (shares.are_lambda()) return to - from;
  const Vector up = shares.of(to) - shares.of(from);
  const Vector mirrored = (1.0 + (from.array().exp() / shares.kappa.array())).inverse() -
                          (1.0 + (to.array().exp() / shares.kappa.array())).inverse();
  return (up.array().abs() < mirrored.array().abs()).select(up, mirrored);
}

/// λ⁺ = argmin of the model of h + ρ/2 (‖Φ₁(λ' − λ)‖² + ε‖λ' − λ‖²) inside the bounds, in shares θ; accepted
/// where L_V(w*(λ⁺)) falls; ρ follows the ratio of the actual to the predicted fall. The model has the slope
/// of h and what is known of its curvature.
bool proximal_step(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state) {
  auto& many = state.many;
  const Index count = state.lambda.size();
  const Shares shares{many.kappa};
  const Vector rate = shares.rate(state.lambda);
  const auto scaled = [&](const Eigen::MatrixXd& matrix) {
    return Eigen::MatrixXd(rate.asDiagonal() * matrix * rate.asDiagonal());
  };
  const Vector g = rate.cwiseProduct(many.g);
  Eigen::MatrixXd curvature = scaled(many.curvature);
  if (!shares.are_lambda())  // d²λ/dθ² = −(1 − 2θ) (dλ/dθ)²
    curvature.diagonal().array() -=
        (1.0 - 2.0 * shares.of(state.lambda).array()) * rate.array().square() * many.g.array();
  Vector low = difference(shares, state.lambda, state.range.low);
  Vector high = difference(shares, state.lambda, state.range.high);
  if (shares.are_lambda()) {
    low = low.cwiseMax(-kMaxMove);
    high = high.cwiseMin(kMaxMove);
  }
  std::vector<Index> free;
  for (Index j = 0; j < count; ++j) {
    if (is_held(state.range, state.lambda[j], many.g[j], j, many.validation)) {
      low[j] = high[j] = 0.0;
    } else {
      free.push_back(j);
    }
  }
  if (free.empty()) return false;
  const Eigen::MatrixXd model = convex(curvature, free);
  Eigen::MatrixXd prox = scaled(many.phi1.transpose() * many.phi1);
  // Where a weight is near 0 so is its column of Φ₁: the second term limits the step there.
  const double typical = std::max(prox.trace() / static_cast<double>(count), 1e-300);
  prox.diagonal().array() += settings.epsilon * typical;
  const double unit = model.diagonal()(free).sum() / std::max(prox.diagonal()(free).sum(), 1e-300);
  if (many.rho == 0.0) many.rho = unit;
  many.rho = std::max(many.rho, kLeastRho * unit);  // so that a few rejections shorten a step again
  Vector w(problem.weights());
  for (int rejection = 0; rejection < kMaxRejections; ++rejection) {
    const Vector move = minimise_in_box(g, model + many.rho * prox, low, high);
    const double predicted = -(g.dot(move) + 0.5 * move.dot(model * move));
    if (!(predicted > 0.0)) return false;
    const Vector lambda = shares.moved(state.lambda, move, state.range);
    // The tangent in θ starts the inner solve, unless it leads too far.
    w = state.w;
    if (rate.cwiseProduct(move).lpNorm<Eigen::Infinity>() <= kMaxMove)
      w += many.phi1 * rate.cwiseProduct(move);
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
    if (is_held(state.range, state.lambda[j], many.g[j], j, many.validation)) direction[j] = 0.0;
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
  problem.validation_gradient(state.w, state.lambda, state.g);
  respond(problem, state, dense);
  return moved;
}

}  // namespace

/// The lines along which λ is searched first, and the search along the last of them.
struct MyHpo::Lines {
  std::vector<std::unique_ptr<AlongLine>> left;
  State search;
  Start range;
  double coarser = 1.0;                                         // the scans' spacing
  double validation = std::numeric_limits<double>::infinity();  // the least so far
  bool is_better = false;                                       // a line has led below what was known
  bool was_converged = false;                                   // how the descent before had ended
};

namespace {

/// Where e^λ are penalties on squares, one λ for all; for an elastic net, its ℓ₁ penalty under a few ℓ₂ ones;
/// none for other problems.
std::shared_ptr<MyHpo::Lines> lines_of(const BilevelProblem& problem, const State& state) {
  const Index count = problem.hyperparameters();
  auto lines = std::make_shared<MyHpo::Lines>();
  lines->range = state.range;
  lines->range.lambda = Vector::Constant(1, state.range.lambda.mean());
  const std::optional<Bounds>& own = problem.traits().bounds;
  if (state.range.is_bounded() && !own) {
    lines->range.low = Vector::Constant(1, state.range.low.maxCoeff());
    lines->range.high = Vector::Constant(1, state.range.high.minCoeff());
    if (!(lines->range.low[0] < lines->range.high[0])) return nullptr;
    lines->range.clamp(lines->range.lambda);
  }
  if (own) {
    if (count != 2) return nullptr;
    lines->coarser = kCoarser;
    lines->range.lambda = state.range.lambda.head(1);
    lines->range.low = state.range.low.head(state.range.is_bounded() ? 1 : 0);
    lines->range.high = state.range.high.head(state.range.is_bounded() ? 1 : 0);
    for (const double share : kShares) {
      Vector origin(2);
      origin << 0.0, state.range.clamped(own->high[1] - share * (own->high[1] - own->low[1]), 1);
      lines->left.push_back(std::make_unique<AlongLine>(problem, origin, Vector::Unit(2, 0)));
    }
  } else if (problem.least_curvatures()) {
    lines->left.push_back(std::make_unique<AlongLine>(problem, Vector::Zero(count), Vector::Ones(count)));
  }
  if (lines->left.empty()) return nullptr;
  return lines;
}

/// One iteration of the search along a line. True where all lines are done: λ and w are then the best found.
bool step_lines(const MyHpo::Settings& settings, State& state) {
  MyHpo::Lines& lines = *state.lines;
  const AlongLine& line = *lines.left.back();
  MyHpo::Settings coarse = settings;
  coarse.spacing *= lines.coarser;
  if (!lines.search.search) lines.search = MyHpo{coarse}.init(line, lines.range);
  // Points of a scan are cheap beside an iteration of a descent.
  for (int point = 0; point < kPointsAStep; ++point) {
    const bool was_scanning = !lines.search.search || lines.search.search->scanning();
    step_one(line, coarse, lines.search);
    if (!was_scanning || !lines.search.search->scanning()) break;
  }
  state.inexact_solves += lines.search.inexact_solves;
  lines.search.inexact_solves = 0;
  const double validation = lines.search.search->best_value();
  const bool is_told = !lines.search.search->scanning();
  if (validation < lines.validation && is_told) {
    lines.validation = validation;
    lines.is_better = true;
    state.many.is_left = true;
    state.lambda = line.at(lines.search.lambda[0]);
    state.w = lines.search.w;
  }
  if (!lines.search.converged && !lines.search.stalled) return false;
  lines.left.pop_back();
  lines.search = {};
  return lines.left.empty();
}

/// An elastic net has narrow valleys: once more along its ℓ₁ penalty through the answer, finely, and along
/// its ℓ₂ one.
bool checks_along_line(const BilevelProblem& problem, State& state) {
  if (!problem.traits().bounds || state.lambda.size() != 2 || state.many.line_checks >= kMaxLineChecks)
    return false;
  const Index along = state.many.line_checks % 2;  // by turns
  ++state.many.line_checks;
  auto lines = std::make_shared<MyHpo::Lines>();
  lines->coarser = along == 0 ? 1.0 : kCoarser;
  lines->range = Start{.lambda = state.lambda.segment(along, 1),
                       .low = state.range.low.segment(along, 1),
                       .high = state.range.high.segment(along, 1)};
  lines->validation = state.many.validation * (1.0 - kWorthwhile);
  lines->was_converged = state.converged;
  Vector origin = state.lambda;
  origin[along] = 0.0;
  lines->left.push_back(std::make_unique<AlongLine>(problem, origin, Vector::Unit(2, along)));
  state.lines = std::move(lines);
  return true;
}

/// The start given is the other contestant.
void begin(const BilevelProblem& problem, State& state, bool dense, bool is_first) {
  auto& many = state.many;
  const int line_checks = many.line_checks;
  many = {};
  many.line_checks = line_checks;
  const Vector given = state.range.lambda;
  const bool has_own_bounds = !state.range.is_bounded();
  state.range = with_bounds(problem, state.range);
  if (has_own_bounds) {  // widened to hold what the lines have found
    state.range.low = state.range.low.cwiseMin(state.lambda);
    state.range.high = state.range.high.cwiseMax(state.lambda);
  }
  state.range.clamp(state.lambda);
  many.g = Vector::Zero(state.lambda.size());
  many.tolerance = problem.traits().factors_cheaply ? kExact : dense ? kFirstTolerance : kFirstInner;
  many.adjoint_tolerance = std::min(kFirstAdjoint, problem.traits().factors_cheaply ? kExact : 1.0);
  many.validation = evaluate(problem, state, state.lambda, state.w);
  if (is_first && given != state.lambda) {
    Vector w = state.w;
    const double validation = evaluate(problem, state, given, w);
    if (validation < many.validation) {
      state.lambda = given;
      state.w = w;
      many.validation = validation;
    }
    problem.validation_gradient(state.w, state.lambda, state.g);
  }
  state.low = state.range.low;
  state.high = state.range.high;
  if (const auto least = problem.least_curvatures(); least && least->allFinite() && least->minCoeff() > 0.0)
    many.kappa = *least;
  respond(problem, state, dense);
}

}  // namespace

namespace {

void descend(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state, bool dense) {
  auto& many = state.many;
  const bool moved = dense ? proximal_step(problem, settings, state) : limited_memory_step(problem, state);
  const double certificate =
      scaled_hypergradient(problem, state.range, state.w, state.lambda, many.g, many.validation);
  many.stalled = certificate < 0.9 * many.certificate ? 0 : many.stalled + 1;
  many.certificate = std::min(certificate, many.certificate);
  state.converged = certificate <= settings.tolerance;
  const bool finest = !moved && many.tolerance <= kLeastTolerance;
  if (!state.converged && (finest || ((many.at_rounding || !moved) && many.stalled >= kMaxStalled))) {
    // h may fall towards a bound too slowly to be seen: go there.
    if (many.snaps >= kMaxSnaps || !snap_to_bounds(problem, settings, state, dense)) state.stalled = true;
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

/// Two descents for an elastic net, from its lines and from the start given: the lower one is the answer.
void take_the_better(const BilevelProblem& problem, State& state, bool dense) {
  const bool is_second = state.first.validation < std::numeric_limits<double>::infinity();
  const MyHpo::Descent ended{.validation = state.many.validation,
                             .lambda = state.lambda,
                             .w = state.w,
                             .converged = state.converged};
  if (!is_second) {
    state.first = ended;
    state.lambda = state.range.lambda;
    state.range.clamp(state.lambda);
    state.converged = state.stalled = false;
    const int checks = state.many.line_checks;
    begin(problem, state, dense, false);
    state.many.line_checks = checks;
  } else if (state.first.validation <= ended.validation) {
    state.lambda = state.first.lambda;
    state.w = state.first.w;
    state.converged = state.first.converged;
    state.stalled = !state.converged;
  }
}

}  // namespace

void step_many(const BilevelProblem& problem, const MyHpo::Settings& settings, State& state) {
  const bool dense =
      state.lambda.size() <= (problem.traits().factors_cheaply ? kMaxDenseFactored : kMaxDense);
  const bool is_first = state.many.g.size() == 0;
  if (is_first && !state.lines && !state.exact) {
    state.exact = ExactLines::of(problem, state.range);
    if (!state.exact) state.lines = lines_of(problem, state);
  }
  if (is_first && state.exact && !state.exact->step(problem, state)) return;
  bool has_ended = false;
  if (state.lines) {
    if (!step_lines(settings, state)) return;
    const std::shared_ptr<MyHpo::Lines> done = std::move(state.lines);
    has_ended = !is_first && !done->is_better;  // as the descent had before
    if (has_ended) state.converged = done->was_converged;
    if (has_ended) state.stalled = !done->was_converged;
  }
  if (!has_ended) {
    if (state.many.g.size() == 0 || state.many.is_left) begin(problem, state, dense, is_first);
    descend(problem, settings, state, dense);
    if (!state.converged && !state.stalled) return;
  }
  if (checks_along_line(problem, state)) {
    state.converged = state.stalled = false;
  } else if (problem.traits().bounds && !state.exact) {
    take_the_better(problem, state, dense);
  }
}

}  // namespace yosida
