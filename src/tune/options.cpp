#include "yosida/tune/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tune/solve_options.hpp"
#include "yosida/error.hpp"
#include "yosida/model/models.hpp"

namespace yosida {
namespace {

/// Gradient steps never set a weight to 0, so a penalty with kinks needs a method that solves its inner
/// problems or takes proximal steps.
void require_method_fits(const Method& method, const SettingValues& settings, const TuneOptions& options) {
  const Model& known = yosida::model(options.model.empty() ? "ridge" : options.model);
  if (penalty_of(known, options.penalty.kind) == PenaltyForm::l2) return;
  const std::string wanted =
      options.penalty.kind.empty() ? "--model " + options.model : "--penalty " + options.penalty.kind;
  const auto steps = settings.find("train_steps");
  if (method.takes_kinks) {
    if (steps == settings.end() || steps->second == "exact") return;
    throw InputError(fmt::format(
        "{}: train_steps = {}: must be exact for {}, a penalty with kinks: gradient steps would never set a "
        "weight to 0",
        method.name, steps->second, wanted));
  }
  throw InputError(fmt::format(
      "method = {}: does not go with {}, a penalty with kinks: must be a method that solves its inner "
      "problems or takes proximal steps, such as my-hpo, hoag or meha",
      method.name, wanted));
}

template <typename T>
void require_positive(const std::optional<T>& value, const char* name) {
  if (value && !(*value > 0 && std::isfinite(static_cast<double>(*value))))
    throw InputError(fmt::format("{} = {}: must be > 0 and finite", name, *value));
}

}  // namespace

Rule parse_rule(std::string_view text) {
  if (text == "min") return Rule::minimum;
  if (text == "1se") return Rule::one_standard_error;
  throw InputError(fmt::format("rule = {}: must be min or 1se", text));
}

std::string_view to_string(Rule rule) { return rule == Rule::minimum ? "min" : "1se"; }

namespace {

/// What the criterion does not go with.
void verify_criterion(const TuneOptions& options, const Model* known) {
  const ValidationOptions& validation = options.validation;
  const std::string& name = validation.criterion;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("--criterion {}: {}", name, why));
  };
  if (!name.empty() && name != "holdout" && name != "folds" && name != "loo" && name != "gcv")
    refuse("must be holdout, folds, loo or gcv");
  constexpr Index kMostRepeats = 1000;  // every fold of each is a problem of its own in memory
  if (validation.repeats < 1 || validation.repeats > kMostRepeats)
    throw InputError(fmt::format("repeats = {}: must be >= 1 and <= {}", validation.repeats, kMostRepeats));
  if (validation.repeats > 1 && !validation.folds && name != "folds")
    throw InputError("--repeats: goes with --folds: drawn folds are drawn again");
  if (name == "holdout" && validation.folds) refuse("does not go with --folds: a part of the rows judges");
  if (name == "folds" && validation.fraction)
    refuse("does not go with --valid-fraction: every row is a validation row of one fold");
  if (!validation.judges_by_rows()) return;
  if (validation.folds) refuse("does not go with --folds: every row is left out by itself");
  if (validation.fraction) refuse("does not go with --valid-fraction: all rows train, and each judges");
  if (validation.grouped)
    refuse(
        "does not go with --group-rows: the rows that belong to the one left out would train; use "
        "--criterion folds");
  if (known == nullptr) return;
  if (penalty_of(*known, options.penalty.kind) != PenaltyForm::l2)
    refuse(fmt::format("does not go with {}: it jumps where a weight becomes 0; use --criterion folds",
                       options.penalty.kind.empty() ? fmt::format("--model {}", known->name)
                                                    : "--penalty " + options.penalty.kind));
  if (name == "gcv" && known->name != "ridge")
    refuse(fmt::format("is defined for least squares (--model ridge); use loo for {}", known->name));
}

/// What does not go with a λ for each training row: rows that train in turns or are added at the end, and
/// whatever takes λ for a penalty.
void verify_rows_of_their_own(const TuneOptions& options, const Model* known) {
  const PenaltyOptions& penalty = options.penalty;
  if (penalty.lambda_per != "row") {
    if (penalty.fixed) throw InputError("--fixed-penalty: goes with --lambda-per row alone");
    return;
  }
  const auto refuse = [](const std::string& what, const char* why) {
    throw InputError(fmt::format("lambda-per = row: does not go with {}: {}", what, why));
  };
  constexpr const char* kNoPenalty = "no lambda is a penalty then; --fixed-penalty C is that of all weights";
  constexpr const char* kOneRole = "a row either trains, with a lambda of its own, or judges";
  if (known != nullptr && penalty_of(*known, penalty.kind) != PenaltyForm::l2)
    refuse(penalty.kind.empty() ? fmt::format("--model {}", known->name) : "--penalty " + penalty.kind,
           kNoPenalty);
  if (!penalty.groups.empty() || !penalty.groups_file.empty()) refuse("groups", kNoPenalty);
  if (!penalty.unpenalised.empty()) refuse("--unpenalised", kNoPenalty);
  if (options.validation.folds) refuse("--folds", kOneRole);
  if (!options.validation.criterion.empty() && options.validation.criterion != "holdout")
    refuse("--criterion " + options.validation.criterion, kOneRole);
  if (options.refit) refuse("--refit", "validation rows have no lambda to train with");
  const TrustOptions& trust = options.trust;
  if (trust.report || trust.rule != Rule::minimum || trust.nested)
    refuse("--trust, --rule 1se or --nested", "they move all lambda together, as penalties");
  if (trust.chooses_shrinkage || trust.shrinkage.value_or(0.0) > 0.0) refuse("--shrinkage", kNoPenalty);
  if (!penalty.fixed)
    throw InputError(
        "lambda-per = row: needs --fixed-penalty C, the penalty C times the squares of all weights");
  require_positive(penalty.fixed, "fixed-penalty");
}

