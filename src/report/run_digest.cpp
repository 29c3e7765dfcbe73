#include "report/run_digest.hpp"

#include <algorithm>
#include <cmath>

#include "yosida/study/run_outcome.hpp"

namespace yosida::report {
namespace {

Measured measured(const study::SolutionOutcome& solution) {
  Measured result;
  const auto value = [](const std::optional<PartReport>& part, std::size_t i) {
    return part ? part->values[i].value_or(kMissing) : kMissing;
  };
  const Report& report = solution.report;
  for (std::size_t i = 0; i < measures().size(); ++i)
    result.values.push_back({value(report.train, i), value(report.validation, i), value(report.test, i)});
  result.gap = solution.gap.value_or(kMissing);
  result.lambda_gap = solution.lambda_gap.value_or(kMissing);
  if (solution.lambda.size() == 1) result.lambda = solution.lambda[0];
  return result;
}

/// A certificate at a bound holds; its sentence says that there is a bound.
std::string in_short(const std::string& verdict) {
  if (verdict.empty()) return "none";
  return verdict.starts_with("certified") ? "certified" : "not certified";
}

double only(const Vector& values) { return values.size() == 1 ? values[0] : kMissing; }

void add_trace(RunDigest& run, const Trace& trace, bool has_exact_trials) {
  run.samples.reserve(trace.size());
  for (const TracePoint& point : trace) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const double work = point.work.gradient_equivalents();
    run.samples.push_back({.validation = point.loss.validation,
                           .work = static_cast<float>(work),
                           .seconds = static_cast<float>(point.seconds),
                           .iteration = static_cast<std::int32_t>(std::min(point.iteration, kMost)),
                           .lambda = static_cast<float>(only(point.lambda))});
    for (std::size_t i = 0; i < kGaps.size(); ++i)
      if (std::isnan(run.work_to[i]) &&
          point.loss.validation <= run.oracle_validation + kGaps[i] * std::abs(run.oracle_validation))
        run.work_to[i] = work;
    run.is_search |= point.tried.size() > 0;
    if (has_exact_trials && std::isfinite(only(point.tried)) && std::isfinite(point.tried_validation))
      run.trials.emplace_back(only(point.tried), point.tried_validation);
  }
}

}  // namespace

double RunDigest::gap_of(double validation) const {
  return (validation - oracle_validation) / std::abs(oracle_validation);
}

double RunDigest::scale() const {
  static const std::size_t loss = find_measure(kLoss).value(), scaled = find_measure(kScaledLoss).value();
  for (const Measured* each : {&final, &best}) {
    const double share = each->validation(scaled) / each->validation(loss);
    if (std::isfinite(share)) return share;
  }
  return kMissing;
}

RunDigest digest(const study::Record& record) {
  RunDigest run;
  run.spec = std::make_shared<study::SpecInWords>(in_words(record.spec));
  run.data_sha256 = record.data_sha256;
  run.finished = record.finished;
  run.seed = record.spec.seed;
  run.status = record.status;
  run.state = record.status == study::kFailed                    ? State::failed
              : record.status == to_string(StopReason::diverged) ? State::diverged
                                                                 : State::ok;
  const study::RunOutcome outcome = study::outcome_from_json(record.outcome);
  run.file_names = outcome.file_names;
  run.final = measured(outcome.final);
  run.best = measured(outcome.best);
  run.seconds = record.seconds;
  run.gradients = outcome.paper_count.value_or(kMissing);
  run.work = outcome.gradient_equivalents.value_or(kMissing);
  run.iterations = outcome.iterations.value_or(kMissing);
  if (outcome.oracle) {
    run.oracle_lambda = outcome.oracle->oracle.lambda;
    run.oracle_validation = outcome.oracle->oracle.validation;
    run.low = outcome.oracle->oracle.low;
    run.high = outcome.oracle->oracle.high;
  } else if (const auto& bounds = run.spec->spec.options.bounds) {
    run.low = bounds->low;
    run.high = bounds->high;
  }
  if (outcome.trust && outcome.trust->minimum.size() == 1) run.trust = outcome.trust;
  if (const auto& certificate = outcome.certificate) {
    run.certificate = in_short(certificate->verdict);
    run.residual = certificate->hypergradient.value_or(kMissing);
    run.sentence = certificate->reason;
  }
  if (run.state == State::failed) run.sentence = outcome.error;
  const auto train_steps = run.spec->settings.find("train_steps");
  add_trace(run, record.trace, train_steps != run.spec->settings.end() && train_steps->second == "exact");
  return run;
}

}  // namespace yosida::report
