#include "problem/gram_least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/columns.hpp"
#include "linalg/factor.hpp"
#include "linalg/gram.hpp"
#include "linalg/row_numbers.hpp"

namespace yosida {
namespace {

/// Curvatures relative to the largest: products of rows tell those above the first to seven digits, and
/// leave nothing but rounding below the second.
constexpr double kClearlyThere = 1e-9;
constexpr double kClearlyNot = 1e-13;
/// A smaller penalty than this share of the largest curvature is taken for it: of the directions that are
/// there it changes nothing, and of the others rounding is all that is known.
constexpr double kLeastPenalty = 1e-12;
/// By what share of itself h may differ from what the rows themselves say: where it is at most so many times
/// its least value, and elsewhere, where it need only be told from that.
constexpr double kAgreement = 1e-6;
constexpr double kNearLeast = 1.02;
constexpr double kRoughly = 2e-3;

/// Weights of all λ lie in the space of a few products with the Hessian where its curvatures are near to each
/// other. It is taken where it has at most such a share of the dimensions from which on the products of all
/// rows take no longer.
constexpr double kShareOfKrylov = 0.6;

void require_going_on(const StopToken& stop) {
  if (stop.stop_requested()) throw RunEnded(stop);
}

/// The rows less the means of the training rows.
Design shifted(const Design& x, const Vector& mean) {
  return mean.isZero(0.0) ? x : x.mapped({.shift = mean});
}

}  // namespace

GramLeastSquares::Cost GramLeastSquares::cost(const LinearProblem& direct) {
  const auto& split = direct.split();
  const auto n = static_cast<double>(split.train.rows());
  const auto m = static_cast<double>(split.validation.rows());
  const auto d = static_cast<double>(split.train.features());
  // Validation rows are multiplied with each other where they are more than the columns (ValidationSquare).
  if (n >= d) return {.products = (m < d ? n : n + m) * d * d, .factor = 2.0 * d * d * d};
  return {.products = n * n * d + 2.0 * n * m * d + (m < n ? 2.0 : 3.0) * m * n * n,
          .factor = 9.0 * n * n * n};
}

std::shared_ptr<const GramLeastSquares> GramLeastSquares::of(std::shared_ptr<const LinearProblem> direct,
                                                             const StopToken& stop, const GramOfAll* all) {
  const std::shared_ptr<const GramLeastSquares> made(new GramLeastSquares(std::move(direct), stop, all));
  return made->is_exact_ ? made : nullptr;
}

GramLeastSquares::GramLeastSquares(std::shared_ptr<const LinearProblem> direct, const StopToken& stop,
                                   const GramOfAll* all)
    : LeastSquaresForm(std::move(direct)) {
  const Dataset& train = direct_->split().train;
  train_rows_ = static_cast<double>(train.rows());
  validation_rows_ = static_cast<double>(direct_->split().validation.rows());
  mean_ = Vector::Zero(train.features());
  if (intercept_) {
    mean_ = rough_means(train.x);
    target_mean_ = sum_of(train.x, train.y) / train_rows_;
  }
  const bool is_resolved = train.rows() >= train.features() ? by_columns(stop, all) : by_rows();
  require_going_on(stop);
  if (!is_resolved) return;
  finish_traits();
  is_exact_ = agrees_with_rows();
}

bool GramLeastSquares::keeps_apart(const Vector& curvatures) {
  largest_ = curvatures[curvatures.size() - 1];
  if (!(largest_ > 0.0) || !std::isfinite(largest_)) return false;
  for (const double curvature : curvatures) {
    if (curvature > kClearlyNot * largest_ && curvature < kClearlyThere * largest_) return false;
    if (curvature >= kClearlyThere * largest_ && least_ == 0.0) least_ = curvature;
  }
  return true;
}

bool GramLeastSquares::by_columns(const StopToken& stop, const GramOfAll* all) {
  const auto& [train, validation, test] = direct_->split();
  const Design x = shifted(train.x, mean_);
  const Vector y = train.y.array() - target_mean_;
  RowSums sums;
  std::optional<Matrix> gram;
  if (all != nullptr) gram = all->of(x, validation.x, &stop);
  if (gram) {
    sums.gram = std::move(*gram);
    sums.with_y = multiplied_transposed(x, y).col(0);
  } else {
    sums = row_sums(x, y, &stop);
    if (intercept_) mean_ += sums.centre(train_rows_, sum_of(train.x, y));  // what rough means leave
  }
  sums.gram /= train_rows_;
  rotation_.emplace(std::move(sums.gram));
  require_going_on(stop);
  if (!keeps_apart(rotation_->eigenvalues())) return false;
  diagonal_ = rotation_->diagonal();
  off_diagonal_ = rotation_->off_diagonal();
  right_ = inner(sums.with_y / train_rows_);
  target_square_ = dot_of(train.x, y, y) / train_rows_;

  validation_ =
      ValidationSquare(shifted(validation.x, mean_), validation.y.array() - target_mean_, intercept_, &stop);
  return true;
}

bool GramLeastSquares::by_rows() {
  const auto& [train, validation, test] = direct_->split();
  const Index n = train.rows();
  const Design x = shifted(train.x, mean_), others = shifted(validation.x, mean_);
  const Eigensystem parts = symmetric_eigen(row_products(x) / train_rows_);
  if (!keeps_apart(parts.values)) return false;
  Index rank = 0;
  while (rank < n && parts.values[n - 1 - rank] >= least_) ++rank;
  diagonal_ = parts.values.tail(rank);
  // w = Xᵀ U s⁻¹ a, orthonormal for X Xᵀ = U s² Uᵀ
  const Vector s = (train_rows_ * diagonal_).cwiseSqrt();
  rows_ = parts.vectors.rightCols(rank) * s.cwiseInverse().asDiagonal();
  const Vector y = train.y.array() - target_mean_;
  right_ = s.cwiseProduct(parts.vectors.rightCols(rank).transpose() * y) / train_rows_;
  target_square_ = y.squaredNorm() / train_rows_;

  const double m = validation_rows_, n_all = train_rows_;
  const auto most = static_cast<Index>(kShareOfKrylov * m * n_all / (m + n_all));
  Matrix products;
  if (const auto all = krylov_space(diagonal_, right_, most)) {
    diagonal_ = all->diagonal;
    off_diagonal_ = all->off_diagonal;
    rows_ *= all->basis;
    right_ = Vector::Unit(diagonal_.size(), 0) * right_.norm();
    products = multiplied(others, multiplied_transposed(x, rows_));
  } else {
    products = product(row_products(others, x), rows_);
  }
  validation_ =
      ValidationSquare(Design(std::move(products)), validation.y.array() - target_mean_, intercept_);
  return true;
}

void GramLeastSquares::finish_traits() {
  traits_.has_penalties = true;
  traits_.has_train_gradient_lambda = true;
  traits_.has_closed_form = true;
  traits_.largest_curvature = largest_;
  traits_.certificate_work.hessian_products = 1;
  const Cost made = cost(*direct_);
  traits_.setup_work = work_of(made.products + made.factor);
}

/// By what share of itself h changes in one step of refinement on the rows themselves: their own gradient,
/// and what it moves the weights by. Not finite where h on the rows is another to begin with.
double GramLeastSquares::error_at(double lambda) const {
  const Vector at = Vector::Constant(1, lambda);
  Vector a = Vector::Zero(weights());
  inner_solve(at, {}, a);
  const double by_products = validation_loss(a, at);
  const Vector w = expand(a);
  const double error = std::abs(direct_->validation_loss(w, at) / by_products - 1.0);
  if (!rotation_) return error;
  Vector g(direct_->weights());
  direct_->train_gradient(w, at, g);
  Vector step = g.head(mean_.size());
  if (intercept_) step -= g[mean_.size()] * mean_;
  step = inner(step);
  solve_tridiagonal(diagonal_, off_diagonal_, curvature_of_penalty(lambda), step);
  a.head(rank()) -= step;
  return std::max(error, std::abs(validation_loss(a, at) / by_products - 1.0));
}

/// Products are less exact the smaller the penalty is. So they are right wherever h is near its least value
/// if they are at the smallest such penalty, and nowhere wrong by more than h is above it there if they are
/// roughly right at the smallest of all.
bool GramLeastSquares::agrees_with_rows() const {
  constexpr double kFactor = 4.0;  // between the penalties that are looked at
  const double lowest = std::log(0.5 * kLeastPenalty * largest_);
  const double highest = std::log(largest_);
  std::vector<double> lambdas;
  for (double lambda = lowest; lambda < highest; lambda += std::log(kFactor)) lambdas.push_back(lambda);
  std::vector<CurvePoint> points(lambdas.size());
  closed_forms(lambdas, points);
  double least = std::numeric_limits<double>::infinity();
  for (const CurvePoint& point : points) least = std::min(least, point.value);
  std::size_t first = 0;
  while (first + 1 < points.size() && !(points[first].value <= kNearLeast * least)) ++first;
  if (first > 0 && !(error_at(lowest) <= kRoughly)) return false;
  return error_at(lambdas[first]) <= kAgreement;
}

double GramLeastSquares::curvature_of_penalty(double lambda) const {
  return std::max(2.0 * std::exp(lambda), kLeastPenalty * largest_);
}

void GramLeastSquares::multiply_hessian(Eigen::Ref<const Vector> a, double c, Eigen::Ref<Vector> out) const {
  out = (diagonal_.array() + c) * a.array();
  const Index last = off_diagonal_.size();
  if (last == 0) return;
  out.head(last) += off_diagonal_.cwiseProduct(a.tail(last));
  out.tail(last) += off_diagonal_.cwiseProduct(a.head(last));
}

double GramLeastSquares::train_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  const auto a = w.head(rank());
  Vector product(rank());
  multiply_hessian(a, 2.0 * std::exp(lambda[0]), product);
  const double t = intercept_ ? w[rank()] : 0.0;
  return 0.5 * (std::max(a.dot(product) - 2.0 * right_.dot(a) + target_square_, 0.0) + t * t);
}

