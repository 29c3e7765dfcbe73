#include "tune_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "yosida/linalg/function_ref.hpp"

namespace yosida::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr int kSchema = 1;

// ---- JSON ----

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

json by_part(const Report& report, FunctionRef<json(const PartReport&)> field) {
  json result = {{"train", field(report.train)}, {"validation", field(report.validation)}};
  result["test"] = report.test ? field(*report.test) : json(nullptr);
  return result;
}

void add_report(json& target, const Report& report, bool classification) {
  target["loss"] = by_part(report, [](const PartReport& part) { return number(part.loss); });
  if (classification) {
    target["accuracy"] = by_part(report, [](const PartReport& part) { return number(part.accuracy); });
    target["area_under_roc"] =
        by_part(report, [](const PartReport& part) { return number(part.area_under_roc); });
  } else {
    target["scaled_loss"] = by_part(report, [](const PartReport& part) { return number(part.scaled_loss); });
    target["r_squared"] = by_part(report, [](const PartReport& part) { return number(part.r_squared); });
  }
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

}  // namespace

std::string result_json(const TuneFlags& flags, const Prepared& data, const Split& split,
                        const Tuned& tuned) {
  const Outcome& outcome = tuned.outcome;
  const bool classification = data.labels.has_value();
  json root = {{"schema", kSchema},
               {"yosida", YOSIDA_VERSION},
               {"method", flags.method},
               {"model", flags.data.model},
               {"status", to_string(outcome.status)},
               {"message", outcome.message},
               {"lambda", lambda_array(outcome.best.lambda)}};
  root["equivalents"] = equivalents_json(tuned.equivalents);
  add_report(root, tuned.best, classification);
  root["work"] = work_json(outcome.work);
  root["residuals"] = {{"primal", number(outcome.primal_residual)}, {"dual", number(outcome.dual_residual)}};
  root["iterations"] = outcome.iterations;
  root["best_iteration"] = outcome.best.iteration;
  root["skipped_steps"] = outcome.skipped_steps;
  root["inexact_solves"] = outcome.inexact_solves;
  root["seconds"] = outcome.seconds;
  root["final"] = {{"lambda", lambda_array(outcome.final.lambda)}, {"iteration", outcome.final.iteration}};
  add_report(root["final"], tuned.final, classification);
  if (tuned.refit) {
    root["refit"] = json::object();
    root["refit"]["equivalents"] = equivalents_json(tuned.refit_equivalents);
    add_report(root["refit"], *tuned.refit, classification);
  }
  if (tuned.oracle)
    root["oracle"] = {{"lambda", tuned.oracle->oracle.lambda},
                      {"validation", number(tuned.oracle->oracle.validation)},
                      {"gap", number(tuned.oracle->gap)},
                      {"lambda_gap", number(tuned.oracle->lambda_gap)},
                      {"bounds", {tuned.oracle->oracle.low, tuned.oracle->oracle.high}}};
  if (tuned.certificate) {
    const Certificate& certificate = *tuned.certificate;
    root["certificate"] = {{"inner_gradient", number(certificate.inner_gradient)},
                           {"hypergradient", number(certificate.hypergradient)},
                           {"hypergradient_error", number(certificate.hypergradient_error)},
                           {"gap", number(certificate.gap)},
                           {"lambda_gap", number(certificate.lambda_gap)},
                           {"verdict", to_string(certificate.verdict)},
                           {"reason", certificate.reason}};
  }
  root["data"] = {{"source", split.train.source},
                  {"train_rows", split.train.rows()},
                  {"validation_rows", split.validation.rows()},
                  {"test_rows", split.test ? split.test->rows() : 0},
                  {"features", split.train.features()},
                  {"x", flags.data.x},
                  {"y", classification ? "labels" : flags.data.y.value_or("center")},
                  {"intercept", !flags.data.no_intercept},
                  {"seed", flags.data.seed}};
  // A path may hold bytes that are no UTF-8: they are shown as such, not a reason to lose the result.
  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

namespace {

// ---- text ----

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "-"; }

void print_row(std::FILE* out, const char* name, const Report& report,
               FunctionRef<std::optional<double>(const PartReport&)> field) {
  fmt::print(out, "  {:<14} {:>12} {:>12} {:>12}\n", name, cell(field(report.train)),
             cell(field(report.validation)), report.test ? cell(field(*report.test)) : "-");
}

void print_report(std::FILE* out, const Report& report, bool classification) {
  print_row(out, "loss", report, [](const PartReport& part) { return std::optional(part.loss); });
  if (classification) {
    print_row(out, "accuracy", report, [](const PartReport& part) { return part.accuracy; });
    print_row(out, "ROC area", report, [](const PartReport& part) { return part.area_under_roc; });
  } else {
    print_row(out, "scaled loss", report, [](const PartReport& part) { return part.scaled_loss; });
    print_row(out, "R squared", report, [](const PartReport& part) { return part.r_squared; });
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

void print_result(std::FILE* out, const TuneFlags& flags, const Prepared& data, const Split& split,
                  const Tuned& tuned) {
  const Outcome& outcome = tuned.outcome;
  const bool classification = data.labels.has_value();
  const double lambda = outcome.best.lambda[0];
  fmt::print(out, "{} with {} on {}: {} training, {} validation, {} test rows, {} features\n",
             flags.data.model, flags.method, split.train.source, split.train.rows(), split.validation.rows(),
             split.test ? split.test->rows() : 0, split.train.features());
  if (!data.note.empty()) fmt::print(out, "note: {}\n", data.note);
  fmt::print(out, "\n  {:<14} {:.6g}  (penalty e^lambda = {:.4g}, found at iteration {})\n", "lambda", lambda,
             std::exp(lambda), outcome.best.iteration);
  fmt::print(out, "  {:<14} {}\n  {:<14} (for the pretreated training rows: x {}{})\n\n", "the same as",
             in_words(tuned.equivalents), "", flags.data.x,
             classification ? "" : ", y " + flags.data.y.value_or("center"));
  fmt::print(out, "  {:<14} {:>12} {:>12} {:>12}\n", "", "train", "validation", "test");
  print_report(out, tuned.best, classification);
  if (tuned.refit) {
    fmt::print(out, "  refitted on training and validation rows ({}):\n", in_words(tuned.refit_equivalents));
    print_report(out, *tuned.refit, classification);
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

std::string trace_csv(const Trace& trace) {
  std::string text =
      "iteration,lambda,train,validation,test,primal,dual,train_gradients,validation_gradients,hessian_"
      "products,"
      "loss_evaluations,inner_solves,paper_count,gradient_equivalents,seconds\n";
  const auto field = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.17g}", value) : std::string();
  };
  for (const TracePoint& point : trace) {
    const Work& work = point.work;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6f}\n", point.iteration,
                        field(point.lambda[0]), field(point.loss.train), field(point.loss.validation),
                        point.loss.test ? field(*point.loss.test) : "", field(point.primal_residual),
                        field(point.dual_residual), work.train_gradients, work.validation_gradients,
                        work.hessian_products, work.loss_evaluations, work.inner_solves, work.paper_count(),
                        field(work.gradient_equivalents()), point.seconds);
  }
  return text;
}

}  // namespace yosida::cli
