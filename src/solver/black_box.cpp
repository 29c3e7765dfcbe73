#include "yosida/solver/black_box.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "solver/direct_term.hpp"
#include "yosida/error.hpp"
#include "yosida/setting_rules.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace yosida {
namespace {

using Settings = BlackBox::Settings;

constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();

/// What is searched: the bounds given, the paper's where trials train as the paper's do, or the data's own.
Start searched(const BilevelProblem& problem, Start start, const Settings& settings) {
  if (!start.is_bounded() && settings.train_steps > 0) {
    start.bound(kPaperLow, kPaperHigh);
    start.clamp(start.lambda);
  }
  return with_bounds(problem, std::move(start));
}

search::Space space_of(const Start& range) {
  std::vector<search::Dimension> dimensions;
  for (Index j = 0; j < range.lambda.size(); ++j)
    dimensions.push_back(
        {.low = range.low[j], .high = range.high[j], .name = fmt::format("lambda {}", j + 1)});
  return search::Space(std::move(dimensions));
}

/// What the step size of the first trial costs: the gradient it begins with, and products.
std::int64_t curvature_work(const Settings& settings) {
  return settings.train_step_size == 0.0 ? 1 + CurvatureIteration::kFirstProducts : 0;
}

/// Trials that a budget of gradients pays for, each trained by all its steps.
std::int64_t affordable(std::int64_t gradients, const Settings& settings) {
  const bool measures_curvature = settings.train_step_size == 0.0;
  const std::int64_t each =
      settings.train_steps + (measures_curvature ? CurvatureIteration::kFurtherProducts : 0);
  const std::int64_t first_extra = curvature_work(settings) - (each - settings.train_steps);
  return (gradients - first_extra) / each;
}

/// Trials after which a search ends by itself. An exact solve may cost no gradient at all, so a budget of
/// these alone does not end it.
std::int64_t trial_limit(const Budget& budget, const Settings& settings) {
  if (settings.trials > 0) return settings.trials;
  const bool is_limited = budget.iterations < kUnlimited || std::isfinite(budget.seconds) ||
                          (settings.train_steps > 0 && budget.gradients < kUnlimited);
  return is_limited ? kUnlimited : settings.default_trials;
}

/// Trials to lay out in advance.
std::int64_t planned_trials(const Budget& budget, const Settings& settings) {
  std::int64_t trials = std::min(trial_limit(budget, settings), budget.iterations);
  if (settings.train_steps > 0 && budget.gradients < kUnlimited)
    trials = std::min(trials, affordable(budget.gradients, settings));
  return trials < kUnlimited ? std::max<std::int64_t>(1, trials) : settings.default_trials;
}

class Search final : public Run {
 public:
  Search(const BilevelProblem& problem, const Start& start, const search::SamplerFactory& sampler,
         const Settings& settings)
      : problem_(problem), settings_(settings), limit_(trial_limit(start.budget, settings)) {
    const Start range = searched(problem, start, settings);
    sampler_ =
        sampler(space_of(range), {.seed = start.seed, .trials = planned_trials(start.budget, settings)});
    if (const auto size = sampler_->size()) limit_ = std::min(limit_, *size);
    best_.lambda = range.lambda;
    best_.status = SolverStatus::untrained;
    untrained_ = starting_weights(problem);
    best_.w = w_ = untrained_;
    g_.resize(problem.weights());
  }

  const Iterate& iterate() const override { return best_; }

  void step() override {
    const auto proposal = sampler_->ask();
    if (!proposal) {  // no size was said, and yet there is an end
      best_.trial.reset();
      best_.status = SolverStatus::exhausted;
      return;
    }
    train(*proposal);
    const double value = w_.allFinite() ? problem_.validation_loss(w_, proposal->x) : std::nan("");
    sampler_->tell(*proposal, value);
    best_.trial = {.lambda = proposal->x, .validation = std::isfinite(value) ? value : std::nan("")};
    ++trials_;
    if (limit_ < kUnlimited) best_.share_done = static_cast<double>(trials_) / static_cast<double>(limit_);
    if (value < best_value_) {
      best_value_ = value;
      best_.lambda = proposal->x;
      best_.w = w_;
      best_.status = SolverStatus::running;
    }
    if (trials_ == limit_) best_.status = SolverStatus::exhausted;
  }

 private:
  void train(const search::Proposal& proposal) {
    if (settings_.train_steps > 0) return descend(proposal);
    // It starts from the last trial's weights, which are near; from 0 where they are no use.
    if (!w_.allFinite()) w_ = untrained_;
    if (!problem_.inner_solve(proposal.x, {}, w_).converged) ++best_.inexact_solves;
  }

