#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/model/equivalents.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/solver/certificate.hpp"
#include "yosida/tune/trust.hpp"
#include "yosida/tune/tune_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// Everything there is to say of a finished run.
struct Tuned {
  Outcome outcome;
  Start start;  ///< as the run began
  std::vector<std::string> lambda_names;
  Report best, final;  ///< of outcome.best and outcome.final; with folds, means over them
  std::optional<Certificate> certificate;
  std::optional<OracleGap> oracle;
  std::optional<Report> refit;
  std::optional<Trust> trust;
  std::optional<NestedScore> nested;
  /// μ of the term that has drawn several λ to their mean; 0: none. The certificate is then of the sum of
  /// the criterion and this term.
  double shrinkage = 0.0;
  /// λ in the terms of other programs, on the training rows and on those of the refit; empty where no program
  /// has the same objective.
  Equivalents equivalents, refit_equivalents;
  /// To predict with: the refit where there is one, else the best weights. Absent where the refit that folds
  /// need has failed.
  std::optional<FittedModel> model;
  /// Wall time from the rows in memory to all of this.
  double seconds = 0.0;
  /// What was asked for beside the answer and could not be done, each in a sentence.
  std::vector<std::string> warnings;

  const Vector& lambda() const { return outcome.best.lambda; }
  /// Puts in how far the answer is from the best λ there is.
  void add_oracle(const OracleGap& gap);
};

/// Finds the penalty of a linear model: prepares the rows, makes the problem, runs the method, judges its
/// answer, and fits the model. The caller's numbers are only read. Throws InputError, naming option, value
/// and rule, before the first iteration. May be called from several threads.
Tuned tune(Dataset rows, const TuneOptions& options = {});
/// Tunes on training, validation and test rows that the caller has chosen.
Tuned tune(Split parts, const TuneOptions& options = {});
/// The same for a problem that is made already, of the same options; several runs may share it.
Tuned tune(const TuneProblem& problem, const TuneOptions& options);

// The steps of it, for whoever shares a problem or an oracle among runs, or watches only the run itself.

/// The run, its reports and its certificate. A run that was stopped has no certificate: whoever has stopped
/// it wants its answer now. After a time limit it is given a moment. Throws RunEnded where it is stopped
/// before there is a problem to run on.
Tuned run_method(const TuneProblem& problem, const TuneOptions& options);
/// What comes after the run: equivalents, oracle, refit, the model. Where TuneOptions::stop says stop, there
/// is a model all the same: a refit that folds need is given a moment, and then the mean of the folds'
/// weights takes its place, which a warning says.
void complete(Tuned& tuned, const TuneProblem& problem, const TuneOptions& options);
/// Throws InputError where the method cannot begin on this problem: every check of a run, without its steps.
void try_start(const TuneProblem& problem, const TuneOptions& options);
/// Adds the look around λ (Tuned::trust), and takes the λ of the rule where that is not the least. Throws
/// RunEnded where it is told to stop.
void add_trust(Tuned& tuned, const TuneProblem& problem, const TuneOptions& options);

/// The options with TrustOptions::shrinkage chosen, where they ask for that.
TuneOptions with_chosen_shrinkage(const Rows& rows, const TuneOptions& options);
/// What a form of the problem was expected to take, and what it took.
struct FormTrial {
  Form form;                      ///< the first of all is the one that a run tries first
  double expected;                ///< seconds, from the rows in memory to the end of the run
  std::optional<double> seconds;  ///< nothing where it was left out, because it would take too long
  bool is_exact = true;           ///< false where the form is refused: it would lose digits
};
/// Makes each form that the problem has anew and runs the method on it. Those that are expected to take over
/// `most` seconds are left out, but for the first.
std::vector<FormTrial> try_forms(const TuneProblem& problem, const TuneOptions& options, double most = 30.0);
/// The best λ there is in the bounds of the options.
Oracle find_oracle(const TuneProblem& problem, const TuneOptions& options);

}  // namespace yosida
