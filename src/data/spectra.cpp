#include "yosida/data/spectra.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "yosida/error.hpp"
#include "yosida/random.hpp"

namespace yosida {
namespace {

constexpr Index kSamples = 70;
constexpr Index kWavelengths = 699;
constexpr Index kConstituents = 5;
constexpr Index kBands = 4;  // per constituent
constexpr Index kTrainRows = 34;
constexpr Index kValidationRows = 17;

/// Pure spectra: each a sum of Gaussian bands of 60 to 200 nm between 1102 and 2498 nm.
Matrix pure_spectra(Random& random) {
  Matrix pure = Matrix::Zero(kConstituents, kWavelengths);
  for (Index c = 0; c < kConstituents; ++c)
    for (Index band = 0; band < kBands; ++band) {
      const double height = 0.2 + 0.8 * random.uniform();
      const double center = 1102.0 + 1396.0 * random.uniform();
      const double width = 60.0 + 140.0 * random.uniform();
      for (Index j = 0; j < kWavelengths; ++j) {
        const double z = (1102.0 + 2.0 * static_cast<double>(j) - center) / width;
        pure(c, j) += height * std::exp(-0.5 * z * z);
      }
    }
  return pure;
}

}  // namespace

Dataset spectra(std::uint64_t seed) {
  Random random(seed);
  const Matrix pure = pure_spectra(random);
  Dataset data;
  data.source = "spectra";
  data.target_name = "fat";
  for (Index j = 0; j < kWavelengths; ++j) data.feature_names.push_back(fmt::format("nm{}", 1102 + 2 * j));
  Matrix x(kSamples, kWavelengths);
  data.y.resize(kSamples);
  for (Index i = 0; i < kSamples; ++i) {
    Vector share(kConstituents);  // of each constituent, about 20 % ± 4 %
    for (double& each : share) each = 0.2 + 0.04 * random.normal();
    const double scatter = 1.0 + 0.03 * random.normal();
    const double offset = 0.02 * random.normal();
    const double drift = 0.02 * random.normal();
    for (Index j = 0; j < kWavelengths; ++j) {
      const double position = static_cast<double>(j) / static_cast<double>(kWavelengths - 1);
      x(i, j) = scatter * pure.col(j).dot(share) + offset + drift * position + 1e-3 * random.normal();
    }
    data.y[i] = 100.0 * share[0] + 0.3 * random.normal();  // per cent, with the laboratory's own error
  }
  data.x = Design(std::move(x));
  return data;
}

Split built_in(const std::string& name, std::uint64_t seed) {
  if (name != "spectra")
    throw InputError(
        fmt::format("data = {}: no such built-in data set; there is: spectra. For files use --train", name));
  const Dataset data = spectra(seed);
  std::vector<Index> order(static_cast<std::size_t>(kSamples));
  std::iota(order.begin(), order.end(), Index{0});  // samples are independent draws: any order is random
  return split_rows(data, order, kTrainRows, kValidationRows);
}

}  // namespace yosida
