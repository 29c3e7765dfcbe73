#include "yosida/problem/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "yosida/random.hpp"

namespace yosida {
namespace {

constexpr int kDirections = 8;
constexpr Index kMaxAxes = 64;

/// f′(0) by the five-point formula, error O(step⁴).
template <typename F>
auto derivative(const F& f, double step) {
  using Result = std::decay_t<decltype(f(step))>;
  return Result((8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step));
}

/// Differences of many directions, put together to one relative error.
class Comparison {
 public:
  template <typename Given, typename Numerical>
  void add(const Given& given, const Numerical& numerical) {
    difference_ += square(given - numerical);
    size_ += square(numerical);
    given_size_ += square(given);
    count_ += 1.0;
  }
  /// `noise`: how far rounding alone may take a numerical derivative from the true one.
  double error(double noise) const {
    const double difference = std::sqrt(difference_);
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    // Relative to the derivative, or where that is lost in rounding, to a size at which noise is no error.
    const double size = std::max(std::sqrt(std::max(size_, given_size_)), 1e8 * noise * std::sqrt(count_));
    return size > 0.0 ? difference / size : 0.0;
  }

 private:
  static double square(double x) { return x * x; }
  static double square(const Vector& x) { return x.squaredNorm(); }
  double difference_ = 0.0, size_ = 0.0, given_size_ = 0.0, count_ = 0.0;
};

/// Random unit vectors, and every axis where there are few.
std::vector<Vector> directions(Index size, Random& random) {
  std::vector<Vector> all;
  for (int k = 0; k < kDirections; ++k) {
    Vector direction(size);
    for (double& value : direction) value = random.normal();
    all.push_back(direction.normalized());
  }
  if (size <= kMaxAxes)
    for (Index j = 0; j < size; ++j) all.push_back(Vector::Unit(size, j));
  return all;
}

}  // namespace

std::vector<GradientCheck> check_gradients(const BilevelProblem& problem, const Vector& w,
                                           const Vector& lambda, std::uint64_t seed) {
  Random random(seed);
  const Index weights = problem.weights();
  const Index hyperparameters = problem.hyperparameters();
  const std::vector<Vector> w_directions = directions(weights, random);
  const std::vector<Vector> lambda_directions = directions(hyperparameters, random);
  // The step balances the formula's error against rounding: ε^{1/5} of the size of what is moved.
  const double w_step = 1e-3 * std::max(1.0, w.norm());
  const double lambda_step = 1e-3;

  Comparison train_gradient, hessian, cross, cross_transposed, validation_gradient, validation_hessian;
  Vector g(weights), product(weights), trial(weights);
  const auto train_gradient_at = [&](const Vector& at, const Vector& lambda_at) {
    Vector result(weights);
    problem.train_gradient(at, lambda_at, result);
    return result;
  };
  const auto validation_gradient_at = [&](const Vector& at) {
    Vector result(weights);
    problem.validation_gradient(at, result);
    return result;
  };

  for (const Vector& p : w_directions) {
    problem.train_gradient(w, lambda, g);
    train_gradient.add(g.dot(p),
                       derivative([&](double t) { return problem.train_loss(w + t * p, lambda); }, w_step));
    problem.hessian_product(w, lambda, p, product);
    hessian.add(product, derivative([&](double t) { return train_gradient_at(w + t * p, lambda); }, w_step));
    problem.validation_gradient(w, g);
    validation_gradient.add(g.dot(p),
                            derivative([&](double t) { return problem.validation_loss(w + t * p); }, w_step));
    problem.validation_hessian_product(w, p, product);
    validation_hessian.add(product,
                           derivative([&](double t) { return validation_gradient_at(w + t * p); }, w_step));
  }
  for (const Vector& q : lambda_directions) {
    const Vector numerical =
        derivative([&](double t) { return train_gradient_at(w, lambda + t * q); }, lambda_step);
    problem.cross_product(w, lambda, q, product);
    cross.add(product, numerical);
    for (const Vector& p : w_directions) {
      Vector transposed(hyperparameters);
      problem.cross_product_transposed(w, lambda, p, transposed);
      cross_transposed.add(transposed.dot(q), numerical.dot(p));
    }
  }
  // Rounding in the functions that were differenced, divided by the step; a few operations' worth.
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  problem.train_gradient(w, lambda, g);
  const double train_noise = kRounding * std::abs(problem.train_loss(w, lambda)) / w_step;
  const double train_gradient_noise = kRounding * g.norm();
  problem.validation_gradient(w, g);
  const double validation_noise = kRounding * std::abs(problem.validation_loss(w)) / w_step;
  const double validation_gradient_noise = kRounding * g.norm();
  return {{"train_gradient", train_gradient.error(train_noise)},
          {"hessian_product", hessian.error(train_gradient_noise / w_step)},
          {"cross_product", cross.error(train_gradient_noise / lambda_step)},
          {"cross_product_transposed", cross_transposed.error(train_gradient_noise / lambda_step)},
          {"validation_gradient", validation_gradient.error(validation_noise)},
          {"validation_hessian_product", validation_hessian.error(validation_gradient_noise / w_step)}};
}

}  // namespace yosida
