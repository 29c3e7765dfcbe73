#include "yosida/solver/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "solver/one_lambda.hpp"

namespace yosida {
namespace {

/// Points a unit of λ: a valley of h narrower than this has not been seen; polishing does the rest.
constexpr double kPointsPerUnit = 8.0;
constexpr double kPromising = 1.05;  // valleys up to 5 % above the lowest are polished

class Path {
 public:
  explicit Path(const BilevelProblem& problem) : problem_(problem), w_(starting_weights(problem)) {}
  double operator()(double lambda) {
    lambda_[0] = lambda;
    if (!problem_.inner_solve(lambda_, {}, w_).converged) ++inexact_solves_;
    const double value = problem_.validation_loss(w_, lambda_);
    return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
  }
  std::int64_t inexact_solves() const { return inexact_solves_; }

 private:
  const BilevelProblem& problem_;
  std::int64_t inexact_solves_ = 0;
  Vector w_;
  Vector lambda_{1};
};

/// Golden section on [a, b] around an interior lower point; keeps the best point it has seen.
void polish(Path& path, double a, double b, Oracle& best) {
  constexpr double kGolden = 0.6180339887498949;
  const auto value = [&](double lambda) {
    const double loss = path(lambda);
    if (loss < best.validation) {
      best.validation = loss;
      best.lambda = lambda;
    }
    return loss;
  };
  double c = b - kGolden * (b - a);
  double d = a + kGolden * (b - a);
  double f_c = value(c);
  double f_d = value(d);
  while (b - a > 1e-9) {  // h is flat to second order at its minimum: its own error is then 1e-18
    if (f_c < f_d) {
      b = d;
      d = c;
      f_d = f_c;
      c = b - kGolden * (b - a);
      f_c = value(c);
    } else {
      a = c;
      c = d;
      f_c = f_d;
      d = a + kGolden * (b - a);
      f_d = value(d);
    }
  }
}

}  // namespace

Oracle find_oracle(const BilevelProblem& problem, double low, double high) {
  require_one_lambda(problem, "the oracle");
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high))
    throw InputError("bounds = " + std::to_string(low) + "," + std::to_string(high) +
                     ": the oracle needs two finite numbers, the lower first");
  Path path(problem);
  const auto count = static_cast<std::size_t>(std::ceil((high - low) * kPointsPerUnit)) + 1;
  std::vector<double> lambda(count);
  std::vector<double> value(count);
  Oracle best{
      .lambda = high, .validation = std::numeric_limits<double>::infinity(), .low = low, .high = high};
  for (std::size_t i = 0; i < count; ++i) {
    lambda[i] = high - (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
    value[i] = path(lambda[i]);
    if (value[i] < best.validation) {
      best.validation = value[i];
      best.lambda = lambda[i];
    }
  }
  const double promising = kPromising * best.validation;
  for (std::size_t i = 0; i < count; ++i) {
    const bool below_left = i == 0 || value[i] <= value[i - 1];
    const bool below_right = i + 1 == count || value[i] <= value[i + 1];
    if (below_left && below_right && value[i] <= promising)
      polish(path, lambda[std::min(i + 1, count - 1)], lambda[i == 0 ? 0 : i - 1], best);
  }
  best.inexact_solves = path.inexact_solves();
  return best;
}

double validation_at(const BilevelProblem& problem, double lambda) {
  require_one_lambda(problem, "validation_at");
  return Path(problem)(lambda);
}

}  // namespace yosida
