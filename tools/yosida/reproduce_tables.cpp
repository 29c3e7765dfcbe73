#include "reproduce_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compare_table.hpp"
#include "folding.hpp"
#include "output.hpp"
#include "table.hpp"
#include "yosida/number_text.hpp"
#include "yosida/report/claims.hpp"
#include "yosida/report/palette.hpp"
#include "yosida/report/paper.hpp"
#include "yosida/report/rows.hpp"

namespace yosida::cli {
namespace {

using report::Cell;
using report::MethodRow;
using report::PaperCell;
using report::PaperResult;
using report::PartCells;
using report::ProblemContents;
using study::Experiment;

constexpr int kSummary = 2, kFull = 3;
constexpr std::size_t kReadable = 110;  // columns of text that people like to read

// ---- cells ----

std::string times_100(const Cell& cell, bool median) {
  if (median) return fmt::format("{} (median)", number_text(100.0 * cell.median, 4));
  if (cell.count < 2) return number_text(100.0 * cell.mean, 4);
  return with_error(100.0 * cell.mean, 100.0 * cell.deviation);
}

std::string times_100(const MethodRow& row, const std::optional<Cell>& cell) {
  return cell ? times_100(*cell, row.diverged > 0) : "-";
}

std::string times_100(const PaperCell& cell) {
  return fmt::format("{} ± {}", number_text(cell.mean, 4), number_text(cell.deviation, 4));
}

std::string per_cent(const std::optional<Cell>& cell) { return cell ? percent_text(cell->mean) : "-"; }

std::string count(const std::optional<Cell>& cell) { return cell ? fmt::format("{:.0f}", cell->mean) : "-"; }

std::string work_to(const MethodRow& row, std::size_t target) {
  if (row.work_to.size() <= target) return "-";
  const report::WorkTo& work = row.work_to[target];
  if (work.median && work.reached == work.of) return fmt::format("{:.0f}", *work.median);
  if (work.median) return fmt::format("{:.0f} ({} of {})", *work.median, work.reached, work.of);
  return work.reached == 0 ? "never" : fmt::format("{} of {}", work.reached, work.of);
}

std::string remark(const MethodRow& row) { return faults_in_words(row.runs, row.diverged, row.failed); }

std::string in_measure(const ProblemContents& problem) {
  return fmt::format("{} × 100 of the final weights, mean ± standard deviation {}",
                     measures()[find_measure(problem.measures.at(0)).value()].meaning,
                     in_words(problem.seeds));
}

/// What the paper has of a row in one of its tables.
std::optional<PaperResult> paper_row(const ProblemContents& problem, const MethodRow& row, int table) {
  for (const PaperResult& result : report::paper_results(problem.name, row.method, row.settings))
    if (result.table == table) return result;
  return {};
}

// ---- tables ----

std::vector<std::string> paper_cells(const PaperResult& paper, std::size_t columns) {
  std::vector<std::string> cells = {"  the paper", times_100(paper.train), times_100(paper.validation),
                                    times_100(paper.test)};
  cells.resize(columns);
  return cells;
}

/// Every method and setting of a problem, the paper's own figures below those it has.
void print_details(const ProblemContents& problem, int table_number) {
  Table table({{"method", kLeft},
               {"train", kRight, 4},
               {"validation", kRight},
               {"test", kRight, 1},
               {"gap", kRight, 2},
               {"λ gap", kRight, 6},
               {"to 1 %", kRight, 5},
               {"to 0.1 %", kRight, 7},
               {"gradients", kRight, 8},
               {"work", kRight, 3},
               {"", kLeft}});
  const MethodRow* best = best_row(problem, [](const MethodRow&) { return true; });
  std::size_t line = 0;
  for (const MethodRow& row : problem.rows) {
    const PartCells& final = final_of(row);
    table.add({printable(row.label), times_100(row, final.train), times_100(row, final.validation),
               times_100(row, final.test), per_cent(row.gap), per_cent(row.lambda_gap), work_to(row, 0),
               work_to(row, 1), count(row.gradients), count(row.work), remark(row)});
    table.mark(line, report::hues()[report::colour_of(row.method).place].light);
    if (&row == best) table.emphasise(line, 2);
    ++line;
    if (const auto paper = paper_row(problem, row, table_number)) {
      table.add(paper_cells(*paper, 11));
      ++line;
    }
  }
  if (problem.oracle && problem.oracle->loss) {
    const auto& oracle =
        problem.measures[0] == kScaledLoss ? problem.oracle->scaled_loss : problem.oracle->loss;
    std::vector<std::string> cells = {"the best lambda there is", "",
                                      oracle ? times_100(*oracle, false) : "-"};
    cells.resize(11);
    table.add(std::move(cells));
  }
  fmt::print("\n{}{}\n{}\n\n", printable(problem.title),
             table_number == 0 ? "" : fmt::format(" (table {} of the paper)", table_number),
             in_measure(problem));
  table.print("  ");
}

/// The best setting of a method; where none ended well for every seed, the one that did most often.
const MethodRow* steadiest_row(const ProblemContents& problem, const char* method,
                               const std::function<bool(const MethodRow&)>& takes) {
  const auto is_asked_for = [&](const MethodRow& row) { return row.method == method && takes(row); };
  const MethodRow* best = best_row(problem, is_asked_for);
  if (best != nullptr) return best;
  for (const MethodRow& row : problem.rows)
    if (is_asked_for(row) && (best == nullptr || row.diverged < best->diverged)) best = &row;
  return best;
}

/// The best setting of each method, as in table 2.
void print_summary(const std::vector<const ProblemContents*>& problems) {
  fmt::print(
      "\nTable 2 of the paper: each method at its best setting (by validation) within the same number of "
      "gradients\n");
  for (const ProblemContents* problem : problems) {
    Table table({{"method", kLeft},
                 {"train", kRight, 2},
                 {"validation", kRight},
                 {"test", kRight, 1},
                 {"setting", kLeft, 3}});
    std::size_t line = 0;
    const auto add = [&](const char* title, const char* method,
                         const std::function<bool(const MethodRow&)>& takes) {
      const MethodRow* row = steadiest_row(*problem, method, takes);
      if (row == nullptr) return;
      const PartCells& final = final_of(*row);
      const std::string said = remark(*row);
      table.add({title, times_100(*row, final.train), times_100(*row, final.validation),
                 times_100(*row, final.test), printable(row->label) + (said.empty() ? "" : ", " + said)});
      ++line;
      for (const PaperResult& paper : report::paper_results())
        if (paper.table == kSummary && problem->name == paper.problem &&
            std::string_view(paper.method) == method) {
          std::vector<std::string> cells = paper_cells(paper, 5);
          cells[4] = paper.settings;
          table.add(std::move(cells));
          ++line;
        }
    };
    const auto any = [](const MethodRow&) { return true; };
    add("SHO", "sho", any);
    add("MY-HPO (C)", "my-hpo-c", any);
    add("MY-HPO (BT)", "my-hpo-bt", [](const MethodRow& row) { return has(row, "w_gradient", "shared"); });
    const auto two_trials = [](const MethodRow& row) { return has(row, "trials", "2"); };
    add("Random", "random", two_trials);
    add("Grid", "grid", two_trials);
    add("HyperOpt (TPE)", "tpe", two_trials);
    add("Spearmint (GP-EI)", "gp-ei", two_trials);
    add("my-hpo (ours)", "my-hpo", any);
    fmt::print("\n{}\n{}\n\n", printable(problem->title), in_measure(*problem));
    table.print("  ");
  }
}

/// The full algorithm, as in table 3.
void print_full(const std::vector<const ProblemContents*>& problems) {
  Table table({{"problem", kLeft},
               {"train", kRight, 3},
               {"validation", kRight},
               {"test", kRight, 1},
               {"iterations", kRight, 2},
               {"work", kRight, 4}});
  for (const ProblemContents* problem : problems)
    for (const MethodRow& row : problem->rows) {
      if (row.method != "my-hpo-full") continue;
      const PartCells& final = final_of(row);
      const auto iterations = row.iterations;
      table.add({printable(problem->name), times_100(row, final.train), times_100(row, final.validation),
                 times_100(row, final.test),
                 iterations ? with_error(iterations->mean, iterations->deviation) : "-", count(row.work)});
      if (const auto paper = paper_row(*problem, row, kFull))
        table.add({"  the paper (scale not stated)", times_100(paper->train), times_100(paper->validation),
                   times_100(paper->test), problem->name == "cookie" ? "80 ± 19" : "364 ± 124", ""});
    }
  fmt::print("\nTable 3 of the paper: MY-HPO with every update solved to its minimum\n\n");
  table.print("  ");
}

void print_claims(const std::vector<const ProblemContents*>& problems) {
  const std::vector<report::Claim> claims = report::claims(problems);
  if (claims.empty()) return;
  std::size_t width = 0;
  for (const ProblemContents* problem : problems) width = std::max(width, problem->name.size());
  fmt::print(
      "\nThe claims (validation loss × 100 of the final weights, means; settings where every seed ended "
      "well)\n\n");
  for (const auto& [claim, findings] : claims) {
    fmt::print("  {}\n", claim);
    for (const auto& [name, text] : findings)
      fmt::print("{}\n",
                 folded(fmt::format("    {:{}}  {}", printable(name), width, printable(text)), kReadable));
  }
}

bool is_asked(const std::vector<int>& tables, int table) {
  return tables.empty() || std::find(tables.begin(), tables.end(), table) != tables.end();
}

bool has_table(const Experiment& experiment, int table) {
  return std::find(experiment.tables.begin(), experiment.tables.end(), table) != experiment.tables.end();
}

}  // namespace

void print_tables(const report::StudyContents& study, const std::vector<Experiment>& experiments,
                  const std::vector<int>& tables) {
  const auto contents_of = [&](const Experiment& experiment) -> const ProblemContents* {
    const std::string name =
        variant_name(*study::find_experiment(experiment.name), experiment.x, experiment.y);
    for (const ProblemContents& problem : study.problems)
      if (problem.name == name) return &problem;
    return nullptr;
  };
  std::vector<const ProblemContents*> shown, summary, full;
  for (const Experiment& experiment : experiments) {
    if (!experiment.suite.empty()) continue;  // print_suites has these
    const ProblemContents* problem = contents_of(experiment);
    if (problem == nullptr) continue;
    shown.push_back(problem);
    const bool is_of_paper =
        !experiment.tables.empty() && problem->name == experiment.name;  // not another pretreatment
    const int details = is_of_paper ? experiment.tables.back() : 0;
    if (details == 0 || is_asked(tables, details)) print_details(*problem, details);
    if (is_of_paper && has_table(experiment, kSummary)) summary.push_back(problem);
    if (is_of_paper && has_table(experiment, kFull)) full.push_back(problem);
  }
  if (is_asked(tables, kFull) && !full.empty()) print_full(full);
  if (is_asked(tables, kSummary) && !summary.empty()) print_summary(summary);
  if (tables.empty()) print_claims(shown);
}

}  // namespace yosida::cli
