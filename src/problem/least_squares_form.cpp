#include "problem/least_squares_form.hpp"

#include <cmath>

namespace yosida {

void LeastSquaresForm::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                     Vector& out) const {
  require_sizes(*this, w, lambda);
  require_lambda(*this, q);
  out.resize(weights());
  out.head(rank()) = 2.0 * std::exp(lambda[0]) * q[0] * w.head(rank());
  if (intercept_) out[rank()] = 0.0;
}

void LeastSquaresForm::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                                Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(hyperparameters());
  out[0] = 2.0 * std::exp(lambda[0]) * w.head(rank()).dot(p.head(rank()));
}

void LeastSquaresForm::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  out[0] = std::exp(lambda[0]) * w.head(rank()).squaredNorm();
}

double LeastSquaresForm::work_of(double flops) const {
  return flops / (2.0 * direct_->split().train.x.product_flops());
}

Losses LeastSquaresForm::losses(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  return direct_->losses(expand(w), lambda);
}

}  // namespace yosida
