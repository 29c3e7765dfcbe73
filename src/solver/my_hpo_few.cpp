#include "solver/my_hpo_few.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "solver/box_quadratic.hpp"
#include "solver/direct_term.hpp"
#include "solver/my_hpo_scan.hpp"
#include "solver/penalty_shares.hpp"

namespace yosida {
namespace {

/// Tolerance of the first inner solves. Later ones follow the certificate.
constexpr double kFirstTolerance = 1e-3;
/// Where no step is left, tolerances fall by this factor: less would not show anything new.
constexpr double kSharper = 1e-2;
/// A validation loss is known to this share of itself.
constexpr double kRounding = 1e-14;
/// Shares of a penalty nearer than this to 0 or 1 are not told from these.
constexpr double kLeastShare = 1e-9;
/// Eigenvalues of the model are no smaller than this share of the largest, so that it has one minimum.
constexpr double kLeastCurvature = 1e-12;
/// ρ is never below this share of what makes its term as large as the model's own: a few rejections then
/// shorten a step again.
constexpr double kLeastRho = 1e-6;
/// What becomes of ρ and of a step, by the ratio of its actual to its predicted fall.
constexpr double kGoodRatio = 0.75, kTrustMore = 0.1;
constexpr double kPoorRatio = 0.25, kTrustLess = 4.0;
constexpr double kAcceptedRatio = 1e-4;
/// Where the ratio is above this the model is as poor as where it is below kGoodRatio.
constexpr double kTooGoodRatio = 1.25;
/// What a step has shown of the curvature beyond the model is learnt where no λ has moved further than this,
/// and where the step is no more nearly orthogonal to it than this, as a cosine.
constexpr double kMostLearnt = 1.0;
constexpr double kLeastLearnt = 1e-8;
/// What sums are divided by where they may be 0.
constexpr double kTiny = 1e-300;

/// The same matrix with the sizes of its eigenvalues: where h curves down, a step is held back as much as
/// where it curves up. On the components given alone, so that those held by bounds do not disturb the others;
/// the rest is the identity, which no step feels.
Eigen::MatrixXd convex(const Eigen::MatrixXd& matrix, const std::vector<Index>& free) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
  const Eigen::MatrixXd part = matrix(free, free);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> parts(0.5 * (part + part.transpose()));
  const Vector sizes = parts.eigenvalues().cwiseAbs();
  const Vector values = sizes.cwiseMax(kLeastCurvature * sizes.maxCoeff());
  result(free, free) = parts.eigenvectors() * values.asDiagonal() * parts.eigenvectors().transpose();
  return result;
}

}  // namespace

DescentOfFew::DescentOfFew(const BilevelProblem& problem, const MyHpo::Settings& settings, const Start& range,
                           std::shared_ptr<SolveMemory> memory)
    : Descent(problem, settings, range, kFirstTolerance, std::move(memory)),
      phi1_(Matrix::Zero(problem.weights(), problem.hyperparameters())),
      q_(Vector::Zero(problem.weights())) {
  if (const auto least = problem.least_curvatures(); least && least->allFinite() && least->minCoeff() > 0.0)
    kappa_ = *least;
}

/// Φ₁ = −H⁻¹C;  ∇h = Φ₁ᵀ∇L_V + ∂L_V/∂λ;  B = Φ₁ᵀ∇²L_VΦ₁, and what w* itself adds
void DescentOfFew::respond(Iterate& at) {
  const Matrix negative_c = negative_cross_products(at);
  solve_for_response(negative_c, at);
  hypergradient_ = phi1_.transpose() * g_;
  add_direct_term(problem_, at.w, at.lambda, hypergradient_);
  problem_.validation_curvature(at.w, at.lambda, phi1_, curvature_);
  if (kappa_.size() == 0) return;
  add_curvature_of_response(at);
  measure_shares(negative_c, at);
}

/// H [Φ₁ q] = [−C ∇L_V]: one factorisation serves both. q is wanted for the curvature of w* alone.
void DescentOfFew::solve_for_response(const Matrix& negative_c, Iterate& at) {
  const Index count = at.lambda.size();
  const bool with_adjoint = kappa_.size() > 0;
  Matrix right(problem_.weights(), count + (with_adjoint ? 1 : 0)), left(right.rows(), right.cols());
  right.leftCols(count) = negative_c;
  left.leftCols(count) = phi1_;
  if (with_adjoint) {
    right.col(count) = g_;
    left.col(count) = q_;
  }
  if (!problem_
           .hessian_solve_many(at.w, at.lambda, right, {.tolerance = tolerance_, .memory = memory_.get()},
                               left)
           .converged)
    ++at.inexact_solves;
  phi1_ = left.leftCols(count);
  if (with_adjoint) q_ = left.col(count);
}

