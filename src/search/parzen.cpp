#include "search/parzen.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace yosida::search {
namespace {

constexpr double prior_centre = 0.5;
constexpr double prior_width = 1.0;

/// The part of N(centre, width²) in [0, 1].
double mass_inside(double centre, double width) {
  const double scale = 1.0 / (std::numbers::sqrt2 * width);
  return 0.5 * (std::erf((1.0 - centre) * scale) + std::erf(centre * scale));
}

Eigen::Map<const Eigen::ArrayXd> as_array(const std::vector<double>& values) {
  return {values.data(), std::ssize(values)};
}

/// The weight of the trial of this age (0 is the oldest) among `count`. The weights are numpy's
/// linspace(1/count, 1, count − forgetting), then ones.
double forgetting_weight(Index age, Index count, Index forgetting) {
  const Index ramp = std::max<Index>(0, count - forgetting);
  if (age >= ramp) return 1.0;
  const double oldest = 1.0 / static_cast<double>(count);
  if (ramp == 1) return oldest;
  return oldest + (1.0 - oldest) * static_cast<double>(age) / static_cast<double>(ramp - 1);
}

/// The larger gap of every centre to a neighbour; centres are sorted, two at least.
std::vector<double> larger_gaps(const std::vector<double>& centres) {
  const std::size_t last = centres.size() - 1;
  std::vector<double> gaps(centres.size());
  gaps[0] = centres[1] - centres[0];
  gaps[last] = centres[last] - centres[last - 1];
  for (std::size_t k = 1; k < last; ++k)
    gaps[k] = std::max(centres[k] - centres[k - 1], centres[k + 1] - centres[k]);
  return gaps;
}

}  // namespace

ParzenMixture::ParzenMixture(std::vector<double> centres, std::vector<double> widths,
                             const std::vector<double>& weights)
    : centres_(std::move(centres)),
      widths_(std::move(widths)),
      cumulative_(weights.size()),
      heights_(weights.size()),
      curvatures_(weights.size()) {
  const double total = as_array(weights).sum();
  double sum = 0.0, inside = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double weight = weights[k] / total;
    cumulative_[k] = sum += weight;
    inside += weight * mass_inside(centres_[k], widths_[k]);
    heights_[k] = weight / (widths_[k] * std::sqrt(2.0 * std::numbers::pi));
    curvatures_[k] = -0.5 / (widths_[k] * widths_[k]);
  }
  for (double& height : heights_) height /= inside;
}

double ParzenMixture::log_density(double t) const {
  return std::log(
      (as_array(heights_) * (as_array(curvatures_) * (t - as_array(centres_)).square()).exp()).sum());
}

double ParzenMixture::sample(Random& random) const {
  for (;;) {
    const auto above =
        std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, random.uniform() * cumulative_.back());
    const auto k = static_cast<std::size_t>(above - cumulative_.begin());
    const double t = centres_[k] + widths_[k] * random.normal();
    // A draw outside is drawn anew, its component too: what log_density divides by.
    if (t >= 0.0 && t < 1.0) return t;
  }
}

Split split_trials(const TrialHistory& history, Index below, Index forgetting) {
  const Index trials = history.size();
  Split split{std::vector<bool>(static_cast<std::size_t>(trials)),
              std::vector<double>(static_cast<std::size_t>(trials))};
  below = std::min(below, trials);
  for (Index rank = 0; rank < below; ++rank)
    split.is_below[static_cast<std::size_t>(history.by_value()[static_cast<std::size_t>(rank)])] = true;
  Index ages[] = {0, 0};
  const Index counts[] = {trials - below, below};
  for (std::size_t trial = 0; trial < split.weights.size(); ++trial) {
    const bool part = split.is_below[trial];
    split.weights[trial] = forgetting_weight(ages[part]++, counts[part], forgetting);
  }
  return split;
}

ParzenMixture hyperopt_mixture(const TrialHistory& history, Index dimension, const Split& split, bool below,
                               double prior_weight) {
  std::vector<double> centres, weights;
  std::size_t prior = 0;  // its place among the centres
  const auto insert_prior = [&] {
    prior = centres.size();
    centres.push_back(prior_centre);
    weights.push_back(prior_weight);
  };
  bool has_prior = false;
  for (const Index trial : history.by_coordinate(dimension)) {
    if (split.is_below[static_cast<std::size_t>(trial)] != below) continue;
    const double centre = history.coordinate(dimension, trial);
    if (!has_prior && centre >= prior_centre) {
      insert_prior();
      has_prior = true;
    }
    centres.push_back(centre);
    weights.push_back(split.weights[static_cast<std::size_t>(trial)]);
  }
  if (!has_prior) insert_prior();

  std::vector<double> widths(centres.size(), 0.5 * prior_width);  // of a single trial
  if (centres.size() > 2) widths = larger_gaps(centres);
  const double narrowest = prior_width / std::min(100.0, 1.0 + static_cast<double>(centres.size()));
  for (double& width : widths) width = std::clamp(width, narrowest, prior_width);
  widths[prior] = prior_width;
  return {std::move(centres), std::move(widths), weights};
}

}  // namespace yosida::search
