#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/methods.hpp"

namespace YOSIDA_EXPORT yosida {

/// Which rows judge a λ, where they are not given: a part of the rows, or each row once (cross-validation).
struct ValidationOptions {
  /// The share of the rows that is drawn for validation; 0.25 where nobody says.
  std::optional<double> fraction = {};
  /// The share that is drawn as test rows, which are reported and nothing else.
  double test_fraction = 0.0;
  /// Cross-validation with so many folds, drawn with classes in equal shares. Rows that name their folds
  /// (Dataset::fold) are cross-validated by these.
  std::optional<Index> folds = {};
  /// What a λ is judged by: "holdout", "folds" (5 unless said), "loo" (each row by the weights trained
  /// without it) or "gcv" (generalised cross-validation, of least squares). Empty: folds where there are
  /// some, else holdout.
  std::string criterion = {};
  /// Folds are drawn so many times, by seeds that count up from the seed.
  Index repeats = 1;
  /// Rows of equal Dataset::id stay together, in a fold or in a part.
  bool grouped = false;

  /// Leave-one-out or generalised: all rows train, and each judges.
  bool judges_by_rows() const { return criterion == "loo" || criterion == "gcv"; }
};

/// Which λ is taken, of those that the rows do not tell apart.
enum class Rule {
  minimum,             ///< that of the least criterion
  one_standard_error,  ///< the largest penalty whose criterion is within one standard error of the least
};
/// "min" or "1se", and back. Throws InputError.
Rule parse_rule(std::string_view text);
std::string_view to_string(Rule rule);

/// How sure the answer is, and what is done for λ that are many.
struct TrustOptions {
  bool report = false;  ///< standard error and intervals of λ; also made where the rule needs them
  Rule rule = Rule::minimum;
  /// The number of outer folds of a nested cross-validation. The whole tuning is repeated in each, and the
  /// result is the mean loss of rows that took no part in it.
  std::optional<Index> nested = {};
  /// μ of the term μ h₀/2 Σ(λ_j − λ̄)² that draws several λ to their mean, h₀ the criterion at the best λ
  /// that all share; 0: none. Unless given: as default_shrinkage says.
  std::optional<double> shrinkage = {};
  /// Chooses μ, the shared λ among the candidates, by cross-validation of the whole tuning.
  bool chooses_shrinkage = false;
};

/// What the penalty is, and which weights share a λ. Columns are named by their names, or by their index from
/// 0.
struct PenaltyOptions {
  /// "l2", "l1", "elastic-net", "group-lasso" or "sparse-group-lasso". Empty: that of the model.
  std::string kind = {};
  /// "shared", "feature", "class" (of softmax), "group" or "row". Empty: group where groups are given, else
  /// shared. With "row" λ_i says how far training row i is trusted, by a weight σ(λ_i): no λ is a penalty
  /// then.
  std::string lambda_per = {};
  /// Of "row": c > 0 of the penalty c‖w‖², which stays as it is.
  std::optional<double> fixed = {};
  /// A file of lines feature,group.
  std::string groups_file = {};
  /// NAME=col,col,… Columns that no group names are the group "rest".
  std::vector<std::string> groups = {};
  /// Columns without a penalty.
  std::vector<std::string> unpenalised = {};
  /// "sqrt": where groups share one λ, the norm of a group counts √(its weights) times. Empty or "none":
  /// once.
  std::string group_scale = {};
};

/// What a run may cost. Where nothing is said, the method's own number of iterations is the limit.
struct RunLimits {
  std::optional<std::int64_t> gradients = {}, iterations = {};
  std::optional<double> seconds = {};
};

/// What one asks of tune(), each as `yosida tune` has it by default.
struct TuneOptions {
  // The model and its data.
  /// A name of models(). Empty: the target decides, see choose_model.
  std::string model = {};
  std::string x =
      "standardize";  ///< pretreatment of the features: a step of XStep, or a chain "difference,minmax"
  std::optional<std::string> y = {};  ///< of a target that is a number: a step of YStep; else the model's own
  bool intercept = true;
  bool fill_missing = false;  ///< NaN stands for a missing value; the mean of the training rows replaces it
  std::string class_weights = {};  ///< "balanced", or LABEL=W,LABEL=W,…; empty: 1 each
  std::uint64_t seed = 0;          ///< of splits, folds and what a method draws
  /// Copies of rows, which are read faster than views, may take so many bytes in all; where they would take
  /// more, none is made. The default is 64 MB, 512 MB for rows of up to 64 numbers, and 8 MB with folds.
  /// Copies that keep digits are made in any case.
  std::optional<double> copy_bytes = {};
  ValidationOptions validation = {};
  PenaltyOptions penalty = {};
  TrustOptions trust = {};

  // The run.
  std::string method = kDefaultMethod;  ///< as methods() names it
  SettingValues settings = {};          ///< those that are not the method's defaults
  RunLimits limits = {};
  std::optional<double> lambda0 = {};    ///< where each λ starts; else where the method or the problem says
  Vector lambda_start = {};              ///< the same with a number for each λ; empty: lambda0
  std::optional<Interval> bounds = {};   ///< of each λ, and of the oracle
  std::vector<Observer> observers = {};  ///< called after each iteration, on the thread that called tune()
  std::int64_t trace_every = 0;          ///< as SolveOptions has it; 0: no trace
  /// Ends the run, and what comes after it, at the next pass over the data: the best so far is the answer.
  StopToken stop = {};

  // What is done with the λ found.
  bool keep_rows = false;  ///< parts know the numbers of their rows, see split_csv
  bool refit =
      false;  ///< train it on training and validation rows at the end; with folds that is always done
  bool oracle = false;  ///< also search the best λ there is, and say how far this one is from it; for one λ
};

/// Throws InputError, naming option, value and rule, where the options of the model and its data do not fit
/// each other.
void verify_model(const TuneOptions& options);
/// Checks the options of the run likewise. Neither needs data: nothing is read or computed for a run that
/// cannot be.
void verify_run(const TuneOptions& options);

/// What the run may cost with these options: their limits, or those of the method itself.
Budget budget_of(const TuneOptions& options);

}  // namespace yosida
