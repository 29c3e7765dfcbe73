#include "random_draw.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kinds.hpp"
#include "support/random_split.hpp"

namespace yosida::bench {
namespace {

constexpr const char* kSpectrumNames[] = {"log-spaced", "two clusters", "geometric"};

/// Orthonormal columns.
Eigen::MatrixXd orthogonal(Index rows, Index cols, Random& random) {
  const Eigen::MatrixXd normal = test::random_matrix(rows, cols, random);
  return Eigen::HouseholderQR<Eigen::MatrixXd>(normal).householderQ() * Eigen::MatrixXd::Identity(rows, cols);
}

/// From 1 down to 1/condition.
Vector singular_values(Index count, Spectrum spectrum, double condition, Random& random) {
  Vector s(count);
  const double last = std::max(1.0, static_cast<double>(count - 1));
  const auto large = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(count)));
  const double decay = uniform(random, 0.3, 0.95);
  for (Index i = 0; i < count; ++i) {
    if (spectrum == Spectrum::log_spaced) s[i] = std::pow(condition, -static_cast<double>(i) / last);
    if (spectrum == Spectrum::two_clusters) s[i] = i < large ? 1.0 : 1.0 / condition;
    if (spectrum == Spectrum::geometric) s[i] = std::max(std::pow(decay, i), 1.0 / condition);
  }
  return s;
}

}  // namespace

std::string Draw::text() const {
  const Split& split = problem->split();
  return fmt::format("{} {} x {}, {} validation rows{}, condition {:.1e} ({}), noise {:.2g}, lambda0 {:.3f}",
                     is_logistic() ? "logistic" : "ridge", split.train.rows(), split.train.features(),
                     split.validation.rows(), problem->intercepts() > 0 ? ", intercept" : "", condition,
                     kSpectrumNames[static_cast<int>(spectrum)], noise, lambda0);
}

Draw draw_random(std::uint64_t seed, Index largest_logistic) {
  Random random(seed);
  Draw drawn;
  drawn.seed = seed;
  const bool is_logistic = random.below(2) == 1;
  const bool intercept = random.below(2) == 1;
  const Index largest = is_logistic ? largest_logistic : 500;
  const Index n = log_uniform_size(random, 5, largest);
  const Index d = log_uniform_size(random, 5, largest);
  const Index n_valid = log_uniform_size(random, 5, 500);
  const Index rows = n + n_valid;
  drawn.spectrum = static_cast<Spectrum>(random.below(3));
  drawn.condition = std::pow(10.0, uniform(random, 0.0, 16.0));
  drawn.noise = log_uniform(random, 1e-3, 10.0);
  drawn.lambda0 = uniform(random, -20.0, 20.0);
  for (const char* name : {"alpha", "beta", "delta"})
    drawn.steps[name] = fmt::format("{:.6e}", log_uniform(random, 1e-6, 1e3));

  // X = U S V^T, its columns of mean square 1 as those of standardised data.
  const Index rank = std::min(rows, d);
  const Vector s = singular_values(rank, drawn.spectrum, drawn.condition, random);
  const Eigen::MatrixXd u = orthogonal(rows, rank, random);
  const double scale = std::sqrt(static_cast<double>(rows * d)) / s.norm();
  Matrix x = u * (scale * s).asDiagonal() * orthogonal(d, rank, random).transpose();
  // The signal: from the large singular values only (power 1) to all of them alike (power 0).
  const double power = random.uniform();
  Vector y = u * (test::random_vector(rank, random).array() * s.array().pow(power)).matrix();
  y *= std::sqrt(static_cast<double>(rows)) / y.norm();
  for (double& each : y) each += drawn.noise * random.normal();
  if (intercept) {
    x.rowwise() += test::random_vector(d, random).transpose();
    y.array() += random.normal();
  }
  if (is_logistic) {
    for (double& each : y) each = each < 0.0 ? -1.0 : 1.0;
    if (std::abs(y.head(n).sum()) == static_cast<double>(n)) y[0] = -y[0];  // both classes to train on
  }

  Dataset data;
  data.x = Design(x);
  data.y = y;
  data.source = fmt::format("seed {}", seed);
  std::vector<Index> order(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) order[static_cast<std::size_t>(i)] = i;
  drawn.problem = std::make_shared<const LinearProblem>(
      split_rows(data, order, n, n_valid), is_logistic ? logistic() : least_squares(), intercept);
  return drawn;
}

}  // namespace yosida::bench