/// −C, column by column.
Matrix DescentOfFew::negative_cross_products(const Iterate& at) const {
  const Index count = at.lambda.size();
  Matrix negative_c(problem_.weights(), count);
  Vector column(problem_.weights());
  for (Index j = 0; j < count; ++j) {
    problem_.cross_product(at.w, at.lambda, Vector::Unit(count, j), column);
    negative_c.col(j) = -column;
  }
  return negative_c;
}

/// For penalties e^λ on squares ∇²_wλ L_T is linear in w, and of the second derivative of w* only what the
/// data term's third derivative would add is left out:
///   ∇L_Vᵀ ∂²w*/∂λ_i∂λ_j = −qᵀ(C'_i Φ_j + C'_j Φ_i) + δ_ij ∂h/∂λ_i,   H q = ∇L_V
void DescentOfFew::add_curvature_of_response(const Iterate& at) {
  const Index count = at.lambda.size();
  Eigen::MatrixXd turning(count, count);  // qᵀC'_i Φ_j
  Vector along(count);
  for (Index j = 0; j < count; ++j) {
    problem_.cross_product_transposed(phi1_.col(j), at.lambda, q_, along);
    turning.col(j) = along;
  }
  curvature_ -= turning + turning.transpose();
  curvature_.diagonal() += hypergradient_;
}

/// κ_j from the share θ_j = −C_jᵀΦ_j / C_jᵀw of its penalty. With one weight to each λ of a least-squares
/// problem that is 2e^λj (H⁻¹)_jj, in which w* is affine, all other λ held; where a λ has several weights or
/// folds it is a mean of theirs along w.
void DescentOfFew::measure_shares(const Matrix& negative_c, const Iterate& at) {
  for (Index j = 0; j < at.lambda.size(); ++j) {
    const double pull = -negative_c.col(j).dot(at.w);
    const double share = negative_c.col(j).dot(phi1_.col(j)) / pull;
    if (!(pull > 0.0) || !(share > kLeastShare && share < 1.0 - kLeastShare)) continue;
    kappa_[j] = std::exp(at.lambda[j]) * (1.0 / share - 1.0);
  }
}

/// λ⁺ = argmin of the model with its proximal term, taken where h falls; ρ follows the ratio of the actual to
/// the predicted fall.
bool DescentOfFew::move(Iterate& at) {
  const Model model = model_of(at);
  if (model.free.empty()) return false;
  begin_rho(model);
  const Vector lambda = at.lambda, slope = hypergradient_;
  const Eigen::MatrixXd curvature = curvature_;
  for (int rejection = 0; rejection < kMaxRejections; ++rejection) {
    const Vector move = minimise_in_box(model.g, model.b + rho_ * model.p, model.low, model.high);
    const double predicted = model.predicted_fall(move);
    if (!(predicted > 0.0)) return false;
    const double ratio = try_step(model, move, predicted, at);
    if (ratio > kGoodRatio) {
      rho_ *= kTrustMore;
    } else if (!(ratio > kPoorRatio)) {
      rho_ *= kTrustLess;
    }
    if (!(ratio > kAcceptedRatio)) continue;
    respond(at);
    if (has_l1_kinks(problem_) && !(ratio > kGoodRatio && ratio < kTooGoodRatio))
      learn_curvature(at.lambda - lambda, hypergradient_ - slope, 0.5 * (curvature + curvature_));
    return true;
  }
  return false;
}

/// Under penalties with kinks the model has no curvature of w*. A step shows it along itself, as the secant y
/// of ∇h over s, by the symmetric update of rank one:
///   r = y − (B + A)s,   A ← A + r rᵀ / rᵀs
void DescentOfFew::learn_curvature(const Vector& s, const Vector& y, const Eigen::MatrixXd& b) {
  if (s.lpNorm<Eigen::Infinity>() > kMostLearnt) return;
  if (learnt_.size() == 0) learnt_ = Eigen::MatrixXd::Zero(s.size(), s.size());
  const Vector r = y - (b + learnt_) * s;
  const double along = r.dot(s);
  if (std::abs(along) > kLeastLearnt * r.norm() * s.norm()) learnt_ += r * r.transpose() / along;
}

