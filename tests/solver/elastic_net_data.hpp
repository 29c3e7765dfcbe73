#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "support/random_split.hpp"
#include "yosida/data/spectra.hpp"
#include "yosida/problem/elastic_net_problem.hpp"

namespace yosida::test {

/// Five of d features matter; 60 validation rows.
inline Split sparse_truth(Index n_train, Index d, std::uint64_t seed, const Loss& loss) {
  Random random(seed);
  Split split;
  for (Dataset* part : {&split.train, &split.validation}) {
    const Index n = part == &split.train ? n_train : 60;
    const Matrix x = random_matrix(n, d, random);
    part->x = Design(x);
    part->y.resize(n);
    for (Index i = 0; i < n; ++i) {
      double y = 0.5;
      for (Index j = 0; j < 5; ++j) y += x(i, j) * (j % 2 == 0 ? 1.0 : -0.7);
      y += random.normal();
      part->y[i] = loss.is_classification() ? (y < 0.5 ? -1.0 : 1.0) : y;
    }
    part->source = "sparse truth";
  }
  return split;
}

struct LassoCase {
  const char* name;
  const Loss* loss;
  Split (*split)(std::uint64_t seed);
};

/// More rows than features and fewer, both losses, and two sets of correlated columns.
inline std::vector<LassoCase> lasso_cases() {
  return {
      {"tall", &least_squares(), [](std::uint64_t s) { return sparse_truth(100, 30, s, least_squares()); }},
      {"wide", &least_squares(), [](std::uint64_t s) { return sparse_truth(50, 120, s, least_squares()); }},
      {"dense_truth", &least_squares(),
       [](std::uint64_t s) { return random_split(60, 40, 0, 40, s, least_squares()); }},
      {"logistic_tall", &logistic(), [](std::uint64_t s) { return sparse_truth(120, 30, s, logistic()); }},
      {"logistic_wide", &logistic(), [](std::uint64_t s) { return sparse_truth(60, 100, s, logistic()); }},
      {"smooth", &least_squares(), [](std::uint64_t s) { return smooth_split(50, 25, 0, 80, s); }},
      {"spectra", &least_squares(), [](std::uint64_t s) { return built_in("spectra", s); }}};
}

/// L_V(w*(λ)) by a tight solve from w.
inline double tight_validation(const BilevelProblem& problem, const Vector& lambda, Vector& w) {
  problem.inner_solve(lambda, {}, w);
  return problem.validation_loss(w, lambda);
}

/// The lowest L_V of a path of so many points from the upper bounds to the lower ones.
inline double lowest_of_path(const BilevelProblem& problem, const Bounds& bounds, int points) {
  Vector w = Vector::Zero(problem.weights());
  double lowest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / (points - 1);
    const Vector lambda = bounds.high + share * (bounds.low - bounds.high);
    lowest = std::min(lowest, tight_validation(problem, lambda, w));
  }
  return lowest;
}

}  // namespace yosida::test
