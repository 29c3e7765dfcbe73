#include "yosida/tune/tuned_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "csv_field.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/version.hpp"

namespace yosida {
namespace {

using json = nlohmann::ordered_json;

constexpr int kSchema = 1;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

json by_part(const Report& report, FunctionRef<json(const PartReport&)> field) {
  json result = {{"train", field(report.train)}};
  result["validation"] = report.validation ? field(*report.validation) : json(nullptr);
  result["test"] = report.test ? field(*report.test) : json(nullptr);
  return result;
}

void add_report(json& target, const Report& report) {
  target["loss"] = by_part(report, [](const PartReport& part) { return number(part.loss); });
  for (const Measure& measure : measures())
    if (report.train.*measure.value)
      target[measure.name] =
          by_part(report, [&](const PartReport& part) { return number(part.*measure.value); });
  if (const auto count = report.nonzero_weights)
    target["nonzero_weights"] =
        *count == std::floor(*count) ? json(static_cast<std::int64_t>(*count)) : json(*count);
}

json equivalents_json(const Equivalents& equivalents) {
  json result = json::object();
  for (const auto& [name, value] : equivalents) result[name] = number(value);
  return result;
}

json lambda_array(const Vector& lambda) { return std::vector<double>(lambda.begin(), lambda.end()); }

json work_json(const Work& work) {
  return {{"train_gradients", work.train_gradients},
          {"validation_gradients", work.validation_gradients},
          {"hessian_products", work.hessian_products},
          {"loss_evaluations", work.loss_evaluations},
          {"inner_solves", work.inner_solves},
          {"paper_count", work.paper_count()},
          {"gradient_equivalents", number(work.gradient_equivalents())}};
}

/// How the answer was judged: against the oracle, and by its certificate.
void add_judgement(json& root, const Tuned& tuned) {
  if (tuned.oracle)
    root["oracle"] = {{"lambda", tuned.oracle->oracle.lambda},
                      {"validation", number(tuned.oracle->oracle.validation)},
                      {"gap", number(tuned.oracle->gap)},
                      {"lambda_gap", number(tuned.oracle->lambda_gap)},
                      {"bounds", {tuned.oracle->oracle.low, tuned.oracle->oracle.high}}};
  if (!tuned.certificate) return;
  const Certificate& certificate = *tuned.certificate;
  root["certificate"] = {{"inner_gradient", number(certificate.inner_gradient)},
                         {"hypergradient", number(certificate.hypergradient)},
                         {"hypergradient_error", number(certificate.hypergradient_error)},
                         {"gap", number(certificate.gap)},
                         {"lambda_gap", number(certificate.lambda_gap)},
                         {"verdict", to_string(certificate.verdict)},
                         {"reason", certificate.reason}};
}

json solution_json(const Solution& solution, const Report& report, const std::optional<OracleGap>& gap) {
  json result = {{"lambda", lambda_array(solution.lambda)}, {"iteration", solution.iteration}};
  add_report(result, report);
  if (gap) result["gap"] = number(gap->gap);
  if (gap) result["lambda_gap"] = number(gap->lambda_gap);
  return result;
}

}  // namespace

std::string outcome_json(const Tuned& tuned, const std::optional<OracleGap>& final) {
  const Outcome& outcome = tuned.outcome;
  json root = {
      {"message", outcome.message},
      {"lambda_names", tuned.lambda_names},
      {"best", solution_json(outcome.best, tuned.best, tuned.oracle)},
      {"final", solution_json(outcome.final, tuned.final, final)},
      {"iterations", outcome.iterations},
      {"work", work_json(outcome.work)},
      {"residuals", {{"primal", number(outcome.primal_residual)}, {"dual", number(outcome.dual_residual)}}},
      {"skipped_steps", outcome.skipped_steps},
      {"inexact_solves", outcome.inexact_solves},
      {"failed_trials", outcome.failed_trials}};
  add_judgement(root, tuned);
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string result_json(const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned) {
  const Prepared& data = problem.data();
  const Split& split = problem.split();
  const Outcome& outcome = tuned.outcome;
  json root = {{"schema", kSchema},
               {"yosida", version()},
               {"method", options.method},
               {"model", options.model},
               {"status", to_string(outcome.status)},
               {"message", outcome.message},
               {"lambda", lambda_array(outcome.best.lambda)},
               {"lambda_names", tuned.lambda_names}};
  root["equivalents"] = equivalents_json(tuned.equivalents);
  add_report(root, tuned.best);
  root["work"] = work_json(outcome.work);
  root["residuals"] = {{"primal", number(outcome.primal_residual)}, {"dual", number(outcome.dual_residual)}};
  root["iterations"] = outcome.iterations;
  root["best_iteration"] = outcome.best.iteration;
  root["skipped_steps"] = outcome.skipped_steps;
  root["inexact_solves"] = outcome.inexact_solves;
  root["failed_trials"] = outcome.failed_trials;
  root["seconds"] = outcome.seconds;
  root["wall_seconds"] = tuned.seconds;
  root["final"] = {{"lambda", lambda_array(outcome.final.lambda)}, {"iteration", outcome.final.iteration}};
  add_report(root["final"], tuned.final);
  if (tuned.refit) {
    root["refit"] = json::object();
    root["refit"]["equivalents"] = equivalents_json(tuned.refit_equivalents);
    add_report(root["refit"], *tuned.refit);
  }
  add_judgement(root, tuned);
  root["data"] = {{"source", split.train.source},
                  {"train_rows", split.train.rows()},
                  {"validation_rows", split.validation.rows()},
                  {"folds", data.fold_count},
                  {"test_rows", split.test ? split.test->rows() : 0},
                  {"features", split.train.features()},
                  {"x", options.x},
                  {"y", data.labels ? "labels" : to_string(data.y_step)},
                  {"intercept", options.intercept},
                  {"seed", options.seed}};
  // A path may hold bytes that are no UTF-8: they are shown as such, not a reason to lose the result.
  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string trace_csv(const Trace& trace, const std::vector<std::string>& lambda_names) {
  constexpr std::size_t kMostColumns = 32;
  const bool has_lambda = lambda_names.size() <= kMostColumns;
  std::string text = "iteration";
  if (lambda_names.size() == 1) text += ",lambda";
  if (lambda_names.size() > 1 && has_lambda)
    for (const std::string& name : lambda_names) text += fmt::format(",{}", csv_field("lambda_" + name));
  text +=
      ",train,validation,test,primal,dual,train_gradients,validation_gradients,hessian_products,"
      "loss_evaluations,inner_solves,paper_count,gradient_equivalents,seconds";
  const bool has_trials =
      std::any_of(trace.begin(), trace.end(), [](const TracePoint& point) { return point.tried.size() > 0; });
  if (has_trials && has_lambda)
    for (const std::string& name : lambda_names)
      text += lambda_names.size() == 1 ? ",tried" : fmt::format(",{}", csv_field("tried_" + name));
  text += has_trials ? ",tried_validation\n" : "\n";
  const auto field = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.17g}", value) : std::string();
  };
  for (const TracePoint& point : trace) {
    const Work& work = point.work;
    text += std::to_string(point.iteration);
    if (has_lambda)
      for (const double lambda : point.lambda) text += fmt::format(",{}", field(lambda));
    text +=
        fmt::format(",{},{},{},{},{},{},{},{},{},{},{},{},{:.6f}", field(point.loss.train),
                    field(point.loss.validation), point.loss.test ? field(*point.loss.test) : "",
                    field(point.primal_residual), field(point.dual_residual), work.train_gradients,
                    work.validation_gradients, work.hessian_products, work.loss_evaluations,
                    work.inner_solves, work.paper_count(), field(work.gradient_equivalents()), point.seconds);
    if (has_trials && has_lambda)
      for (std::size_t j = 0; j < lambda_names.size(); ++j)
        text += fmt::format(",{}", point.tried.size() > 0 ? field(point.tried[static_cast<Index>(j)]) : "");
    text += has_trials ? fmt::format(",{}\n", field(point.tried_validation)) : "\n";
  }
  return text;
}

}  // namespace yosida
