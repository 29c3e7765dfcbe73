#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida::search {

/// A process with the Matérn covariance, ν = 5/2, and a length per dimension.
struct GpHyperparameters {
  double mean = 0.0;
  double amplitude = 1.0;  ///< the variance of the function
  double noise = 1e-3;     ///< the variance of what is added to it
  Vector lengths;
};

/// Expected improvement EI = s (u Φ(u) + φ(u)), u = (best − mean) / s, s² = variance, with its derivatives.
struct Improvement {
  double value;
  double by_mean;
  double by_variance;
};
Improvement expected_improvement(double best, double mean, double variance);

/// A Gaussian process given observations. Points are columns: a row holds one coordinate of all.
class GaussianProcess {
 public:
  GaussianProcess(Matrix points, const Vector& values, GpHyperparameters hyperparameters);

  /// log p(values | points, hyperparameters)
  double log_likelihood() const;

  /// Mean and variance of the function, without noise, at columns [begin, begin + count) of `candidates`.
  void predict(const Matrix& candidates, Index begin, Index count, Vector& mean, Vector& variance) const;

  /// Expected improvement at x; its gradient is added to `gradient`.
  double add_improvement(double best, const Vector& x, Vector& gradient) const;

 private:
  double prior_variance() const;

  Matrix points_;
  GpHyperparameters hyperparameters_;
  Vector inverse_lengths_;
  Matrix factor_;    // L of K + noise I = L Lᵀ
  Vector whitened_;  // L⁻¹ (values − mean)
  Vector weights_;   // K⁻¹ (values − mean)
};

}  // namespace yosida::search
