#include "search/gp_prior.hpp"

#include <cmath>
#include <limits>

#include "search/slice_sampler.hpp"

namespace yosida::search {
namespace {

constexpr double kLongestLength = 2.0;
/// Shorter ones, or less noise, change no digit; their inverses and squares would overflow.
constexpr double kShortestLength = 1e-6;
constexpr double kLeastLogNoise = -100.0;

/// What is sampled: mean, log amplitude, log noise, lengths.
// Deviation: Spearmint moves mean, amplitude and noise along one random direction, on which the noise, small
// and never below 0, keeps the others from moving. One coordinate at a time, positive ones by their
// logarithms, the same posterior is explored in far fewer sweeps.
Vector coordinates(const GpHyperparameters& h) {
  Vector x(3 + h.lengths.size());
  x << h.mean, std::log(h.amplitude), std::log(h.noise), h.lengths;
  return x;
}

GpHyperparameters hyperparameters_at(const Vector& x) {
  return {x[0], std::exp(x[1]), std::exp(x[2]), x.tail(x.size() - 3)};
}

/// The prior's density at coordinates x, by logarithm; the density of log noise is e^(log noise) times that
/// of the noise, and likewise for the amplitude.
double log_prior(const Vector& values, double noise_scale, const Vector& x) {
  const double mean = x[0], log_amplitude = x[1], log_noise = x[2];
  const auto lengths = x.tail(x.size() - 3);
  if (mean < values.minCoeff() || mean > values.maxCoeff() || log_noise < kLeastLogNoise ||
      lengths.minCoeff() < kShortestLength || lengths.maxCoeff() > kLongestLength)
    return -std::numeric_limits<double>::infinity();
  const double horseshoe = std::log(std::log1p(std::pow(noise_scale / std::exp(log_noise), 2)));
  return horseshoe + log_noise - 0.5 * log_amplitude * log_amplitude + log_amplitude;
}

}  // namespace

void sample_hyperparameters(const Matrix& points, const Vector& values, double noise_scale, Random& random,
                            GpHyperparameters& hyperparameters) {
  const auto log_posterior = [&](const Vector& x) {
    const double prior = log_prior(values, noise_scale, x);
    return std::isfinite(prior)
               ? prior + GaussianProcess(points, values, hyperparameters_at(x)).log_likelihood()
               : prior;
  };
  Vector x = coordinates(hyperparameters);
  slice_sweep(log_posterior, random, x);
  hyperparameters = hyperparameters_at(x);
}

}  // namespace yosida::search
