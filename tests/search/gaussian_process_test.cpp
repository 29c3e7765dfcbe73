#include "search/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "search/gp_prior.hpp"
#include "yosida/random.hpp"

// Posterior, likelihood and expected improvement are compared with numpy by reference/check_gp.py.

namespace yosida::search {
namespace {

Matrix random_points(Index dimensions, Index count, Random& random) {
  Matrix points(dimensions, count);
  for (double& each : points.reshaped()) each = random.uniform();
  return points;
}

Vector waves(const Matrix& points) {
  return ((5.0 * points.array()).sin().colwise().sum() + points.array().square().colwise().sum()).transpose();
}

double improvement_at(const GaussianProcess& process, double best, const Vector& x) {
  Vector mean, variance;
  process.predict(x, 0, 1, mean, variance);
  return expected_improvement(best, mean[0], variance[0]).value;
}

// ∫ max(0, best − f) N(f; m, s²) df by the rule of trapezoids, exact to rounding for such smooth ends.
TEST(ExpectedImprovement, EqualsItsIntegral) {
  for (const double mean : {-1.0, 0.0, 0.7, 3.0})
    for (const double s : {0.1, 1.0, 4.0}) {
      constexpr double kBest = 0.5;
      constexpr int kSteps = 200'000;
      const double low = std::min(mean - 12.0 * s, kBest), width = (kBest - low) / kSteps;
      double sum = 0.0;
      for (int i = 0; i <= kSteps; ++i) {
        const double f = low + i * width, u = (f - mean) / s;
        sum += (i == 0 || i == kSteps ? 0.5 : 1.0) * (kBest - f) * std::exp(-0.5 * u * u);
      }
      const double expected = sum * width / (s * std::sqrt(2.0 * std::numbers::pi));
      // The end at `best` has a kink of slope φ: an error of width²/12 φ, below 1e-9.
      EXPECT_NEAR(expected_improvement(kBest, mean, s * s).value, expected, 1e-9) << mean << ", " << s;
    }
}

TEST(ExpectedImprovement, DerivativesEqualDifferences) {
  constexpr double kStep = 1e-5;  // central: errors of kStep² and ε / kStep, both 1e-10 or below
  for (const double mean : {-1.0, 0.3, 2.0})
    for (const double variance : {0.05, 1.0, 9.0}) {
      const Improvement at = expected_improvement(0.2, mean, variance);
      const auto value = [](double m, double v) { return expected_improvement(0.2, m, v).value; };
      EXPECT_NEAR(at.by_mean, (value(mean + kStep, variance) - value(mean - kStep, variance)) / (2.0 * kStep),
                  1e-8);
      EXPECT_NEAR(at.by_variance,
                  (value(mean, variance + kStep) - value(mean, variance - kStep)) / (2.0 * kStep), 1e-8);
    }
}

TEST(ExpectedImprovement, IsNeitherNegativeNorNaN) {
  for (const double mean : {-1e6, -1e3, 0.0, 10.0, 40.0, 1e3, 1e6})
    for (const double variance : {1e-20, 1e-9, 1.0, 1e20}) {
      const Improvement at = expected_improvement(0.0, mean, variance);
      EXPECT_GE(at.value, 0.0) << mean << ", " << variance;
      EXPECT_TRUE(std::isfinite(at.value) && std::isfinite(at.by_mean) && std::isfinite(at.by_variance))
          << mean << ", " << variance;
    }
}

// A covariance of condition 1e4 leaves some 1e-12 in EI, so 1e-7 in a difference of step 1e-5; the third
// derivative, up to some 1e3 for lengths of 0.3, leaves as much.
TEST(GaussianProcess, GradientOfImprovementEqualsDifferences) {
  constexpr double kStep = 1e-5;
  Random random(3);
  for (const Index dimensions : {1, 2, 5, 10}) {
    const Matrix points = random_points(dimensions, 15, random);
    const Vector values = waves(points);
    GpHyperparameters hyperparameters{
        .mean = 0.2, .amplitude = 1.7, .noise = 1e-3, .lengths = Vector::Constant(dimensions, 0.6)};
    hyperparameters.lengths[0] = 0.3;
    const GaussianProcess process(points, values, hyperparameters);
    const double best = values.minCoeff();
    for (int repeat = 0; repeat < 20; ++repeat) {
      Vector x = random_points(dimensions, 1, random).col(0);
      Vector gradient = Vector::Ones(dimensions);  // it is added to
      EXPECT_NEAR(process.add_improvement(best, x, gradient), improvement_at(process, best, x), 1e-11);
      gradient.array() -= 1.0;
      for (Index d = 0; d < dimensions; ++d) {
        const double at = x[d];
        x[d] = at + kStep;
        const double above = improvement_at(process, best, x);
        x[d] = at - kStep;
        const double below = improvement_at(process, best, x);
        x[d] = at;
        EXPECT_NEAR(gradient[d], (above - below) / (2.0 * kStep), 1e-6) << dimensions << " dimensions, " << d;
      }
    }
  }
}

// Without noise the mean passes through the values but for the jitter, 1e-6 of the amplitude, times weights
// of order 100.
TEST(GaussianProcess, PassesThroughWhatItSaw) {
  Random random(4);
  const Matrix points = random_points(2, 12, random);
  const Vector values = waves(points);
  const GaussianProcess process(points, values, {.noise = 1e-12, .lengths = Vector::Constant(2, 0.5)});
  Vector mean, variance;
  process.predict(points, 0, 12, mean, variance);
  EXPECT_LE((mean - values).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LE(variance.maxCoeff(), 1e-5);
  EXPECT_GT(variance.minCoeff(), 0.0);
}

TEST(GaussianProcess, KnowsNothingFarAway) {
  const GaussianProcess process(Matrix::Zero(1, 1), Vector::Constant(1, -5.0),
                                {.mean = 2.0, .amplitude = 3.0, .lengths = Vector::Constant(1, 0.01)});
  Vector mean, variance;
  process.predict(Matrix::Ones(1, 1), 0, 1, mean, variance);
  EXPECT_DOUBLE_EQ(mean[0], 2.0);
  EXPECT_DOUBLE_EQ(variance[0], 3.0 * (1.0 + 1e-6));
}

TEST(GaussianProcess, PredictsTheSameInBlocks) {
  Random random(5);
  const Matrix points = random_points(3, 9, random), candidates = random_points(3, 40, random);
  const GaussianProcess process(points, waves(points), {.lengths = Vector::Constant(3, 0.7)});
  Vector mean, variance, part_mean, part_variance;
  process.predict(candidates, 0, 40, mean, variance);
  process.predict(candidates, 13, 20, part_mean, part_variance);
  // Blocks may be summed in another order.
  EXPECT_LE((mean.segment(13, 20) - part_mean).norm(), 1e-11);
  EXPECT_LE((variance.segment(13, 20) - part_variance).norm(), 1e-11);
}

TEST(GaussianProcess, TakesPointsThatCoincideAndHyperparametersAtTheirEnds) {
  const Matrix points = Matrix::Constant(2, 30, 0.4);
  const Vector values = Vector::LinSpaced(30, -1.0, 1.0);
  Random random(6);
  const Matrix candidates = random_points(2, 10, random);
  for (const double amplitude : {1e-12, 1.0, 1e12})
    for (const double noise : {1e-40, 1.0})
      for (const double length : {1e-6, 2.0}) {
        const GaussianProcess process(
            points, values, {.amplitude = amplitude, .noise = noise, .lengths = Vector::Constant(2, length)});
        Vector mean, variance, gradient = Vector::Zero(2);
        process.predict(candidates, 0, 10, mean, variance);
        EXPECT_TRUE(mean.allFinite() && variance.allFinite() && (variance.array() > 0.0).all());
        EXPECT_TRUE(std::isfinite(process.log_likelihood()));
        EXPECT_TRUE(std::isfinite(process.add_improvement(-1.0, points.col(0), gradient)));
        EXPECT_TRUE(gradient.allFinite());
      }
}

/// Means of log amplitude and log noise after one value, 0, by summing the densities of gp_prior.hpp over a
/// grid.
std::pair<double, double> expected_logs(double noise_scale) {
  double sum = 0.0, log_amplitude = 0.0, log_noise = 0.0;
  for (double a = -8.0; a < 8.0; a += 0.05)
    for (double v = -40.0; v < 8.0; v += 0.05) {
      const double variance = std::exp(a) * (1.0 + 1e-6) + std::exp(v);
      const double density = std::exp(-0.5 * a * a + a + v) *
                             std::log1p(std::pow(noise_scale * std::exp(-v), 2)) / std::sqrt(variance);
      sum += density;
      log_amplitude += density * a;
      log_noise += density * v;
    }
  return {log_amplitude / sum, log_noise / sum};
}

// Standard deviations are about 1 (log amplitude), 1.7 (log noise) and 0.6 (length); of 20 000 sweeps some
// 4000 count, so four standard errors are below 0.11.
TEST(GpPrior, IsSampledWhereASingleValueLeavesItOpen) {
  for (const double scale : {0.1, 1e-3}) {
    Random random(7);
    GpHyperparameters hyperparameters{.lengths = Vector::Ones(2)};
    double log_amplitude = 0.0, log_noise = 0.0;
    Vector lengths = Vector::Zero(2);
    constexpr int kSweeps = 20'000;
    for (int i = 0; i < kSweeps; ++i) {
      sample_hyperparameters(Matrix::Constant(2, 1, 0.5), Vector::Zero(1), scale, random, hyperparameters);
      log_amplitude += std::log(hyperparameters.amplitude) / kSweeps;
      log_noise += std::log(hyperparameters.noise) / kSweeps;
      lengths += hyperparameters.lengths / kSweeps;
      ASSERT_EQ(hyperparameters.mean, 0.0);
    }
    const auto [expected_amplitude, expected_noise] = expected_logs(scale);
    EXPECT_NEAR(log_amplitude, expected_amplitude, 0.11);
    EXPECT_NEAR(log_noise, expected_noise, 0.11);
    EXPECT_NEAR(lengths[0], 1.0, 0.06);  // uniform on (0, 2)
    EXPECT_NEAR(lengths[1], 1.0, 0.06);
  }
}

// A function of the first coordinate alone: the second is found not to matter.
TEST(GpPrior, FindsWhichCoordinateMatters) {
  Random random(8);
  const Matrix points = random_points(2, 30, random);
  Vector values = (10.0 * points.row(0).array()).sin().transpose();
  values.array() -= values.mean();
  values /= std::sqrt(values.squaredNorm() / 30.0);
  GpHyperparameters hyperparameters{.lengths = Vector::Ones(2)};
  Vector lengths = Vector::Zero(2);
  for (int i = 0; i < 200; ++i) {
    sample_hyperparameters(points, values, 1e-3, random, hyperparameters);
    if (i >= 100) lengths += hyperparameters.lengths / 100.0;
  }
  EXPECT_LT(lengths[0], 0.7);
  EXPECT_GT(lengths[1], 1.3);
  EXPECT_LT(hyperparameters.noise, 0.05);
}

}  // namespace
}  // namespace yosida::search
