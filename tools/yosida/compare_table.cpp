#include "compare_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "output.hpp"
#include "table.hpp"
#include "tune_report.hpp"
#include "yosida/error.hpp"
#include "yosida/version.hpp"

namespace yosida::cli {
namespace {

using report::Cell;
using report::Row;

/// A number for people: four digits that count.
std::string short_number(double value) { return fmt::format("{:.4g}", value); }

std::string with_deviation(const Row& row, const std::optional<Cell>& cell) {
  if (!cell) return "-";
  if (row.diverged > 0) return fmt::format("{} (median)", short_number(cell->median));
  if (cell->count < 2) return short_number(cell->mean);
  return fmt::format("{} ± {:.2g}", short_number(cell->mean), cell->deviation);
}

std::string mean_count(const std::optional<Cell>& cell) {
  return cell ? fmt::format("{:.0f}", cell->mean) : "-";
}

/// Marks the best of a column, and what reads the same. A method that diverges is not called best.
void emphasise_best(Table& table, const std::vector<Row>& rows, std::optional<Cell> Row::*member,
                    std::size_t column, bool larger) {
  const Cell* best = nullptr;
  for (const Row& row : rows) {
    const auto& cell = row.*member;
    if (!cell || row.diverged + row.failed > 0) continue;
    if (best == nullptr || (larger ? cell->mean > best->mean : cell->mean < best->mean)) best = &*cell;
  }
  if (best == nullptr) return;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const auto& cell = rows[i].*member; cell && rows[i].diverged + rows[i].failed == 0 &&
                                            short_number(cell->mean) == short_number(best->mean))
      table.emphasise(i, column);
}

}  // namespace

void require_measure(const std::string& name) {
  if (name == "loss") return;
  for (const Measure& known : measures())
    if (name == known.name) return;
  throw InputError(
      fmt::format("measure = {}: must be loss, scaled_loss, r_squared, accuracy or area_under_roc", name));
}

void require_measure(const std::string& name, const Model& model, const Loss& loss) {
  const bool has_classes = loss.is_classification() || loss.outputs() > 1;
  const bool is_there = name == "loss" || (name == "scaled_loss" && loss.is_quadratic()) ||
                        (name == "r_squared" && !has_classes) || (name == "accuracy" && has_classes) ||
                        (name == "area_under_roc" && has_classes && loss.outputs() == 1);
  if (!is_there) throw InputError(fmt::format("measure = {}: {} does not have it", name, model.name));
}

std::string heading(const TuneProblem& problem) {
  const Dataset& train = problem.split().train;
  return fmt::format("{} on {}: {}, {} features", problem.data().model->name, printable(train.source),
                     rows_in_words(problem), train.features());
}

void print_comparison(const Comparison& comparison, const std::vector<study::Record>& records) {
  const std::vector<Row> rows = report::summarise(records, comparison.measure, comparison.which);
  std::set<std::uint64_t> seeds;
  for (const study::Record& record : records) seeds.insert(record.spec.seed);
  fmt::print("{}\n{} of the {} weights, mean ± standard deviation over {}; the best {}\n\n",
             comparison.heading, comparison.measure,
             comparison.which == report::Which::final ? "final" : "best",
             seeds.size() == 1 ? "1 seed" : fmt::format("{} seeds", seeds.size()),
             Table::is_bright() ? "is bold" : "has a *");
  const bool has_gap =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.lambda_gap.has_value(); });
  constexpr auto kLeft = Table::Align::left, kRight = Table::Align::right;
  std::vector<Table::Column> columns = {
      {"method", kLeft}, {"train", kRight}, {"validation", kRight}, {"test", kRight}};
  if (has_gap) columns.push_back({"lambda gap", kRight});
  for (const char* title : {"gradients", "equivalents", "seconds"}) columns.push_back({title, kRight});
  columns.push_back({"", kLeft});
  Table table(columns);
  for (const Row& row : rows) {
    std::vector<std::string> cells = {row.method, with_deviation(row, row.train),
                                      with_deviation(row, row.validation), with_deviation(row, row.test)};
    if (has_gap)
      cells.push_back(row.lambda_gap ? fmt::format("{:.3g} %", 100.0 * row.lambda_gap->mean) : "-");
    cells.push_back(mean_count(row.gradients));
    cells.push_back(mean_count(row.work));
    cells.push_back(row.seconds ? fmt::format("{:.2g}", row.seconds->mean) : "-");
    cells.push_back(faults_in_words(row.runs, row.diverged, row.failed));
    table.add(std::move(cells));
  }
  const bool larger = report::larger_is_better(comparison.measure);
  emphasise_best(table, rows, &Row::train, 1, larger);
  emphasise_best(table, rows, &Row::validation, 2, larger);
  emphasise_best(table, rows, &Row::test, 3, larger);
  table.print("  ");
  const auto of_others = std::count_if(records.begin(), records.end(), [](const study::Record& record) {
    return record.program != version();
  });
  if (of_others > 0)
    fmt::print("\nnote: {} of these runs were made by another version of yosida than {}\n", of_others,
               version());
}

std::string faults_in_words(std::int64_t runs, std::int64_t diverged, std::int64_t failed) {
  std::string text;
  if (diverged > 0) text = fmt::format("{} of {} diverged", diverged, runs);
  if (failed > 0) text += fmt::format("{}{} of {} failed", text.empty() ? "" : ", ", failed, runs);
  return text;
}

std::string failures_in_words(const std::vector<study::Record>& records) {
  std::map<std::string, std::vector<const study::Record*>> by_message;
  for (const study::Record& record : records)
    if (record.status == "failed") {
      const auto outcome = nlohmann::json::parse(record.outcome);
      const bool is_told = outcome.is_object() && outcome.contains("error") && outcome["error"].is_string();
      by_message[is_told ? outcome["error"].get<std::string>() : record.outcome].push_back(&record);
    }
  std::string text;
  for (const auto& [message, failed] : by_message)
    text += fmt::format("yosida: {} failed ({} seed {}{}): {}\n",
                        failed.size() == 1 ? "1 run" : fmt::format("{} runs", failed.size()),
                        printable(failed[0]->spec.method), failed[0]->spec.seed,
                        failed.size() > 1 ? ", …" : "", printable(message));
  return text;
}

}  // namespace yosida::cli
