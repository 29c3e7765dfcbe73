#include "compare_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "output.hpp"
#include "table.hpp"
#include "tune_report.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/number_text.hpp"
#include "yosida/report/palette.hpp"
#include "yosida/study/run_outcome.hpp"

namespace yosida::cli {
namespace {

using report::Cell;
using report::MethodRow;
using report::PartCells;

/// Four digits that count.
std::string short_number(double value) { return number_text(value, 4); }

std::string with_deviation(const MethodRow& row, const std::optional<Cell>& cell) {
  if (!cell) return "-";
  if (row.diverged > 0) return fmt::format("{} (median)", short_number(cell->median));
  if (cell->count < 2) return short_number(cell->mean);
  return with_error(cell->mean, cell->deviation);
}

std::string mean_count(const std::optional<Cell>& cell) {
  return cell ? fmt::format("{:.0f}", cell->mean) : "-";
}

/// Marks the best of a column, and what reads the same. A method that diverges is not called best.
void emphasise_best(Table& table, const std::vector<MethodRow>& rows, std::size_t column, bool larger,
                    FunctionRef<const std::optional<Cell>&(const MethodRow&)> cell_of) {
  const auto ended_well = [](const MethodRow& row) { return row.diverged + row.failed == 0; };
  const MethodRow* best = nullptr;
  for (const MethodRow& row : rows)
    if (const auto& cell = cell_of(row); cell && ended_well(row))
      if (best == nullptr || (larger ? cell->mean > cell_of(*best)->mean : cell->mean < cell_of(*best)->mean))
        best = &row;
  if (best == nullptr) return;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const auto& cell = cell_of(rows[i]);
        cell && ended_well(rows[i]) && short_number(cell->mean) == short_number(cell_of(*best)->mean))
      table.emphasise(i, column);
}

}  // namespace

std::string heading(const TuneProblem& problem) {
  const Dataset& train = problem.split().train;
  return fmt::format("{} on {}: {}, {}", problem.data().model->name, printable(train.source),
                     rows_in_words(problem), features_in_words(train.features()));
}

void print_comparison(const Comparison& comparison, const std::vector<study::Record>& records) {
  const auto [rows, seeds] = report::summarise(records);
  const std::size_t measure = find_measure(comparison.measure).value();
  const bool is_final = comparison.is_final;
  const auto parts_of = [&](const MethodRow& row) -> const PartCells& {
    return (is_final ? row.final : row.best)[measure];
  };
  const auto gap_of = [&](const MethodRow& row) { return is_final ? row.lambda_gap : row.best_lambda_gap; };
  fmt::print("{}\n{} of the {} weights, mean ± standard deviation {}{}\n\n", comparison.heading,
             comparison.measure, is_final ? "final" : "best", in_words(seeds),
             seeds.count == 0     ? ""
             : Table::is_bright() ? "; the best is bold"
                                  : "; the best has a *");
  const bool has_gap =
      std::any_of(rows.begin(), rows.end(), [&](const MethodRow& row) { return gap_of(row).has_value(); });
  std::vector<Table::Column> columns = {
      {"method", kLeft}, {"train", kRight, 3}, {"validation", kRight}, {"test", kRight, 1}};
  if (has_gap) columns.push_back({"lambda gap", kRight, 2});
  columns.insert(columns.end(),
                 {{"gradients", kRight, 6}, {"equivalents", kRight, 5}, {"seconds", kRight, 4}, {"", kLeft}});
  Table table(columns);
  for (const MethodRow& row : rows) {
    const auto& [train, validation, test] = parts_of(row);
    std::vector<std::string> cells = {row.label, with_deviation(row, train), with_deviation(row, validation),
                                      with_deviation(row, test)};
    if (has_gap) cells.push_back(gap_of(row) ? percent_text(gap_of(row)->mean) : "-");
    cells.push_back(mean_count(row.gradients));
    cells.push_back(mean_count(row.work));
    cells.push_back(row.seconds ? number_text(row.seconds->mean, 2) : "-");
    cells.push_back(faults_in_words(row.runs, row.diverged, row.failed));
    table.add(std::move(cells));
    table.mark(static_cast<std::size_t>(&row - rows.data()),
               report::hues()[report::colour_of(row.method).place].light);
  }
  const bool larger = measures()[measure].larger_is_better;
  std::size_t column = 0;
  for (const auto part : {&PartCells::train, &PartCells::validation})  // nobody is to choose by the test loss
    if (seeds.count > 0)
      emphasise_best(table, rows, ++column, larger,
                     [&](const MethodRow& row) -> const std::optional<Cell>& { return parts_of(row).*part; });
  table.print("  ");
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
    if (record.status == study::kFailed) {
      const std::string error = study::outcome_from_json(record.outcome).error;
      by_message[error.empty() ? record.outcome : error].push_back(&record);
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
