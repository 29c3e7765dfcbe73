#include "search/cube_descent.hpp"

#include <cmath>

namespace yosida::search {
namespace {

/// The first step is no longer: the inverse Hessian is not known yet.
constexpr double kFirstStep = 0.05;
constexpr double kSufficient = 1e-4;  // Armijo's constant
constexpr int kMaxHalvings = 30;

/// The gradient, without what only pushes against a face of the cube.
Vector free_gradient(const Vector& x, const Vector& gradient) {
  Vector free = gradient;
  for (Index d = 0; d < x.size(); ++d)
    if ((x[d] <= 0.0 && gradient[d] > 0.0) || (x[d] >= 1.0 && gradient[d] < 0.0)) free[d] = 0.0;
  return free;
}

/// Where the free coordinates go by the inverse Hessian; steepest descent where that does not lead down.
Vector direction(const Matrix& inverse_hessian, const Vector& free) {
  const Vector step = -(free.array() == 0.0).select(Vector::Zero(free.size()), inverse_hessian * free);
  return step.dot(free) < 0.0 ? step : Vector(-kFirstStep / free.norm() * free);
}

/// BFGS, where curvature along the step is positive; the first time the scale is that of the step.
void update(const Vector& step, const Vector& change, bool first, Matrix& inverse_hessian) {
  const double curvature = step.dot(change);
  if (!(curvature > 1e-12 * step.norm() * change.norm())) return;
  const Index n = step.size();
  if (first) inverse_hessian = Matrix::Identity(n, n) * (curvature / change.squaredNorm());
  const Matrix left = Matrix::Identity(n, n) - step * change.transpose() / curvature;
  inverse_hessian = left * inverse_hessian * left.transpose() + step * step.transpose() / curvature;
}

}  // namespace

void descend_in_unit_cube(Differentiable f, double tolerance, int max_steps, Vector& x) {
  const Index n = x.size();
  Vector gradient(n), next_gradient(n);
  double value = f(x, gradient);
  Matrix inverse_hessian = Matrix::Zero(n, n);  // leads nowhere: the first step is of steepest descent
  bool first = true;
  for (int k = 0; k < max_steps; ++k) {
    const Vector free = free_gradient(x, gradient);
    if (!free.allFinite() || free.isZero(0.0)) return;
    Vector step = direction(inverse_hessian, free);
    Vector next;
    double next_value = 0.0;
    bool lower = false;
    for (int halving = 0; halving < kMaxHalvings && !lower; ++halving, step *= 0.5) {
      next = (x + step).cwiseMax(0.0).cwiseMin(1.0);
      next_value = f(next, next_gradient);
      lower = next_value <= value + kSufficient * gradient.dot(next - x) && next_value < value;
    }
    if (!lower) return;
    update(next - x, next_gradient - gradient, first, inverse_hessian);
    first = first && inverse_hessian.isZero(0.0);
    const double gain = value - next_value;
    x = next;
    value = next_value;
    gradient = next_gradient;
    if (gain < tolerance) return;
  }
}

}  // namespace yosida::search
