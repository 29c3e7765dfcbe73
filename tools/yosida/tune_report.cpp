#include "tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "output.hpp"
#include "yosida/linalg/function_ref.hpp"

namespace yosida::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr int kSchema = 1;

// ---- JSON ----

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
               {"yosida", YOSIDA_VERSION},
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

namespace {

// ---- text ----

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "-"; }

void print_row(std::FILE* out, const char* name, const Report& report,
               FunctionRef<std::optional<double>(const PartReport&)> field) {
  fmt::print(out, "  {:<14} {:>12} {:>12} {:>12}\n", name, cell(field(report.train)),
             report.validation ? cell(field(*report.validation)) : "-",
             report.test ? cell(field(*report.test)) : "-");
}

void print_report(std::FILE* out, const Report& report, Index features) {
  print_row(out, "loss", report, [](const PartReport& part) { return std::optional(part.loss); });
  for (const Measure& measure : measures())
    if (report.train.*measure.value)
      print_row(out, measure.title, report, [&](const PartReport& part) { return part.*measure.value; });
  if (report.nonzero_weights)
    fmt::print(out, "  {:<14} {:.6g} of {} weights\n", "not 0", *report.nonzero_weights, features);
}

/// One λ in a line of its own; of many the smallest and the largest few.
void print_lambda(std::FILE* out, const Tuned& tuned) {
  constexpr std::size_t kMostShown = 12, kEachEnd = 4;
  const Vector& lambda = tuned.outcome.best.lambda;
  if (lambda.size() == 1) {
    fmt::print(out, "\n  {:<14} {:.6g}  (penalty e^lambda = {:.4g}, found at iteration {})\n", "lambda",
               lambda[0], std::exp(lambda[0]), tuned.outcome.best.iteration);
    return;
  }
  fmt::print(out, "\n  {:<14} {} of them, found at iteration {}\n", "lambda", lambda.size(),
             tuned.outcome.best.iteration);
  const auto count = static_cast<std::size_t>(lambda.size());
  std::vector<Index> order(count);
  std::iota(order.begin(), order.end(), Index{0});
  if (count > kMostShown)
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return lambda[a] < lambda[b]; });
  for (std::size_t i = 0; i < count; ++i) {
    if (count > kMostShown && i == kEachEnd) {
      fmt::print(out, "  {:<14}   ... {} more ...\n", "", count - 2 * kEachEnd);
      i = count - kEachEnd;
    }
    fmt::print(out, "  {:<14}   {:<20} {:>10.6g}  (penalty {:.4g})\n", "",
               tuned.lambda_names[static_cast<std::size_t>(order[i])], lambda[order[i]],
               std::exp(lambda[order[i]]));
  }
}

std::string in_words(const Equivalents& equivalents) {
  std::string text;
  for (const auto& [name, value] : equivalents)
    text += fmt::format("{}{} = {:.6g}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string percent(double share) { return fmt::format("{:+.3g} %", 100.0 * share); }

}  // namespace

std::string rows_in_words(const TuneProblem& problem) {
  const Split& split = problem.split();
  const Index test = split.test ? split.test->rows() : 0;
  if (problem.has_folds())
    return fmt::format("{} rows in {} folds, {} test rows", split.train.rows(), problem.data().fold_count,
                       test);
  return fmt::format("{} training, {} validation, {} test rows", split.train.rows(), split.validation.rows(),
                     test);
}

void print_result(std::FILE* out, const TuneOptions& options, const TuneProblem& problem,
                  const Tuned& tuned) {
  const Prepared& data = problem.data();
  const Split& split = problem.split();
  const Outcome& outcome = tuned.outcome;
  fmt::print(out, "{} with {} on {}: {}, {} features\n", options.model, options.method, split.train.source,
             rows_in_words(problem), split.train.features());
  if (!data.note.empty()) fmt::print(out, "note: {}\n", data.note);
  print_lambda(out, tuned);
  if (!tuned.equivalents.empty())
    fmt::print(out, "  {:<14} {}\n  {:<14} (for the pretreated training rows: x {}{})\n", "the same as",
               in_words(tuned.equivalents), "", options.x,
               data.labels ? "" : fmt::format(", y {}", to_string(data.y_step)));
  fmt::print(out, "\n  {:<14} {:>12} {:>12} {:>12}\n", "", "train", "validation", "test");
  if (data.fold_count > 0) fmt::print(out, "  means over the folds:\n");
  print_report(out, tuned.best, split.train.features());
  if (tuned.refit) {
    const std::string same = in_words(tuned.refit_equivalents);
    fmt::print(out, "  refitted on {}{}:\n",
               data.fold_count > 0 ? "all rows" : "training and validation rows",
               same.empty() ? "" : fmt::format(" ({})", same));
    print_report(out, *tuned.refit, split.train.features());
  }
  fmt::print(out, "\n  {:<14} {}: {}\n", "stopped", to_string(outcome.status), outcome.message);
  if (tuned.certificate)
    fmt::print(out, "  {:<14} {}: {}\n", "certificate", to_string(tuned.certificate->verdict),
               tuned.certificate->reason);
  fmt::print(out, "  {:<14} {} iterations, {} gradient computations, {:.0f} gradient equivalents, {:.3g} s\n",
             "cost", outcome.iterations, outcome.work.paper_count(), outcome.work.gradient_equivalents(),
             outcome.seconds);
  if (tuned.oracle) {
    const Oracle& oracle = tuned.oracle->oracle;
    fmt::print(out, "  {:<14} lambda {:.6g}, validation loss {:.6g}; this model {}, this lambda {}\n",
               "oracle", oracle.lambda, oracle.validation, percent(tuned.oracle->gap),
               percent(tuned.oracle->lambda_gap));
    if (oracle.at_bound())
      fmt::print(out, "  {:<14} its lambda lies on the bound of the search; see --bounds\n", "");
    if (oracle.inexact_solves > 0)
      fmt::print(out, "  {:<14} {} of its inner problems were not solved to their tolerance\n", "",
                 oracle.inexact_solves);
  }
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

}  // namespace yosida::cli
