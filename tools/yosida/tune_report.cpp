#include "tune_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "coefficient_table.hpp"
#include "folding.hpp"
#include "output.hpp"
#include "table.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/number_text.hpp"

namespace yosida::cli {
namespace {

std::string cell(const std::optional<double>& value) { return value ? number_text(*value) : "-"; }

/// Where lines are put together, to be folded for where they go.
class Lines {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void print(std::FILE* out) const { fmt::print(out, "{}", folded(text_, columns_of(::fileno(out)))); }

 private:
  std::string text_;
};

void print_report(Lines& out, const Report& report, Index features, const std::vector<std::size_t>& shown) {
  for (const std::size_t i : shown) {
    const auto of = [i](const std::optional<PartReport>& part) { return part ? cell(part->values[i]) : "-"; };
    if (report.train.values[i] || (report.validation && report.validation->values[i]))
      out.add("  {:<14} {:>12} {:>12} {:>12}\n", measures()[i].title, of(report.train), of(report.validation),
              of(report.test));
  }
  if (report.nonzero_weights)
    out.add("  {:<14} {} of {} weights\n", "not 0", number_text(*report.nonzero_weights), features);
}

/// How many rows of each class were taken for which, where that fits on a screen.
void print_confusion(Lines& out, const Labels& labels, const char* part, const Matrix& confusion) {
  constexpr Index kMostClasses = 12;
  if (confusion.rows() > kMostClasses || confusion.size() == 0) return;
  std::vector<std::string> names;
  for (Index k = 0; k < labels.classes(); ++k)
    names.push_back(labels.names.empty() ? number_text(labels.values[static_cast<std::size_t>(k)])
                                         : printable(labels.name(k)));
  const auto table = [&](bool has_places) {
    std::vector<Table::Column> columns = {{"", Table::Align::right}};
    for (std::size_t k = 0; k < names.size(); ++k)
      columns.push_back({has_places ? std::to_string(k + 1) : names[k], Table::Align::right});
    Table result(columns);
    for (Index k = 0; k < confusion.rows(); ++k) {
      const std::string& name = names[static_cast<std::size_t>(k)];
      std::vector<std::string> cells = {has_places ? fmt::format("{} = {}", name, k + 1) : name};
      for (const double count : confusion.row(k)) cells.push_back(number_text(count));
      result.add(std::move(cells));
    }
    return result.text("    ", kUnlimited);
  };
  // Where names are too long to stand side by side, their places do.
  const std::string by_name = table(false);
  const bool fits = visible_width(by_name.substr(0, by_name.find('\n'))) <= columns_of(STDOUT_FILENO);
  out.add("\n  {:<14} {} rows by class (lines) and by the class predicted (columns)\n{}", "confusion", part,
          fits ? by_name : table(true));
}

/// One λ in a line of its own; of many the smallest and the largest few.
void print_lambda(Lines& out, const Tuned& tuned, bool weighs_rows) {
  constexpr std::size_t kMostShown = 12, kEachEnd = 4;
  const Vector& lambda = tuned.outcome.best.lambda;
  if (lambda.size() == 1) {
    out.add("\n  {:<14} {}  (penalty e^lambda = {}, found at iteration {})\n", "lambda",
            number_text(lambda[0]), number_text(std::exp(lambda[0]), 4), tuned.outcome.best.iteration);
    return;
  }
  out.add("\n  {:<14} {} of them, found at iteration {}\n", "lambda", lambda.size(),
          tuned.outcome.best.iteration);
  const auto count = static_cast<std::size_t>(lambda.size());
  std::vector<Index> order(count);
  std::iota(order.begin(), order.end(), Index{0});
  if (count > kMostShown)
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return lambda[a] < lambda[b]; });
  for (std::size_t i = 0; i < count; ++i) {
    if (count > kMostShown && i == kEachEnd) {
      out.add("  {:<14}   ... {} more ...\n", "", count - 2 * kEachEnd);
      i = count - kEachEnd;
    }
    const double at = lambda[order[i]];
    const std::string& name = tuned.lambda_names[static_cast<std::size_t>(order[i])];
    out.add("  {:<14}   {:<20} {:>10}  ({} {})\n", "", weighs_rows ? "row " + name : name, number_text(at),
            weighs_rows ? "weight" : "penalty", number_text(weighs_rows ? probability(at) : std::exp(at), 4));
  }
}

