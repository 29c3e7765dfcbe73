#include "search/tpe_2.hpp"

#include <algorithm>
#include <cmath>

#include "search/local_step.hpp"
#include "search/random_search.hpp"
#include "search/tpe.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida::search {
namespace {

/// Kronecker's sequence by the generalised golden ratio (Roberts 2018): strides φ⁻¹, φ⁻², … where φ is the
/// root of φ^(dimensions + 1) = φ + 1. However many of its points are taken, they are evenly spread.
Vector golden_strides(Index dimensions) {
  double phi = 2.0;
  for (int i = 0; i < 60; ++i) phi = std::pow(1.0 + phi, 1.0 / static_cast<double>(dimensions + 1));
  Vector strides(dimensions);
  for (Index j = 0; j < dimensions; ++j) strides[j] = std::pow(phi, -static_cast<double>(j + 1));
  return strides;
}

}  // namespace

const std::vector<Setting<Tpe2::Settings>>& Tpe2::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::count("startup", &Settings::startup,
                      "evenly spread trials before the first model; at least dimensions + 1",
                      "ours: fewest trials on functions of one number"),
      settings::count("refine", &Settings::refine,
                      "every so many proposals one is a step to the bottom of a parabola", "ours"),
      settings::whole("candidates", &Settings::candidates, 1, kMostCandidates, kCandidatesRule,
                      "draws from l(x) per proposal and dimension", "hyperopt"),
      settings::real("gamma", &Settings::gamma, LowerLimit::positive(),
                     "the best ⌈gamma √trials⌉ trials make up l(x)", "ours: hyperopt's is half of it"),
      settings::real("prior_weight", &Settings::prior_weight, LowerLimit::positive(),
                     "weight of the prior beside trials of weight 1", "hyperopt"),
  };
  return rows;
}

Tpe2::Tpe2(const Space& space, const SamplerOptions& options, const Settings& settings)
    : HistorySampler(space, options.seed),
      settings_(settings),
      startup_(std::max<Index>(settings.startup, space.size() + 1)),
      first_(uniform_point(random_, space.size())),
      stride_(golden_strides(space.size())) {}

Vector Tpe2::next_point() {
  const Index trials = history_.size();
  if (trials < startup_) return spread_point(trials);
  if ((trials - startup_) % settings_.refine == 0)
    if (std::optional<Vector> step = local_step(history_)) return *std::move(step);
  return tpe_point(history_,
                   {.startup = settings_.startup,
                    .candidates = settings_.candidates,
                    .gamma = settings_.gamma,
                    .prior_weight = settings_.prior_weight,
                    .forgetting = trials},
                   random_);
}

Vector Tpe2::spread_point(Index number) const {
  Vector unit = first_ + static_cast<double>(number) * stride_;
  return unit.array() - unit.array().floor();
}

}  // namespace yosida::search
