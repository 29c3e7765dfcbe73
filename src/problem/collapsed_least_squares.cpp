#include "problem/collapsed_least_squares.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/factor.hpp"
#include "linalg/gram.hpp"
#include "linalg/row_numbers.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

double cube(double x) { return x * x * x; }

void require_going_on(const StopToken& stop) {
  if (stop.stop_requested()) throw RunEnded(stop);
}

}  // namespace

CollapsedLeastSquares::Cost CollapsedLeastSquares::cost(const LinearProblem& direct) {
  const auto& split = direct.split();
  const double n = static_cast<double>(split.train.rows());
  const double n_v = static_cast<double>(split.validation.rows());
  const double d = static_cast<double>(split.train.features());
  const double rank = std::min(d, n + 1.0);
  // Orthogonal factors 2–4 n d rank, singular vectors about 22 rank³, the validation rows rotated
  // and, where there are more of them than the rank, factored too.
  const double setup = 4.0 * n * d * rank + 22.0 * cube(rank) + 2.0 * std::min(n_v, d) * d * rank +
                       (n_v > d ? 2.5 * n_v * d * d : 0.0) + (n < d ? 2.0 * d * rank * rank : 0.0);
  return {.setup = setup,
          .direct_iteration = 2.0 * (split.train.x.product_flops() + split.validation.x.product_flops()),
          .collapsed_iteration = 8.0 * rank + 4.0 * std::min(n_v, rank + 1.0) * rank};
}

bool CollapsedLeastSquares::collapses(const LinearProblem& direct) {
  const auto& [train, validation, test] = direct.split();
  return direct.loss().is_quadratic() && direct.penalty().is_shared() && train.weight.size() == 0 &&
         validation.weight.size() == 0;
}

CollapsedLeastSquares::CollapsedLeastSquares(std::shared_ptr<const LinearProblem> direct,
                                             const StopToken& stop)
    : LeastSquaresForm(std::move(direct)) {
  const Dataset& train = direct_->split().train;
  if (!collapses(*direct_))
    throw InputError("only least squares with one penalty on all weights and no row weights collapses");
  train_rows_ = static_cast<double>(train.rows());
  validation_rows_ = static_cast<double>(direct_->split().validation.rows());
  // With an intercept everything is centred by the training means: then b*(w) is 0 in these coordinates.
  Vector mean = Vector::Zero(train.features());
  if (intercept_) {
    const Vector weight = Vector::Constant(train.rows(), 1.0 / train_rows_);
    train.x.add_transposed(as_span(weight), as_span(mean));
    target_mean_ = sum_of(train.x, train.y) / train_rows_;
  }
  if (train.rows() >= train.features()) {
    factor_many_rows(train, mean, stop);
  } else {
    factor_few_rows(train, mean, stop);
  }
  train_mean_ = basis_.transpose() * mean;
  mean_norm_ = mean.norm();
  require_going_on(stop);
  rotate_validation_rows(direct_->split().validation, mean, stop);
  traits_.has_penalties = true;
  traits_.has_train_gradient_lambda = true;
  traits_.has_closed_form = true;
  traits_.largest_curvature = singular_values_.cwiseAbs2().maxCoeff() / train_rows_;
  traits_.certificate_work.hessian_products = 1;
  traits_.ones = Vector::Zero(weights());
  traits_.ones.head(rank()) = basis_.transpose() * Vector::Ones(train.features());
  traits_.setup_work = work_of(cost(*direct_).setup);
}

/// The training rows as R w ≈ z, R their triangular factor.
void CollapsedLeastSquares::factor_many_rows(const Dataset& train, const Vector& mean,
                                             const StopToken& stop) {
  const Index d = train.features();
  const Matrix factor = triangular_factor(train.x, mean, false, train.y, target_mean_, &stop);
  require_going_on(stop);
  const Index held = std::min<Index>(factor.rows(), d);
  Svd parts = svd(factor.topLeftCorner(held, d), true);
  singular_values_ = Vector::Zero(d);
  singular_values_.head(parts.s.size()) = parts.s;
  z_ = Vector::Zero(d);
  z_.head(parts.s.size()) = parts.u.transpose() * factor.col(d).head(held);
  rest_ = factor.rows() > d ? factor(d, d) * factor(d, d) : 0.0;
  basis_ = std::move(parts.v);
}

