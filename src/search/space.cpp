#include "yosida/search/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "yosida/error.hpp"

namespace yosida::search {
namespace {

void check(const Dimension& dimension, std::size_t number) {
  const std::string name = dimension.name.empty() ? fmt::format("dimension {}", number + 1) : dimension.name;
  const auto refuse = [&](const char* rule) {
    throw InputError(fmt::format("{} = [{}, {}]: {}", name, dimension.low, dimension.high, rule));
  };
  if (!std::isfinite(dimension.low) || !std::isfinite(dimension.high)) refuse("both ends must be finite");
  if (dimension.low == dimension.high) refuse("the range is empty: low must be below high");
  if (dimension.low > dimension.high) refuse("low must be below high");
  if (!std::isfinite(dimension.high - dimension.low)) refuse("the range is too wide for a number");
  if (dimension.scale == Scale::logarithmic && dimension.low <= 0.0)
    refuse("low must be above 0 on a logarithmic scale");
}

}  // namespace

Space::Space(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {
  if (dimensions_.empty()) throw InputError("space: must have at least one dimension");
  for (std::size_t j = 0; j < dimensions_.size(); ++j) check(dimensions_[j], j);
}

Vector Space::from_unit(const Vector& unit) const {
  Vector x(size());
  for (Index j = 0; j < size(); ++j) {
    const auto& [low, high, scale, name] = dimensions_[static_cast<std::size_t>(j)];
    const double t = unit[j];
    const double inside = scale == Scale::linear ? (1.0 - t) * low + t * high
                                                 : std::exp((1.0 - t) * std::log(low) + t * std::log(high));
    // exp(log(low)) need not be low.
    x[j] = t <= 0.0 ? low : t >= 1.0 ? high : std::clamp(inside, low, high);
  }
  return x;
}

Vector Space::to_unit(const Vector& x) const {
  Vector unit(size());
  for (Index j = 0; j < size(); ++j) {
    const auto& [low, high, scale, name] = dimensions_[static_cast<std::size_t>(j)];
    unit[j] = scale == Scale::linear ? (x[j] - low) / (high - low)
                                     : (std::log(x[j]) - std::log(low)) / (std::log(high) - std::log(low));
  }
  return unit;
}

}  // namespace yosida::search
