#include "tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "output.hpp"

namespace yosida::cli {
namespace {

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "-"; }

void print_report(std::FILE* out, const Report& report, Index features) {
  for (std::size_t i = 0; i < measures().size(); ++i) {
    const auto of = [i](const std::optional<PartReport>& part) { return part ? cell(part->values[i]) : "-"; };
    if (report.train.values[i])
      fmt::print(out, "  {:<14} {:>12} {:>12} {:>12}\n", measures()[i].title, of(report.train),
                 of(report.validation), of(report.test));
  }
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

void print_forms(std::FILE* out, const TuneProblem& problem, const TuneOptions& options) {
  fmt::print(out, "\n  {:<14} {:>12} {:>12}\n", "form", "expected s", "real s");
  for (const FormTrial& trial : try_forms(problem, options))
    fmt::print(out, "  {:<14} {:>12} {:>12}{}\n", to_string(trial.form),
               std::isnan(trial.expected) ? "-" : fmt::format("{:.2g}", trial.expected),
               trial.seconds ? fmt::format("{:.2g}", *trial.seconds) : "-",
               trial.is_exact ? "" : "  refused: it would lose digits here");
}

void print_result(std::FILE* out, const TuneOptions& options, const TuneProblem& problem,
                  const Tuned& tuned) {
  const Prepared& data = problem.data();
  const Split& split = problem.split();
  const Outcome& outcome = tuned.outcome;
  fmt::print(out, "{} with {} on {}: {}, {} features\n", data.model->name, options.method, split.train.source,
             rows_in_words(problem), split.train.features());
  for (const std::string& note : data.notes) fmt::print(out, "note: {}\n", printable(note));
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
  fmt::print(
      out,
      "  {:<14} {} iterations, {} gradient computations, {:.0f} gradient equivalents, {:.3g} s ({:.3g} s "
      "from data to answer)\n",
      "cost", outcome.iterations, outcome.work.paper_count(), outcome.work.gradient_equivalents(),
      outcome.seconds, tuned.seconds);
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

}  // namespace yosida::cli
