#include "search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "linalg/factor.hpp"
#include "search/matern.hpp"

namespace yosida::search {
namespace {

/// Share of the amplitude that is added to variances, as in Spearmint: points may coincide.
constexpr double kJitter = 1e-6;
/// No variance is below this share of the amplitude: rounding in L⁻¹k stays below it, since with the jitter
/// the condition of K is at most some 1e9.
constexpr double kSmallestVariance = 1e-9;

/// L of K + noise I. Where rounding makes that indefinite, jitter grows until it is not.
Matrix factorise(const Matrix& points, const GpHyperparameters& h, const Vector& inverse_lengths) {
  const Index n = points.cols();
  const auto covariances = [&] {
    Matrix k(n, n);
    Vector point(points.rows());
    for (Index i = 0; i < n; ++i) {
      point = points.col(i);
      matern52(point.data(), points.data(), n, points.rows(), i + 1, inverse_lengths.data(), h.amplitude,
               k.row(i).data());
    }
    return k;
  };
  for (double jitter = kJitter;; jitter *= 10.0) {
    Matrix k = covariances();
    k.diagonal().array() += jitter * h.amplitude + h.noise;
    // With a jitter above n the diagonal dominates: the end of the loop is certain.
    if (cholesky_factor(k) || jitter > 2.0 * static_cast<double>(n)) return k;
  }
}

}  // namespace

Improvement expected_improvement(double best, double mean, double variance) {
  const double s = std::sqrt(variance);
  const double u = (best - mean) / s;
  const double density = std::exp(-0.5 * u * u) * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  const double probability = 0.5 * std::erfc(-u / std::numbers::sqrt2);
  // u Φ + φ cancels where u is far below 0, but is never negative.
  return {s * std::max(0.0, u * probability + density), -probability, 0.5 * density / s};
}

GaussianProcess::GaussianProcess(Matrix points, const Vector& values, GpHyperparameters hyperparameters)
    : points_(std::move(points)), hyperparameters_(std::move(hyperparameters)) {
  inverse_lengths_ = hyperparameters_.lengths.cwiseInverse();
  factor_ = factorise(points_, hyperparameters_, inverse_lengths_);
  whitened_ = values.array() - hyperparameters_.mean;
  solve_lower(factor_, whitened_);
  weights_ = whitened_;
  solve_lower_transposed(factor_, weights_);
}

double GaussianProcess::log_likelihood() const {
  return -0.5 * whitened_.squaredNorm() - factor_.diagonal().array().log().sum() -
         0.5 * static_cast<double>(whitened_.size()) * std::log(2.0 * std::numbers::pi);
}

double GaussianProcess::prior_variance() const { return hyperparameters_.amplitude * (1.0 + kJitter); }

void GaussianProcess::predict(const Matrix& candidates, Index begin, Index count, Vector& mean,
                              Vector& variance) const {
  const Index n = points_.cols();
  Matrix whitened_covariances(n, count);
  Vector point(points_.rows());
  for (Index i = 0; i < n; ++i) {
    point = points_.col(i);
    matern52(point.data(), candidates.data() + begin, candidates.cols(), candidates.rows(), count,
             inverse_lengths_.data(), hyperparameters_.amplitude, whitened_covariances.row(i).data());
  }
  solve_lower(factor_, whitened_covariances);
  // mean + kᵀ K⁻¹ (values − mean) and k(x, x) − kᵀ K⁻¹ k
  mean.setConstant(count, hyperparameters_.mean);
  variance.setConstant(count, prior_variance());
  for (Index i = 0; i < n; ++i) {
    mean += whitened_[i] * whitened_covariances.row(i).transpose();
    variance -= whitened_covariances.row(i).transpose().cwiseAbs2();
  }
  variance = variance.cwiseMax(kSmallestVariance * hyperparameters_.amplitude);
}

double GaussianProcess::add_improvement(double best, const Vector& x, Vector& gradient) const {
  const Index n = points_.cols();
  Vector covariances(n);
  matern52(x.data(), points_.data(), n, points_.rows(), n, inverse_lengths_.data(),
           hyperparameters_.amplitude, covariances.data());
  const double mean = hyperparameters_.mean + covariances.dot(weights_);
  Vector solved = covariances;
  solve_lower(factor_, solved);
  const double variance = prior_variance() - solved.squaredNorm();
  const double floor = kSmallestVariance * hyperparameters_.amplitude;
  const Improvement improvement = expected_improvement(best, mean, std::max(variance, floor));

  // ∇EI = Σ_j (EI_mean α_j − 2 EI_variance (K⁻¹k)_j) ∇k_j
  solve_lower_transposed(factor_, solved);
  const Vector shares =
      improvement.by_mean * weights_ - 2.0 * (variance > floor ? improvement.by_variance : 0.0) * solved;
  // ∂k/∂x_d = −5/3 a (1 + t) e^(−t) (x_d − p_d) / ℓ_d², where k = a (1 + t + t²/3) e^(−t) and t = √5 r
  Vector t = Vector::Zero(n);
  for (Index d = 0; d < x.size(); ++d)
    t.array() += ((x[d] - points_.row(d).array()) * inverse_lengths_[d]).square().transpose();
  t = (5.0 * t).cwiseSqrt();
  const Vector slopes = (-5.0 / 3.0) * shares.array() * covariances.array() * (1.0 + t.array()) /
                        (1.0 + t.array() * (1.0 + t.array() / 3.0));
  for (Index d = 0; d < x.size(); ++d)
    gradient[d] += std::pow(inverse_lengths_[d], 2) *
                   (slopes.array() * (x[d] - points_.row(d).array()).transpose()).sum();
  return improvement.value;
}

}  // namespace yosida::search
