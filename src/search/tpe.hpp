#pragma once

#include "search/history_sampler.hpp"
#include "search/parzen.hpp"

namespace yosida::search {

/// The most candidates that a proposal compares: more take time and change nothing.
inline constexpr std::int64_t kMostCandidates = 100'000;
inline constexpr const char* kCandidatesRule = "a whole number from 1 to 100000";

/// The tree-structured Parzen estimator as hyperopt has it (Bergstra et al. 2011; hyperopt/tpe.py): each
/// dimension for itself, the candidate with the largest l(x)/g(x), where l models the best trials and g the
/// others. Trials that failed or are still open stand among the others.
class Tpe : public HistorySampler {
 public:
  static constexpr const char* name = "tpe";
  struct Settings {
    std::int64_t startup = 20;
    std::int64_t candidates = 24;
    double gamma = 0.25;
    double prior_weight = 1.0;
    std::int64_t forgetting = 25;
  };
  static const std::vector<Setting<Settings>>& table();

  Tpe(const Space& space, const SamplerOptions& options, const Settings& settings);

 private:
  Vector next_point() override;

  Settings settings_;
};

/// What TPE proposes after a history of one trial or more.
Vector tpe_point(const TrialHistory& history, const Tpe::Settings& settings, Random& random);

/// How many of so many trials count as the best ones: ⌈gamma √trials⌉, at most `forgetting`.
Index tpe_below(Index trials, const Tpe::Settings& settings);

}  // namespace yosida::search
