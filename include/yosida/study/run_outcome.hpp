#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/tune/tune.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// What weights of a run are worth.
struct SolutionOutcome {
  std::vector<double> lambda;
  std::int64_t iteration = 0;
  Report report;
  std::optional<double> gap, lambda_gap;  ///< to the oracle, where that was searched
};

/// What came of a run. It holds no times, so that equal runs have equal outcomes.
struct RunOutcome {
  /// Why the run failed. Where it did, the rest but the names of files is empty.
  std::string error;
  std::string message;
  std::vector<std::string> lambda_names;
  SolutionOutcome best, final;
  std::optional<double> iterations;
  Work work;
  /// The sums of `work`; nothing where a file does not have them.
  std::optional<double> paper_count, gradient_equivalents;
  std::optional<double> primal_residual, dual_residual;
  std::int64_t skipped_steps = 0, inexact_solves = 0, failed_trials = 0;
  std::optional<OracleGap> oracle;
  /// A certificate, as far as a file has it.
  struct Judgement {
    std::optional<double> inner_gradient, hypergradient, hypergradient_error, gap, lambda_gap;
    std::string verdict, reason;
  };
  std::optional<Judgement> certificate;
  std::optional<Trust> trust;  ///< where it was asked for
  /// How the files of the spec were called, by the same flags. No part of what decides a result.
  std::map<std::string, std::string> file_names;
};

/// Of a finished run. The oracle of `tuned` is judged by its best weights, `final` by the last.
RunOutcome outcome_of(const Tuned& tuned, const std::optional<OracleGap>& final);

/// As a store keeps it, and back. A study may come from anyone: what is not there or of another type is left
/// empty.
std::string to_json(const RunOutcome& outcome);
RunOutcome outcome_from_json(const std::string& text);

/// Everything that `tuned` holds but its model, as docs/command-line.md describes it: the result of `yosida
/// tune --json`.
std::string result_json(const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned);

/// JSON text of a run with line breaks and spaces, for people.
std::string indented(const std::string& json);

}  // namespace study
}  // namespace yosida