/// One λ as it is, several by how far all of them move.
std::string interval_text(const Trust& trust, const ShiftInterval& interval) {
  const double from = trust.minimum.size() == 1 ? trust.minimum[0] : 0.0;
  return fmt::format("[{}{}, {}{}]", number_text(from + interval.low, 3),
                     interval.low_is_end ? " (bound)" : "", number_text(from + interval.high, 3),
                     interval.high_is_end ? " (bound)" : "");
}

/// What is known of the answer beyond the answer.
void print_trust(Lines& out, const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned) {
  if (const std::string refits = problem.left_out_in_words(tuned.lambda()); !refits.empty())
    out.add("  {:<14} {}\n", "left out", refits);
  if (tuned.shrinkage > 0.0)
    out.add("  {:<14} {} (--shrinkage; the mean of all lambda draws each of them)\n", "shrinkage",
            number_text(tuned.shrinkage));
  if (tuned.trust) {
    const Trust& trust = *tuned.trust;
    const bool is_one = trust.minimum.size() == 1;
    out.add("  {:<14} {} (s.e. over {} rows, {})\n", "criterion",
            with_error(trust.value, trust.standard_error), trust.rows, trust.criterion);
    out.add("  {:<14} {}; within one s.e. {}, paired {}; one-s.e. rule {}{}\n",
            is_one ? "lambda" : "common shift", is_one ? number_text(trust.minimum[0], 3) : "0",
            interval_text(trust, trust.interval), interval_text(trust, trust.paired),
            number_text((is_one ? trust.minimum[0] : 0.0) + trust.one_standard_error, 3),
            options.trust.rule == Rule::minimum ? "" : ", which is taken");
  }
  if (tuned.nested) {
    const NestedScore& nested = *tuned.nested;
    out.add("  {:<14} {} (nested, {} outer folds; lambda there from {} to {})\n", "honest score",
            with_error(nested.loss, nested.standard_error), nested.folds,
            number_text(nested.lambda_low.minCoeff(), 3), number_text(nested.lambda_high.maxCoeff(), 3));
  }
  if (tuned.trust && !tuned.trust->optimism.empty())
    out.add("  {:<14} {}\n", "optimism", tuned.trust->optimism);
}

std::string seconds_text(double seconds) {
  return seconds < 0.001 ? "under 0.001 s" : number_text(seconds, 3) + " s";
}

/// Why the run ended, what the certificate says of its answer, what it cost, how far the best λ is.
void print_end(Lines& out, const Tuned& tuned) {
  const Outcome& outcome = tuned.outcome;
  const bool was_stopped = outcome.status == StopReason::stopped;
  out.add("\n  {:<14} {}{}\n", "stopped", was_stopped ? "" : fmt::format("{}: ", to_string(outcome.status)),
          outcome.message);
  if (tuned.certificate)
    out.add("  {:<14} {}: {}\n", "certificate", to_string(tuned.certificate->verdict),
            tuned.certificate->reason);
  out.add(
      "  {:<14} {} iterations, {} gradient computations, {:.0f} gradient equivalents, {} ({} from data "
      "to "
      "answer)\n",
      "cost", outcome.iterations, outcome.work.paper_count(), outcome.work.gradient_equivalents(),
      seconds_text(outcome.seconds), seconds_text(tuned.seconds));
  if (tuned.oracle) {
    const Oracle& oracle = tuned.oracle->oracle;
    out.add("  {:<14} lambda {}, validation loss {}; this model {}, this lambda {}\n", "oracle",
            number_text(oracle.lambda), number_text(oracle.validation),
            signed_percent_text(tuned.oracle->gap), signed_percent_text(tuned.oracle->lambda_gap));
    if (oracle.at_bound()) out.add("  {:<14} its lambda lies on the bound of the search; see --bounds\n", "");
    if (oracle.inexact_solves > 0)
      out.add("  {:<14} {} of its inner problems were not solved to their tolerance\n", "",
              oracle.inexact_solves);
  }
}