void GramLeastSquares::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  require_sizes(*this, w, lambda);
  g.resize(weights());
  multiply_hessian(w.head(rank()), 2.0 * std::exp(lambda[0]), g.head(rank()));
  g.head(rank()) -= right_;
  if (intercept_) g[rank()] = w[rank()];
}

void GramLeastSquares::hessian_product(const Vector&, const Vector& lambda, const Vector& p,
                                       Vector& out) const {
  require_lambda(*this, lambda);
  require_weights(*this, p);
  out.resize(weights());
  multiply_hessian(p.head(rank()), 2.0 * std::exp(lambda[0]), out.head(rank()));
  if (intercept_) out[rank()] = p[rank()];
}

Eigen::MatrixXd GramLeastSquares::outer(const Eigen::MatrixXd& a) const {
  return rotation_ ? rotation_->rotated(a) : a;
}

Vector GramLeastSquares::inner(const Vector& g) const {
  return rotation_ ? Vector(rotation_->rotated_back(g)) : g;
}

double GramLeastSquares::validation_loss(const Vector& w, const Vector&) const {
  require_weights(*this, w);
  Vector point = w;
  point.head(rank()) = outer(w.head(rank()));
  Vector g(weights());
  return 0.5 * validation_.gradient(point, g) / validation_rows_;
}

