#include "yosida/study/tuned_run.hpp"

#include "yosida/study/run_outcome.hpp"
#include "yosida/version.hpp"

namespace yosida::study {
std::optional<Record> tuned_run(const TuneOptions& options, SeedProblems& problems,
                                const std::map<std::string, std::string>& file_names,
                                FunctionRef<void(const std::string&)> warn) {
  Record record;
  record.program = version();
  RunOutcome outcome;
  try {
    const auto data = problems.of(options.seed, options.stop);
    Tuned tuned = run_method(data->problem, options);
    if (options.stop.was_asked()) return {};  // what was begun is not whole
    if (options.trust.report && tuned.outcome.status != StopReason::diverged)
      add_trust(tuned, data->problem, options);
    for (const std::string& warning : tuned.warnings) warn(warning);
    std::optional<OracleGap> final;
    if (data->oracle) {
      const Solution &best = tuned.outcome.best, &last = tuned.outcome.final;
      tuned.add_oracle(data->problem.gap(*data->oracle, best, options.stop));
      // Often the same λ, and then the same weights: an exact solve is spared.
      final = last.lambda == best.lambda && last.iteration == best.iteration
                  ? tuned.oracle
                  : data->problem.gap(*data->oracle, last, options.stop);
    }
    record.status = to_string(tuned.outcome.status);
    record.seconds = tuned.outcome.seconds;
    outcome = outcome_of(tuned, final);
    record.trace = std::move(tuned.outcome.trace);
  } catch (const RunEnded&) {
    return {};
  } catch (const DataChanged&) {
    throw;
  } catch (const InputError& error) {  // of this seed's rows alone: the others go on
    record.status = kFailed;
    outcome.error = error.what();
  }
  outcome.file_names = file_names;
  record.outcome = to_json(outcome);
  return record;
}

}  // namespace yosida::study