std::string in_words(const Equivalents& equivalents) {
  std::string text;
  for (const auto& [name, value] : equivalents)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, number_text(value));
  return text;
}

}  // namespace

std::string rows_in_words(const TuneProblem& problem) {
  const Split& split = problem.split();
  const Index test = split.test ? split.test->rows() : 0;
  if (problem.has_folds() && problem.data().repeats == 1)
    return fmt::format("{} rows in {} folds, {} test rows", split.train.rows(), problem.data().fold_count,
                       test);
  if (problem.always_refits())
    return fmt::format("{} rows by {}, {} test rows", split.train.rows(), problem.criterion_in_words(), test);
  return fmt::format("{} training, {} validation, {} test rows", split.train.rows(), split.validation.rows(),
                     test);
}

std::string features_in_words(Index features) {
  return fmt::format("{} feature{}", features, features == 1 ? "" : "s");
}

void print_forms(std::FILE* out, const TuneProblem& problem, const TuneOptions& options) {
  fmt::print(out, "\n  {:<14} {:>12} {:>12}\n", "form", "expected s", "real s");
  for (const FormTrial& trial : try_forms(problem, options))
    fmt::print(out, "  {:<14} {:>12} {:>12}{}\n", to_string(trial.form),
               std::isnan(trial.expected) ? "-" : number_text(trial.expected, 2),
               trial.seconds ? number_text(*trial.seconds, 2) : "-",
               trial.is_exact ? "" : "  refused: it would lose digits here");
}

void print_result(std::FILE* file, const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned,
                  const std::vector<std::size_t>& measures) {
  const Prepared& data = problem.data();
  const Split& split = problem.split();
  Lines out;
  const PenaltyOptions& penalty = options.penalty;
  out.add("{}{}{} with {} on {}: {}, {}\n", data.model->name,
          penalty.kind.empty() ? "" : fmt::format(" under {}", penalty.kind),
          penalty.group_scale == "sqrt" ? " (norms count by the roots of their groups' sizes)" : "",
          options.method, printable(split.train.source), rows_in_words(problem),
          features_in_words(split.train.features()));
  for (const std::string& note : data.notes) out.add("note: {}\n", printable(note));
  print_lambda(out, tuned, problem.weighs_rows());
  if (!tuned.equivalents.empty())
    out.add("  {:<14} {}\n  {:<14} (for the pretreated training rows: x {}{})\n", "the same as",
            in_words(tuned.equivalents), "", options.x,
            data.labels ? "" : fmt::format(", y {}", to_string(data.y_step)));
  out.add("\n  {:<14} {:>12} {:>12} {:>12}\n", "", "train",
          problem.judges_by_rows() ? data.criterion : "validation", "test");
  if (data.fold_count > 0) out.add("  means over the folds:\n");
  print_report(out, tuned.best, split.train.features(), measures);
  if (tuned.refit) {
    const std::string same = in_words(tuned.refit_equivalents);
    out.add("  refitted on {}{}:\n", problem.always_refits() ? "all rows" : "training and validation rows",
            same.empty() ? "" : fmt::format(" ({})", same));
    print_report(out, *tuned.refit, split.train.features(), measures);
  }
  out.add("  lambda was chosen by the {} loss; other measures are only shown\n",
          problem.judges_by_rows() ? problem.criterion_in_words() : "validation");
  print_trust(out, options, problem, tuned);
  if (data.labels) {
    const Report& shown = tuned.refit ? *tuned.refit : tuned.best;
    if (shown.test)
      print_confusion(out, *data.labels, "test", shown.test->confusion);
    else if (tuned.best.validation)
      print_confusion(out, *data.labels, "validation", tuned.best.validation->confusion);
  }
  if (tuned.model) {
    constexpr std::size_t kFew = 8;
    out.add("\n{}", coefficients_text(*tuned.model, kFew, "  "));
  }
  print_end(out, tuned);
  out.print(file);
}