void verify_trust(const TrustOptions& trust) {
  if (trust.nested && *trust.nested < 2)
    throw InputError(fmt::format("nested = {}: must be >= 2 folds", *trust.nested));
  if (trust.shrinkage && !(*trust.shrinkage >= 0.0 && std::isfinite(*trust.shrinkage)))
    throw InputError(fmt::format("shrinkage = {}: must be a finite number >= 0", *trust.shrinkage));
}

}  // namespace

void verify_model(const TuneOptions& options) {
  const Model* const known = options.model.empty() ? nullptr : &model(options.model);
  const ValidationOptions& validation = options.validation;
  verify_criterion(options, known);
  verify_trust(options.trust);
  verify_rows_of_their_own(options, known);
  if (validation.folds && validation.fraction)
    throw InputError("--folds: does not go with --valid-fraction: every row is a validation row of one fold");
  if (validation.folds && *validation.folds < 2)
    throw InputError(fmt::format("folds = {}: must be >= 2", *validation.folds));
  if (!options.class_weights.empty() && (known != nullptr ? !known->code : options.y.has_value()))
    throw InputError("--class-weights: is for classifications: --model logistic, softmax or svm");
  parse_x_steps(options.x);
  if (options.y) parse_y_step(*options.y);
  if (known == nullptr) return;
  penalty_of(*known, options.penalty.kind);
  if (options.y && known->code)
    throw InputError(
        "--y: is for a target that is a number (ridge, lasso, elastic-net, huber); the labels of a "
        "classification are mapped to classes");
  if (options.y && !known->y_may_change && parse_y_step(*options.y) != YStep::raw)
    throw InputError(fmt::format("--y {}: the target of {} stays as it is: only raw is possible", *options.y,
                                 options.model));
}

void verify_run(const TuneOptions& options) {
  const Method& chosen = method(options.method);
  require_method_fits(chosen, options.settings, options);
  static_cast<void>(chosen.make(options.settings));  // refuses bad settings
  require_positive(options.limits.gradients, "budget-gradients");
  require_positive(options.limits.iterations, "max-iterations");
  require_positive(options.limits.seconds, "time-limit");
  if (options.bounds) {
    const auto [low, high] = *options.bounds;
    if (!std::isfinite(low) || !std::isfinite(high))
      throw InputError(fmt::format("bounds = {},{}: must be two finite numbers LO,HI", low, high));
    if (!(low < high))
      throw InputError(fmt::format("bounds = {},{}: the lower must be below the upper", low, high));
  }
  if (options.copy_bytes && !(*options.copy_bytes >= 0.0))
    throw InputError(fmt::format("copy_bytes = {}: must be >= 0", *options.copy_bytes));
  if (options.trace_every < 0)
    throw InputError(fmt::format("trace-every = {}: must be >= 0", options.trace_every));
}

SolveOptions solve_options(const TuneOptions& options) {
  const Method& chosen = method(options.method);
  const RunLimits& limits = options.limits;
  SolveOptions result;
  result.start.lambda = Vector::Constant(1, options.lambda0.value_or(chosen.lambda0));
  result.start.seed = options.seed;
  if (options.bounds) {
    result.start.bound(options.bounds->low, options.bounds->high);
    // The method's own start is moved inside; one that was asked for is taken at its word.
    if (!options.lambda0) result.start.clamp(result.start.lambda);
  }
  if (limits.gradients) result.budget.gradients = *limits.gradients;
  if (limits.seconds) result.budget.seconds = *limits.seconds;
  if (limits.iterations) {
    result.budget.iterations = *limits.iterations;
  } else if (!limits.gradients && !limits.seconds && !chosen.counts_trials) {
    result.budget.iterations = chosen.default_iterations_of(options.settings);
  }
  result.observers = options.observers;
  result.trace_every = options.trace_every;
  result.stop = options.stop;
  return result;
}

Budget budget_of(const TuneOptions& options) {
  Budget budget = solve_options(options).budget;
  if (const Method& chosen = method(options.method); chosen.counts_trials)
    budget.iterations = std::min(budget.iterations, chosen.default_iterations_of(options.settings));
  return budget;
}

}  // namespace yosida
