#include "solver/penalty_shares.hpp"

#include <algorithm>
#include <cmath>

namespace yosida {

Vector PenaltyShares::of(const Vector& lambda) const {
  if (are_lambda()) return lambda;
  return (1.0 + (kappa.array().log() - lambda.array()).exp()).inverse();
}

Vector PenaltyShares::rate(const Vector& lambda) const {
  if (are_lambda()) return Vector::Ones(lambda.size());
  const Eigen::ArrayXd ratio = (lambda.array() - kappa.array().log()).exp();
  return (1.0 + ratio).square() / ratio;
}

Vector PenaltyShares::difference(const Vector& from, const Vector& to) const {
  if (are_lambda()) return to - from;
  const Vector up = of(to) - of(from);
  const Vector mirrored = (1.0 + (from.array().exp() / kappa.array())).inverse() -
                          (1.0 + (to.array().exp() / kappa.array())).inverse();
  return (up.array().abs() < mirrored.array().abs()).select(up, mirrored);
}

Vector PenaltyShares::moved(const Vector& lambda, const Vector& move, const Start& range) const {
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

}  // namespace yosida