namespace {

/// A line for each target, of many the first and the last few: its λ, and its measures on the rows that
/// judge.
std::string table_of_targets(const TunedTargets& tuned, const std::vector<std::size_t>& shown) {
  constexpr std::size_t kMostShown = 20, kEachEnd = 8;
  std::vector<Table::Column> columns = {{"target", Table::Align::left}};
  for (const std::string& name : tuned.lambda_names)
    columns.push_back(
        {tuned.lambda_names.size() == 1 ? "lambda" : "lambda " + printable(name), Table::Align::right});
  for (const std::size_t i : shown)
    columns.push_back({std::string(measures()[i].title), Table::Align::right});
  columns.push_back({"certificate", Table::Align::left, 1});
  Table table(columns);
  const std::size_t count = tuned.targets.size();
  for (std::size_t t = 0; t < count; ++t) {
    if (count > kMostShown && t == kEachEnd) {
      std::vector<std::string> more(columns.size());
      more[0] = fmt::format("... {} more ...", count - 2 * kEachEnd);
      table.add(std::move(more));
      t = count - kEachEnd;
    }
    const TunedTarget& target = tuned.targets[t];
    std::vector<std::string> cells = {printable(target.name)};
    for (const double lambda : target.lambda) cells.push_back(number_text(lambda, 5));
    for (const std::size_t i : shown)
      cells.push_back(target.report.validation ? cell(target.report.validation->values[i]) : "-");
    cells.emplace_back(target.certificate ? to_string(target.certificate->verdict) : "none");
    table.add(std::move(cells));
  }
  return table.text("  ", kUnlimited);
}

}  // namespace

void print_targets(std::FILE* file, const std::string& source, const TunedTargets& tuned,
                   const std::vector<std::size_t>& measures) {
  Lines out;
  const std::string judged =
      tuned.folds > 0 ? fmt::format("{} rows in {} folds", tuned.rows, tuned.folds)
      : tuned.validation_rows > 0
          ? fmt::format("{} training, {} validation rows", tuned.rows, tuned.validation_rows)
          : fmt::format("{} rows by {}", tuned.rows, tuned.criterion);
  out.add("ridge on {}: {} targets, {}, {} test rows, {}\n", printable(source), tuned.targets.size(), judged,
          tuned.test_rows, features_in_words(tuned.model.features));
  for (const std::string& note : tuned.notes) out.add("note: {}\n", printable(note));
  out.add("\n{}", table_of_targets(tuned, measures));
  out.add("\n  {:<14} {:>12} {:>12} {:>12}\n  means over the targets:\n", "", "train",
          tuned.validation_rows > 0 || tuned.folds > 0 ? "validation" : tuned.criterion, "test");
  print_report(out, tuned.mean, tuned.model.features, measures);
  if (tuned.mean_refit) {
    out.add("  refitted on {}:\n", tuned.validation_rows > 0 ? "training and validation rows" : "all rows");
    print_report(out, *tuned.mean_refit, tuned.model.features, measures);
  }
  std::size_t certified = 0;
  for (const TunedTarget& target : tuned.targets)
    certified += target.certificate && target.certificate->verdict != Verdict::not_certified ? 1 : 0;
  out.add("\n  {:<14} {} of {} targets{}\n", "certified", certified, tuned.targets.size(),
          tuned.is_shared ? ", whose sum has one lambda" : "");
  out.add("  {:<14} {} from data to answer\n", "cost", seconds_text(tuned.seconds));
  out.print(file);
}

}  // namespace yosida::cli