/// The training rows as they are, in an orthonormal basis of themselves and the vector of ones.
void CollapsedLeastSquares::factor_few_rows(const Dataset& train, const Vector& mean, const StopToken& stop) {
  const Index n = train.rows();
  Matrix span(train.features(), n + 1);
  span.leftCols(n) = to_matrix(train.x).transpose();
  span.leftCols(n).colwise() -= mean;
  span.col(n).setOnes();
  require_going_on(stop);
  const Qr factors = qr(span);
  require_going_on(stop);
  Svd parts = svd(factors.r.leftCols(n).transpose(), true);  // X Q, n × (n + 1)
  singular_values_ = Vector::Zero(n + 1);
  singular_values_.head(n) = parts.s;
  const Vector y = train.y.array() - target_mean_;
  z_ = Vector::Zero(n + 1);
  z_.head(n) = parts.u.transpose() * y;
  basis_ = product(factors.q, parts.v);
}

/// The validation rows, shifted by the training means, with a column for the intercept: in the
/// basis, and as their triangular factor where they are many.
void CollapsedLeastSquares::rotate_validation_rows(const Dataset& validation, const Vector& mean,
                                                   const StopToken& stop) {
  const Index d = validation.features();
  Matrix rows;
  validation_z_ = validation.y.array() - target_mean_;
  if (validation.rows() > d + 2) {
    const Matrix factor = triangular_factor(validation.x, mean, true, validation.y, target_mean_, &stop);
    require_going_on(stop);
    rows.resize(d + 1, weights());
    rows.leftCols(rank()) = product(factor.topLeftCorner(d + 1, d), basis_);
    if (intercept_) rows.col(rank()) = factor.col(d).head(d + 1);
    validation_z_ = factor.col(d + 1).head(d + 1);
    validation_rest_ = factor(d + 1, d + 1) * factor(d + 1, d + 1);
  } else {
    rows.resize(validation.rows(), weights());
    rows.leftCols(rank()) = multiplied(validation.x, basis_);
    rows.leftCols(rank()).rowwise() -= train_mean_.transpose();
    if (intercept_) rows.col(rank()).setOnes();
  }
  if (rows.rows() > weights() + 1) {
    const Matrix factor = triangular_factor(Design(rows), Vector::Zero(weights()), false, validation_z_, 0.0);
    rows = factor.topLeftCorner(weights(), weights());
    validation_z_ = factor.col(weights()).head(weights());
    validation_rest_ += factor(weights(), weights()) * factor(weights(), weights());
  }
  validation_matrix_ = std::make_shared<const Matrix>(std::move(rows));
  validation_ = Design(validation_matrix_);
}

double CollapsedLeastSquares::intercept_offset(const Vector& w) const {
  return intercept_ ? w[rank()] + train_mean_.dot(w.head(rank())) - target_mean_ : 0.0;
}

double CollapsedLeastSquares::train_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  const auto a = w.head(rank());
  const double t = intercept_offset(w);
  return 0.5 * ((singular_values_.cwiseProduct(a) - z_).squaredNorm() + rest_) / train_rows_ + 0.5 * t * t +
         std::exp(lambda[0]) * a.squaredNorm();
}

void CollapsedLeastSquares::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  require_sizes(*this, w, lambda);
  g.resize(weights());
  const auto a = w.head(rank());
  g.head(rank()) = singular_values_.cwiseProduct(singular_values_.cwiseProduct(a) - z_) / train_rows_ +
                   2.0 * std::exp(lambda[0]) * a;
  if (intercept_) {
    const double t = intercept_offset(w);
    g.head(rank()) += t * train_mean_;
    g[rank()] = t;
  }
}

