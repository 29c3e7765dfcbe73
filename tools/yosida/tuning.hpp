#pragma once

#include "problems.hpp"
#include "tune_report.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida::cli {

/// The data as problems, ready for any method. May be shared by threads.
class Task {
 public:
  /// Reads the data. Throws InputError where the flags do not fit each other or the data.
  Task(const DataFlags& data, const PenaltyFlags& penalty);
  /// Of data that is read already; `x_steps` as it was pretreated.
  Task(Prepared data, const PenaltyFlags& penalty, const std::string& x_steps, bool intercept);

  const Prepared& data() const { return data_; }
  bool has_folds() const { return data_.fold_count > 0; }
  bool has_intercept() const { return intercept_; }
  const Penalty& penalty() const { return penalty_.penalty; }
  const std::vector<std::string>& lambda_names() const { return penalty_.names; }
  Index hyperparameters() const { return static_cast<Index>(penalty_.names.size()); }
  /// All rows with folds, else the split that is tuned on.
  const Split& split() const { return has_folds() ? data_.split : *problems_[0].split; }

  /// As one problem, in its cheapest form for so many iterations.
  std::shared_ptr<const BilevelProblem> problem(double iterations, bool may_collapse = true) const;
  /// What a solution of such a problem does on every part, averaged over the folds where there are some.
  Report report(const BilevelProblem& problem, const Solution& solution) const;
  /// The best λ there is inside the bounds given or, where there are none, the data's own. For one λ.
  Oracle oracle(const Start& start) const;
  /// How far a solution is from it.
  OracleGap gap(Oracle oracle, const Solution& solution) const;
  /// w*(λ) on all rows, or on training and validation rows.
  Vector refit(const Dataset& rows, const Vector& lambda) const;

 private:
  Prepared data_;
  NamedPenalty penalty_;
  bool intercept_;
  std::vector<ModelProblem> problems_;  // of the split, or of each fold
  std::vector<double> validation_share_;
};

/// Throws InputError where the method, or the way it trains, does not go with the penalty of the model.
void require_method_fits(const Method& method, const SettingValues& settings, const std::string& model);

/// LO,HI as two numbers. Throws InputError.
LambdaBounds parse_bounds(const std::string& text);

/// One method on one task: the start, the run, what came of it, its certificate.
struct MethodRun {
  const Method& method;
  const SettingValues& settings;
  const RunFlags& flags;

  /// Throws InputError where a flag breaks its rule.
  SolveOptions options(std::uint64_t seed) const;
  /// `options` as above, with observers and trace as wanted.
  Tuned run(const Task& task, SolveOptions options) const;
  /// Throws InputError where the method cannot begin on this task: every check of a run, without its steps.
  void try_start(const Task& task, SolveOptions options) const;

 private:
  std::shared_ptr<const BilevelProblem> prepare(const Task& task, const Solver& solver,
                                                SolveOptions& options) const;
};

/// One flag for each setting of any method; the method decides whether it knows it.
void add_setting_flags(CLI::App& command, SettingValues& values);

/// Runs what is extra; a failure there must not cost the result that is already found.
void try_extra(const char* flag, FunctionRef<void()> extra);

}  // namespace yosida::cli
