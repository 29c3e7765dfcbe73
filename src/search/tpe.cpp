#include "search/tpe.hpp"

#include <algorithm>
#include <cmath>

#include "search/random_search.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida::search {
namespace {

/// The best of so many draws from l by log l − log g, the first where equal.
double best_candidate(const ParzenMixture& below, const ParzenMixture& above, std::int64_t candidates,
                      Random& random) {
  double best = 0.0, best_score = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < candidates; ++i) {
    const double t = below.sample(random);
    if (const double score = below.log_density(t) - above.log_density(t); score > best_score) {
      best = t;
      best_score = score;
    }
  }
  return best;
}

}  // namespace

const std::vector<Setting<Tpe::Settings>>& Tpe::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::count("startup", &Settings::startup, "random trials before the first model", "hyperopt"),
      settings::whole("candidates", &Settings::candidates, 1, kMostCandidates, kCandidatesRule,
                      "draws from l(x) per proposal and dimension", "hyperopt"),
      settings::real("gamma", &Settings::gamma, LowerLimit::positive(),
                     "the best ⌈gamma √trials⌉ trials make up l(x)", "hyperopt"),
      settings::real("prior_weight", &Settings::prior_weight, LowerLimit::positive(),
                     "weight of the prior beside trials of weight 1", "hyperopt"),
      settings::count("forgetting", &Settings::forgetting,
                      "newest trials that keep their full weight; l(x) is of no more than these", "hyperopt"),
  };
  return rows;
}

Tpe::Tpe(const Space& space, const SamplerOptions& options, const Settings& settings)
    : HistorySampler(space, options.seed), settings_(settings) {}

Vector Tpe::next_point() {
  if (history_.size() < settings_.startup) return uniform_point(random_, space_.size());
  return tpe_point(history_, settings_, random_);
}

Vector tpe_point(const TrialHistory& history, const Tpe::Settings& settings, Random& random) {
  const Split split = split_trials(history, tpe_below(history.size(), settings), settings.forgetting);
  Vector unit(history.dimensions());
  for (Index j = 0; j < unit.size(); ++j) {
    const ParzenMixture below = hyperopt_mixture(history, j, split, true, settings.prior_weight);
    const ParzenMixture above = hyperopt_mixture(history, j, split, false, settings.prior_weight);
    unit[j] = best_candidate(below, above, settings.candidates, random);
  }
  return unit;
}

Index tpe_below(Index trials, const Tpe::Settings& settings) {
  const double wanted = std::ceil(settings.gamma * std::sqrt(static_cast<double>(trials)));
  return static_cast<Index>(std::min(wanted, static_cast<double>(settings.forgetting)));
}

}  // namespace yosida::search