void CollapsedLeastSquares::hessian_product(const Vector&, const Vector& lambda, const Vector& p,
                                            Vector& out) const {
  require_lambda(*this, lambda);
  require_weights(*this, p);
  out.resize(weights());
  const auto a = p.head(rank());
  out.head(rank()) =
      singular_values_.cwiseAbs2().cwiseProduct(a) / train_rows_ + 2.0 * std::exp(lambda[0]) * a;
  if (intercept_) {
    const double t = p[rank()] + train_mean_.dot(a);
    out.head(rank()) += t * train_mean_;
    out[rank()] = t;
  }
}

void CollapsedLeastSquares::set_offset(const Vector& w, double t, Vector& point) const {
  point = w;
  if (intercept_) point[rank()] = t;
}

double CollapsedLeastSquares::validation_loss(const Vector& w, const Vector&) const {
  require_weights(*this, w);
  thread_local Vector point;
  set_offset(w, intercept_offset(w), point);
  const double square = validation_.product_pass(as_span(point), [&](Index first, std::span<double> m) {
    double sum = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) {
      const double residual = m[i] - validation_z_[first + static_cast<Index>(i)];
      sum += residual * residual;
    }
    return sum;
  });
  return 0.5 * (square + validation_rest_) / validation_rows_;
}

double CollapsedLeastSquares::validation_gradient(const Vector& w, const Vector&, Vector& g) const {
  require_weights(*this, w);
  g.resize(weights());
  thread_local Vector point;
  set_offset(w, intercept_offset(w), point);
  g.setZero();
  const double square = validation_.fused_pass(
      as_span(point),
      [&](Index first, std::span<double> m) {
        double sum = 0.0;
        for (std::size_t i = 0; i < m.size(); ++i) {
          m[i] -= validation_z_[first + static_cast<Index>(i)];
          sum += m[i] * m[i];
        }
        return sum;
      },
      as_span(g));
  g /= validation_rows_;
  if (intercept_) g.head(rank()) += g[rank()] * train_mean_;  // t moves with w at a fixed b
  return 0.5 * (square + validation_rest_) / validation_rows_;
}

void CollapsedLeastSquares::validation_hessian_product(const Vector&, const Vector&, const Vector& p,
                                                       Vector& out) const {
  require_weights(*this, p);
  out.resize(weights());
  const double t = intercept_ ? p[rank()] + train_mean_.dot(p.head(rank())) : 0.0;
  thread_local Vector point;
  set_offset(p, t, point);
  out.setZero();
  validation_.fused_pass(
      as_span(point), [](Index, std::span<double>) { return 0.0; }, as_span(out));
  out /= validation_rows_;
  if (intercept_) out.head(rank()) += out[rank()] * train_mean_;
}

InnerReport CollapsedLeastSquares::inner_solve(const Vector& lambda, const InnerOptions& options,
                                               Vector& w) const {
  require_sizes(*this, w, lambda);
  // Diagonal, and the exact intercept decouples: (s²/N + 2e^λ + ρ) a = s z/N − u + ρ v.
  const auto s = singular_values_.array();
  const double c = 2.0 * std::exp(lambda[0]) + (options.proximal ? options.proximal->rho : 0.0);
  const auto curvature = s.square() / train_rows_ + c;
  Eigen::ArrayXd right = s * z_.array() / train_rows_;
  if (options.proximal)
    right += options.proximal->rho * options.proximal->v.head(rank()).array() -
             options.proximal->u.head(rank()).array();
  // A direction without curvature is one without data: its weight is 0.
  auto a = w.head(rank()).array();
  a = (curvature > 0.0).select(right / curvature, 0.0);
  fit_intercept(w);
  InnerReport report;
  report.converged = true;
  report.gradient_norm = (curvature * a - right).matrix().norm();
  report.work.factorisations = closed_form_work();
  return report;
}