double GramLeastSquares::validation_gradient(const Vector& w, const Vector&, Vector& g) const {
  require_weights(*this, w);
  g.resize(weights());
  Vector point = w;
  point.head(rank()) = outer(w.head(rank()));
  const double square = validation_.gradient(point, g);
  g /= validation_rows_;
  g.head(rank()) = inner(g.head(rank()));
  return 0.5 * square / validation_rows_;
}

void GramLeastSquares::validation_hessian_product(const Vector&, const Vector&, const Vector& p,
                                                  Vector& out) const {
  require_weights(*this, p);
  Vector point = p;
  point.head(rank()) = outer(p.head(rank()));
  validation_.multiply(point, out);
  out /= validation_rows_;
  out.head(rank()) = inner(out.head(rank()));
}

InnerReport GramLeastSquares::inner_solve(const Vector& lambda, const InnerOptions& options,
                                          Vector& w) const {
  require_sizes(*this, w, lambda);
  // (H + 2e^λ + ρ) a = right − u + ρ v; the exact intercept is t = 0.
  double c = curvature_of_penalty(lambda[0]);
  Vector a = right_;
  if (options.proximal) {
    c += options.proximal->rho;
    a += options.proximal->rho * options.proximal->v.head(rank()) - options.proximal->u.head(rank());
  }
  const Vector right = a;
  solve_tridiagonal(diagonal_, off_diagonal_, c, a);
  Vector product(rank());
  multiply_hessian(a, c, product);
  w.head(rank()) = a;
  fit_intercept(w);
  InnerReport report;
  report.converged = true;
  report.gradient_norm = (product - right).norm();
  report.work.factorisations = work_of(8.0 * static_cast<double>(rank()));
  return report;
}