/// Derivatives in λ, turned to θ by the chain rule.
DescentOfFew::Model DescentOfFew::model_of(const Iterate& at) const {
  const PenaltyShares shares{kappa_};
  Model model;
  model.rate = shares.rate(at.lambda);
  const auto turned = [&](const Eigen::MatrixXd& matrix) {
    return Eigen::MatrixXd(model.rate.asDiagonal() * matrix * model.rate.asDiagonal());
  };
  limit(model, at);
  if (model.free.empty()) return model;
  model.g = model.rate.cwiseProduct(hypergradient_);
  Eigen::MatrixXd b = learnt_.size() > 0 ? turned(curvature_ + learnt_) : turned(curvature_);
  if (!shares.are_lambda())  // d²λ/dθ² = −(1 − 2θ) (dλ/dθ)²
    b.diagonal().array() -=
        (1.0 - 2.0 * shares.of(at.lambda).array()) * model.rate.array().square() * hypergradient_.array();
  model.b = convex(b, model.free);
  model.p = turned(phi1_.transpose() * phi1_);
  // Where a weight is near 0 so is its column of Φ₁: the second term limits the step there.
  const double typical = std::max(model.p.trace() / static_cast<double>(at.lambda.size()), kTiny);
  model.p.diagonal().array() += settings_.epsilon * typical;
  return model;
}

/// How far each component may move, and which may.
void DescentOfFew::limit(Model& model, const Iterate& at) const {
  const PenaltyShares shares{kappa_};
  model.low = shares.difference(at.lambda, range_.low);
  model.high = shares.difference(at.lambda, range_.high);
  if (shares.are_lambda()) {
    model.low = model.low.cwiseMax(-kMaxMove);
    model.high = model.high.cwiseMin(kMaxMove);
  } else if (!problem_.traits().factors_cheaply) {
    // A share reaches its bounds in one step. Where solves are dear, those of a λ far away are dearer.
    const Vector most = Vector::Constant(at.lambda.size(), kMaxMove);
    model.low = model.low.cwiseMax(shares.difference(at.lambda, at.lambda - most));
    model.high = model.high.cwiseMin(shares.difference(at.lambda, at.lambda + most));
  }
  for (Index j = 0; j < at.lambda.size(); ++j) {
    if (is_held(at, j)) {
      model.low[j] = model.high[j] = 0.0;
    } else {
      model.free.push_back(j);
    }
  }
}

/// The first ρ makes both terms of the model weigh the same.
void DescentOfFew::begin_rho(const Model& model) {
  const double equal =
      model.b.diagonal()(model.free).sum() / std::max(model.p.diagonal()(model.free).sum(), kTiny);
  if (rho_ == 0.0) rho_ = equal;
  rho_ = std::max(rho_, kLeastRho * equal);
}

/// Evaluates h at the step's end and takes it where h falls enough. Returns the actual over the predicted
/// fall.
double DescentOfFew::try_step(const Model& model, const Vector& move, double predicted, Iterate& at) {
  const Vector lambda = PenaltyShares{kappa_}.moved(at.lambda, move, range_);
  // The tangent in θ starts the inner solve, unless it leads too far.
  const Vector along = model.rate.cwiseProduct(move);
  Vector w = at.w;
  if (along.lpNorm<Eigen::Infinity>() <= kMaxMove) w += phi1_ * along;
  const double validation = evaluate(lambda, w, at);
  // Near the optimum both falls drown in rounding. Then the step is taken at its word, and the certificate
  // judges.
  const double slack = kRounding * std::abs(validation_);
  const double ratio = (validation_ - validation + slack) / (predicted + slack);
  if (ratio > kAcceptedRatio) take(lambda, w, validation, at);
  return ratio;
}

/// One by one.
bool DescentOfFew::move_to_bounds(const Vector& scale, Iterate& at) {
  bool has_moved = false;
  for (Index j = 0; j < at.lambda.size(); ++j) {
    if (!creeps(j, scale)) continue;
    Vector lambda = at.lambda;
    lambda[j] = bound_downhill(j);
    has_moved |= take_if_not_higher(lambda, at);
  }
  return has_moved;
}

void DescentOfFew::tighten(double wanted, bool has_moved) {
  tolerance_ = has_moved ? wanted : std::max(kLeastTolerance, kSharper * wanted);
}

}  // namespace yosida
