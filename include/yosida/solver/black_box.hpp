#pragma once

#include "yosida/export.hpp"
#include "yosida/search/samplers.hpp"
#include "yosida/solver/solve.hpp"

namespace YOSIDA_EXPORT yosida {

/// A black-box search as a solver: each step is one trial, which trains under the λ that a sampler proposes
/// and tells it L_V. The iterate is the best trial so far, so a trace never rises. It is w = 0 until a trial
/// is finite.
class BlackBox final : public Solver {
 public:
  struct Settings {
    std::int64_t trials = 0;  ///< 0: as many as the budget pays for, default_trials where that is not known
    std::int64_t train_steps = 0;  ///< 0: the exact inner solve
    double train_step_size = 0.0;  ///< 0: 1/(largest curvature)
    std::int64_t default_trials = 25;
  };
  /// `may_solve`: train_steps may be 0, which Hyperband's trials, cut short, may not.
  static const std::vector<Setting<Settings>>& table(bool may_solve = true);

  /// `method` is the name in messages. Throws InputError where a setting breaks its rule.
  BlackBox(std::string method, search::SamplerFactory sampler, Settings settings);

  /// No limit: a search ends by itself after its trials.
  std::int64_t default_iterations() const override { return std::numeric_limits<std::int64_t>::max(); }
  bool stays_in_row_space() const override { return true; }
  std::unique_ptr<Run> start(const BilevelProblem& problem, const Start& start) const override;

 private:
  std::string method_;
  search::SamplerFactory sampler_;
  Settings settings_;
};

/// The range that the paper searches, whose trials train by gradient steps.
inline constexpr double kPaperLow = -10.0;
inline constexpr double kPaperHigh = 5.0;

}  // namespace yosida