  /// The paper's training: w ← w − α ∇L_T(w, λ) from w = 0, or from where this configuration was left.
  void descend(const search::Proposal& proposal) {
    std::int64_t done = take_up(proposal);
    const auto steps =
        std::max<std::int64_t>(1, std::llround(proposal.share * static_cast<double>(settings_.train_steps)));
    const double alpha = step_size(proposal.x);
    for (; done < steps; ++done) {
      problem_.train_gradient(w_, proposal.x, g_);
      w_ -= alpha * g_;
    }
    if (proposal.share < 1.0) begun_[proposal.id] = {.w = w_, .steps = done};
  }

  /// Puts the weights of a configuration in w; how many steps they have had.
  std::int64_t take_up(const search::Proposal& proposal) {
    const auto known = begun_.find(proposal.id);
    const bool is_new = known == begun_.end();
    // After one that went on, a new one begins a new bracket: the others will not be asked for again.
    if (is_new && went_on_) begun_.clear();
    went_on_ = !is_new;
    if (is_new) {
      w_ = untrained_;
      return 0;
    }
    w_ = std::move(known->second.w);
    const std::int64_t steps = known->second.steps;
    begun_.erase(known);
    return steps;
  }

  double step_size(const Vector& lambda) {
    if (settings_.train_step_size > 0.0) return settings_.train_step_size;
    const double curvature = train_curvature(problem_, lambda, curvature_);
    return curvature > 0.0 ? 1.0 / curvature : 1.0;
  }

  struct Begun {
    Vector w;
    std::int64_t steps;
  };

  const BilevelProblem& problem_;
  Settings settings_;
  std::int64_t limit_;  // of trials
  std::unique_ptr<search::Sampler> sampler_;
  Iterate best_;
  double best_value_ = std::numeric_limits<double>::infinity();
  std::int64_t trials_ = 0;
  Vector untrained_, w_, g_;
  std::map<std::int64_t, Begun> begun_;  // configurations that may be asked for again
  bool went_on_ = false;
  CurvatureIteration curvature_;
};

}  // namespace

const std::vector<Setting<Settings>>& BlackBox::table(bool may_solve) {
  const auto rows_with = [](Setting<Settings> train_steps) -> std::vector<Setting<Settings>> {
    return {settings::count_or("trials", &Settings::trials, "auto",
                               "trials; auto: as many as the budget of gradients pays for at train_steps "
                               "each, else the method's own "
                               "number",
                               "ours: the paper takes 2, 10 and 25"),
            std::move(train_steps),
            settings::real("train_step_size", &Settings::train_step_size, LowerLimit::non_negative(),
                           "size of these steps; 0 takes 1/(largest curvature)",
                           "ours; the paper: 0.001 and 0.5")};
  };
  static const auto rows = rows_with(
      settings::count_or("train_steps", &Settings::train_steps, "exact",
                         "gradient steps from w = 0 that train a trial; exact: the inner problem is solved",
                         "ours; the paper: 500 to 3000 steps, with lambda in [-10, 5]"));
  static const auto rows_of_steps =
      rows_with(settings::count("train_steps", &Settings::train_steps,
                                "gradient steps from w = 0 that train a trial in full", "Li 2018: R = 81"));
  return may_solve ? rows : rows_of_steps;
}

BlackBox::BlackBox(std::string method, search::SamplerFactory sampler, Settings settings)
    : method_(std::move(method)), sampler_(std::move(sampler)), settings_(settings) {
  settings::verify(method_, table(), settings_);
  if (settings_.train_steps == 0 && settings_.train_step_size > 0.0)
    throw InputError(fmt::format("{}: train_step_size = {}: goes with train_steps, which is exact", method_,
                                 settings_.train_step_size));
}

std::unique_ptr<Run> BlackBox::start(const BilevelProblem& problem, const Start& start) const {
  if (settings_.train_steps > 0 && start.budget.gradients < kUnlimited &&
      affordable(start.budget.gradients, settings_) < 1)
    throw InputError(
        fmt::format("budget of {} gradient computations: one trial of {} needs {} (train_steps = {}{})",
                    start.budget.gradients, method_, settings_.train_steps + curvature_work(settings_),
                    settings_.train_steps,
                    curvature_work(settings_) > 0
                        ? fmt::format(", and {} to find its train_step_size", curvature_work(settings_))
                        : ""));
  if (settings_.train_steps > 0) require_loss_of_any_weights(problem, method_);
  return std::make_unique<Search>(problem, start, sampler_, settings_);
}

}  // namespace yosida
