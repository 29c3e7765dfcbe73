#pragma once

#include "search/gaussian_process.hpp"
#include "yosida/random.hpp"

namespace yosida::search {

/// Moves hyperparameters by one sweep of slice sampling over what observations leave open, for values of mean
/// 0 and variance 1 (or all 0) and points in the unit cube. Densities before observations, as in Spearmint:
/// lengths uniform on (0, 2), e^(−½ log² a) for the amplitude a, a horseshoe log(1 + (noise_scale / v)²) for
/// the noise v, the mean uniform between the least and the greatest value.
void sample_hyperparameters(const Matrix& points, const Vector& values, double noise_scale, Random& random,
                            GpHyperparameters& hyperparameters);

}  // namespace yosida::search