LinearReport CollapsedLeastSquares::hessian_solve(const Vector&, const Vector& lambda, const Vector& b,
                                                  const LinearOptions&, Vector& x) const {
  require_lambda(*this, lambda);
  require_weights(*this, b);
  require_weights(*this, x);
  // In t = p_b + x̄ᵀa the Hessian is diagonal: t = b_b, (s²/N + 2e^λ) a = b_a − b_b x̄.
  const double t = intercept_ ? b[rank()] : 0.0;
  const auto curvature = singular_values_.array().square() / train_rows_ + 2.0 * std::exp(lambda[0]);
  auto a = x.head(rank()).array();
  a = b.head(rank()).array() - t * train_mean_.array();
  a = (curvature > 0.0).select(a / curvature, 0.0);
  if (intercept_) x[rank()] = t - train_mean_.dot(x.head(rank()));
  LinearReport report;
  report.converged = true;
  report.residual_norm = std::numeric_limits<double>::epsilon() * b.norm();
  report.work.factorisations = closed_form_work();
  return report;
}

/// One product of matrices for all of them: the validation rows are read once.
void CollapsedLeastSquares::closed_forms(std::span<const double> lambdas,
                                         std::span<CurvePoint> points) const {
  // a = (s z/N) / (s²/N + 2e^λ),  da/dλ = −2e^λ a / (s²/N + 2e^λ); the intercept is exact: t = 0
  const auto count = static_cast<Index>(lambdas.size());
  const Eigen::RowVectorXd curvature = singular_values_.transpose().array().square() / train_rows_;
  const Eigen::RowVectorXd slope =
      singular_values_.transpose().cwiseProduct(z_.head(rank()).transpose()) / train_rows_;
  Matrix a(2 * count, rank());
  Eigen::RowVectorXd inverse(rank());
  for (Index k = 0; k < count; ++k) {
    const double c = 2.0 * std::exp(lambdas[static_cast<std::size_t>(k)]);
    inverse = (curvature.array() + c > 0.0).select(1.0 / (curvature.array() + c), 0.0);
    a.row(2 * k) = slope.cwiseProduct(inverse);
    a.row(2 * k + 1) = -c * a.row(2 * k).cwiseProduct(inverse);
  }
  Matrix m = Matrix::Zero(2 * count, validation_z_.size());
  add_product_transposed(a, validation_matrix_->leftCols(rank()), m);
  const double flops = 8.0 * static_cast<double>(rank()) +
                       4.0 * static_cast<double>(rank()) * static_cast<double>(validation_z_.size());
  for (Index k = 0; k < count; ++k) {
    const Vector residual = m.row(2 * k).transpose() - validation_z_;
    points[static_cast<std::size_t>(k)] = {
        .value = 0.5 * (residual.squaredNorm() + validation_rest_) / validation_rows_,
        .slope = m.row(2 * k + 1).dot(residual) / validation_rows_,
        .work = work_of(flops)};
  }
}

std::optional<Vector> CollapsedLeastSquares::least_curvatures() const {
  const double largest = singular_values_.maxCoeff();
  // Taking out the means leaves their rounding, which may be larger than that of what is left.
  const double rounding = std::numeric_limits<double>::epsilon() *
                          (largest + std::sqrt(train_rows_) * mean_norm_) *
                          std::sqrt(static_cast<double>(rank()));
  double least = largest;
  for (const double s : singular_values_)
    if (s > rounding) least = std::min(least, s);
  return Vector::Constant(1, least * least / train_rows_);
}

/// A closed form is no gradient: it counts by its operations.
double CollapsedLeastSquares::closed_form_work() const { return work_of(8.0 * static_cast<double>(rank())); }

void CollapsedLeastSquares::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  const auto a = w.head(rank());
  const double penalty = std::exp(lambda[0]);
  const double kappa = singular_values_.cwiseProduct(a).squaredNorm() / (train_rows_ * a.squaredNorm());
  out[0] = certificate_scale_of(kappa, penalty);
}

void CollapsedLeastSquares::fit_intercept(Vector& w) const {
  require_weights(*this, w);
  if (intercept_) w[rank()] = target_mean_ - train_mean_.dot(w.head(rank()));
}

Vector CollapsedLeastSquares::expand(const Vector& w) const {
  require_weights(*this, w);
  Vector full(direct_->weights());
  full.head(basis_.rows()) = basis_ * w.head(rank());
  if (intercept_) full[basis_.rows()] = w[rank()];
  return full;
}

}  // namespace yosida
