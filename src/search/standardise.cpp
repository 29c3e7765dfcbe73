#include "search/standardise.hpp"

#include <algorithm>
#include <cmath>

namespace yosida::search {
namespace {

/// Values of [0, 1], both ends reached; all 0 where they are equal or none is finite.
Vector spread_over_unit(Vector z) {
  const double largest = z.array().isFinite().select(z.cwiseAbs(), 0.0).maxCoeff();
  if (largest == 0.0) return Vector::Zero(z.size());
  // A power of 2 first: differences of the largest numbers overflow, the least have few digits.
  const int exponent = std::ilogb(largest) + 1;
  double worst = -1.0;
  for (double& each : z)
    if (std::isfinite(each)) worst = std::max(worst, each = std::scalbn(each, -exponent));
  z = z.array().isFinite().select(z, worst);
  const double best = z.minCoeff();
  if (worst == best) return Vector::Zero(z.size());
  return (z.array() - best) / (worst - best);
}

/// Above twice the median, values of [0, 1] grow by their logarithm, without a jump or a kink.
void compress(Vector& z) {
  Vector sorted = z;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  if (median == 0.0) return;
  for (double& each : z)
    if (each > 2.0 * median) each = median * (2.0 + std::log(each / median - 1.0));
}

}  // namespace

// Deviation: Spearmint takes values as they come, though its priors and first guesses suit values of order 1.
Vector standardised(Vector values) {
  Vector z = spread_over_unit(std::move(values));
  compress(z);
  const double range = z.maxCoeff();
  if (range == 0.0) return z;
  z /= range;  // a tiny median leaves tiny values, whose squares would vanish
  z.array() -= z.mean();
  return z / std::sqrt(z.squaredNorm() / static_cast<double>(z.size()));
}

}  // namespace yosida::search