LinearReport GramLeastSquares::hessian_solve(const Vector&, const Vector& lambda, const Vector& b,
                                             const LinearOptions&, Vector& x) const {
  require_lambda(*this, lambda);
  require_weights(*this, b);
  require_weights(*this, x);
  x = b;
  solve_tridiagonal(diagonal_, off_diagonal_, curvature_of_penalty(lambda[0]), x.head(rank()));
  LinearReport report;
  report.converged = true;
  report.residual_norm = std::numeric_limits<double>::epsilon() * b.norm();
  report.work.factorisations = work_of(8.0 * static_cast<double>(rank()));
  return report;
}

void GramLeastSquares::closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const {
  // a = (H + c)⁻¹ right, c = 2e^λ;  da/dλ = −(H + c)⁻¹ c a, or 0 where c does not move
  const auto count = static_cast<Index>(lambdas.size());
  Eigen::MatrixXd a(rank(), 2 * count);
  for (Index k = 0; k < count; ++k) {
    const double lambda = lambdas[static_cast<std::size_t>(k)];
    const double c = curvature_of_penalty(lambda);
    const double moved = c > 2.0 * std::exp(lambda) ? 0.0 : c;
    a.col(2 * k) = right_;
    solve_tridiagonal(diagonal_, off_diagonal_, c, a.col(2 * k));
    a.col(2 * k + 1) = -moved * a.col(2 * k);
    solve_tridiagonal(diagonal_, off_diagonal_, c, a.col(2 * k + 1));
  }
  const Matrix squares = validation_.along(outer(a));
  const auto size = static_cast<double>(rank());
  const double flops = 2.0 * validation_.flops() + (rotation_ ? 4.0 * size * size : 0.0);
  for (Index k = 0; k < count; ++k)
    points[static_cast<std::size_t>(k)] = {.value = 0.5 * squares(0, k) / validation_rows_,
                                           .slope = squares(1, k) / validation_rows_,
                                           .work = work_of(flops)};
}

std::optional<Vector> GramLeastSquares::least_curvatures() const { return Vector::Constant(1, least_); }

void GramLeastSquares::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  const auto a = w.head(rank());
  Vector product(rank());
  multiply_hessian(a, 0.0, product);
  out[0] = certificate_scale_of(a.dot(product) / a.squaredNorm(), std::exp(lambda[0]));
}

void GramLeastSquares::fit_intercept(Vector& w) const {
  require_weights(*this, w);
  if (intercept_) w[rank()] = 0.0;
}

Vector GramLeastSquares::expand(const Vector& w) const {
  require_weights(*this, w);
  const Index d = mean_.size();
  Vector full(direct_->weights());
  if (rotation_) {
    full.head(d) = outer(w.head(rank()));
  } else {
    const Vector by_row = rows_ * w.head(rank());
    Vector sums = Vector::Zero(d);
    shifted(direct_->split().train.x, mean_).add_transposed(as_span(by_row), as_span(sums));
    full.head(d) = sums;
  }
  if (intercept_) full[d] = w[rank()] + target_mean_ - mean_.dot(full.head(d));
  return full;
}

}  // namespace yosida
