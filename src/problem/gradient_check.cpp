#include "yosida/problem/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "problem/checked_problem.hpp"
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

/// Rounding in a function that is differenced, relative to its value; a few operations' worth.
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
// The step balances the formula's error against rounding: ε^{1/5} of the size of what is moved.
constexpr double kLambdaStep = 1e-3;
double w_step_of(const Vector& w) { return 1e-3 * std::max(1.0, w.norm()); }

/// One of the two losses with its derivatives, as functions of (w, λ).
struct LossFunctions {
  std::string name, hessian_name;
  std::function<double(const Vector& w, const Vector& lambda)> value;
  std::function<void(const Vector&w, const Vector&lambda, Vector&g)> gradient, gradient_lambda;
  std::function<void(const Vector& w, const Vector& lambda, const Vector& p, Vector& out)> hessian_product;
};

/// Where derivatives are checked, and along what.
struct Place {
  const Vector& w;
  const Vector& lambda;
  std::vector<Vector> w_directions, lambda_directions;

  double noise_of(double value, double step) const { return kRounding * std::abs(value) / step; }
};

/// Checks gradients against the loss, and Hessian products against the gradient.
void check_loss(const LossFunctions& loss, const Place& at, std::vector<GradientCheck>& checks) {
  const double w_step = w_step_of(at.w);
  Comparison gradient, gradient_lambda, hessian;
  Vector g(at.w.size()), g_lambda(at.lambda.size()), product(at.w.size());
  loss.gradient(at.w, at.lambda, g);
  loss.gradient_lambda(at.w, at.lambda, g_lambda);
  const auto gradient_at = [&](const Vector& w) {
    Vector result(w.size());
    loss.gradient(w, at.lambda, result);
    return result;
  };
  for (const Vector& p : at.w_directions) {
    gradient.add(g.dot(p), derivative([&](double t) { return loss.value(at.w + t * p, at.lambda); }, w_step));
    loss.hessian_product(at.w, at.lambda, p, product);
    hessian.add(product, derivative([&](double t) { return gradient_at(at.w + t * p); }, w_step));
  }
  for (const Vector& q : at.lambda_directions)
    gradient_lambda.add(
        g_lambda.dot(q),
        derivative([&](double t) { return loss.value(at.w, at.lambda + t * q); }, kLambdaStep));
  const double value = loss.value(at.w, at.lambda);
  checks.push_back({loss.name + "_gradient", gradient.error(at.noise_of(value, w_step))});
  checks.push_back({loss.name + "_gradient_lambda", gradient_lambda.error(at.noise_of(value, kLambdaStep))});
  checks.push_back({loss.hessian_name, hessian.error(at.noise_of(g.norm(), w_step))});
}

/// Checks both cross products against the training gradient.
void check_cross_products(const BilevelProblem& problem, const Place& at,
                          std::vector<GradientCheck>& checks) {
  Comparison cross, transposed;
  Vector product(at.w.size()), product_lambda(at.lambda.size());
  const auto gradient_at = [&](const Vector& lambda) {
    Vector result(at.w.size());
    problem.train_gradient(at.w, lambda, result);
    return result;
  };
  for (const Vector& q : at.lambda_directions) {
    const Vector numerical =
        derivative([&](double t) { return gradient_at(at.lambda + t * q); }, kLambdaStep);
    problem.cross_product(at.w, at.lambda, q, product);
    cross.add(product, numerical);
    for (const Vector& p : at.w_directions) {
      problem.cross_product_transposed(at.w, at.lambda, p, product_lambda);
      transposed.add(product_lambda.dot(q), numerical.dot(p));
    }
  }
  const double noise = at.noise_of(gradient_at(at.lambda).norm(), kLambdaStep);
  checks.push_back({"cross_product", cross.error(noise)});
  checks.push_back({"cross_product_transposed", transposed.error(noise)});
}

std::vector<GradientCheck> checks_of(const BilevelProblem& problem, const Vector& w, const Vector& lambda,
                                     std::uint64_t seed) {
  require_sizes(problem, w, lambda);
  Random random(seed);
  std::vector<Vector> w_directions = directions(w.size(), random);
  const Place at{w, lambda, std::move(w_directions), directions(lambda.size(), random)};
  using V = Vector;
  std::vector<GradientCheck> checks;
  check_loss(
      {.name = "train",
       .hessian_name = "hessian_product",
       .value = [&](const V& x, const V& l) { return problem.train_loss(x, l); },
       .gradient = [&](const V& x, const V& l, V& g) { problem.train_gradient(x, l, g); },
       .gradient_lambda = [&](const V& x, const V& l, V& g) { problem.train_gradient_lambda(x, l, g); },
       .hessian_product = [&](const V& x, const V& l, const V& p,
                              V& out) { problem.hessian_product(x, l, p, out); }},
      at, checks);
  check_cross_products(problem, at, checks);
  check_loss(
      {.name = "validation",
       .hessian_name = "validation_hessian_product",
       .value = [&](const V& x, const V& l) { return problem.validation_loss(x, l); },
       .gradient = [&](const V& x, const V& l, V& g) { problem.validation_gradient(x, l, g); },
       .gradient_lambda = [&](const V& x, const V& l, V& g) { problem.validation_gradient_lambda(x, l, g); },
       .hessian_product = [&](const V& x, const V& l, const V& p,
                              V& out) { problem.validation_hessian_product(x, l, p, out); }},
      at, checks);
  return checks;
}

}  // namespace

std::vector<GradientCheck> check_gradients(const BilevelProblem& problem, const Vector& w,
                                           const Vector& lambda, std::uint64_t seed) {
  return checks_of(CheckedProblem(problem), w, lambda, seed);
}

}  // namespace yosida
