#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/settings.hpp"
#include "yosida/study/record.hpp"

/// What a report shows of a study, as plain data: the page and the figures are made of it. Numbers that are
/// not finite stand for what is not there.
namespace YOSIDA_EXPORT yosida {
namespace report {

/// A quantity over the runs of a method.
struct Cell {
  double mean = 0.0;
  double deviation = 0.0;  // of a sample (n − 1); 0 for one run
  double median = 0.0;
  std::int64_t count = 0;
};

/// Summarises the finite numbers among `values`; empty where none is finite.
std::optional<Cell> cell_of(std::vector<double> values);

/// A measure on each part of the data.
struct PartCells {
  std::optional<Cell> train, validation, test;
};

/// Gradient equivalents until L_V is within a share of the oracle's.
struct WorkTo {
  double gap;
  std::int64_t reached;
  std::int64_t of;
  std::optional<double> median;  // over all runs; nothing where half of them or more do not reach it
};

/// The seeds that every row of a problem has a run of. Rows are compared on these alone: cells, work and
/// curves are of them. Where there is none they are of all runs of a row, and no row may be called best.
struct CommonSeeds {
  std::int64_t count = 0;
  bool is_all = true;  // no row has another
};
/// "over 5 seeds" where no row has another, else "over 4 common seeds so far"; where there is none, that
/// nothing is called best.
std::string in_words(const CommonSeeds& seeds);

/// A method with its settings over its runs. Cells are of the runs that ended well, empty where there is
/// none; they and `work_to` are of the common seeds, all else is of every run.
struct MethodRow {
  std::string label;  // unique within its problem
  std::string method;
  SettingValues settings;
  std::optional<double> budget;  // gradients
  std::optional<double> step;    // its setting alpha, where that is a step size
  std::int64_t runs = 0, diverged = 0, failed = 0, certified = 0;
  std::vector<PartCells> final, best;  // one for each of the measures that are shown
  std::optional<Cell> gap, lambda_gap, best_gap, best_lambda_gap;
  std::optional<Cell> lambda, best_lambda;  // none where a run has several
  std::optional<Cell> gradients, work, seconds, iterations;
  std::vector<WorkTo> work_to;  // none without an oracle
  std::map<std::string, std::int64_t> statuses;
};

/// The validation loss over the seeds of a row, after each iteration.
struct Curve {
  std::size_t row = 0;
  std::int64_t seeds = 0;
  std::vector<double> iterations, work, seconds;  // medians; none of them falls
  std::vector<double> median, low, high;
  std::vector<double> gap, gap_low,
      gap_high;                       // the same above each seed's oracle, as a share of it; or empty
  std::vector<std::int64_t> running;  // seeds whose loss is finite
};

/// λ and the validation loss there.
using ResponsePoint = std::pair<double, double>;

/// The way of a run through λ and the validation loss there.
struct ResponsePath {
  std::size_t row = 0;
  bool is_search = false;  // its points are trials, each the best so far
  std::vector<ResponsePoint> points;
};

/// How sure the best λ of a seed is: the loss around it with its standard error, the λ within one standard
/// error of the least loss, and what the two rules take.
struct TrustBand {
  /// The loss at a λ.
  struct Point {
    double lambda = 0.0, loss = 0.0, standard_error = 0.0;
  };
  std::size_t row = 0;  // whose answer it is
  std::vector<Point> curve;
  double minimum = 0.0, one_standard_error = 0.0;
  std::pair<double, double> interval, paired;
};

/// The validation loss as a function of λ, for one seed.
struct Response {
  std::uint64_t seed = 0;
  std::vector<ResponsePoint> curve;  // of trained weights, by λ
  std::optional<ResponsePoint> oracle;
  std::optional<std::pair<double, double>> bounds;  // of λ, as far as runs say them
  std::vector<ResponsePath> paths;                  // of the weights that a method had on its way
  std::optional<TrustBand> trust = {};  // of the run whose loss is least, where runs were asked for it
};

enum class State { ok, diverged, failed };

/// How the run of a seed has ended.
struct SeedOutcome {
  std::uint64_t seed = 0;
  double validation = 0.0;
  State state = State::ok;
};

/// What came of a step size.
struct Stability {
  std::size_t row = 0;
  double step = 0.0;
  std::vector<SeedOutcome> outcomes;
};

/// One run in a few numbers.
struct RunResult {
  std::size_t row = 0;
  std::uint64_t seed = 0;
  std::string status;
  double lambda = 0.0;      // not finite where there are several
  double validation = 0.0;  // of the final weights, in the first measure
  std::string certificate;  // "certified", "not certified" or "none"
  double residual = 0.0;    // the scaled hypergradient of the certificate
  std::string sentence;     // why it is so; of a failed run, why that failed
};

/// How far from the best λ the runs of a method have ended.
struct OracleCells {
  std::optional<Cell> lambda, loss, scaled_loss;
};

/// Runs on the same data with the same model.
struct ProblemContents {
  std::string name;  // short, unique
  std::string title;
  std::vector<int> paper_tables = {};  // that show it; empty where the problem is not the paper's
  std::optional<int> paper_figure = {};
  std::vector<std::pair<std::string, std::string>> about, files;
  std::vector<std::string> measures;
  std::string curve_measure;  // of curves, responses and stability
  std::optional<OracleCells> oracle;
  CommonSeeds seeds;
  std::vector<MethodRow> rows;
  std::vector<Curve> curves;
  std::vector<Response> responses;
  std::vector<Stability> stability;
  std::vector<RunResult> results;
};

/// How many of the runs that the last command asked for are there.
struct Planned {
  std::int64_t done = 0, total = 0;
  /// Until the last, by the pace since that command began; nothing before its first run has ended.
  std::optional<double> seconds_left;
};

/// All that a report shows.
struct StudyContents {
  std::string title;
  std::string generated, program;  // when, and by which version
  std::int64_t runs = 0, failed = 0, diverged = 0;
  std::vector<study::Session> sessions;
  std::map<std::string, std::int64_t> builds = {};  // that made the runs, and how many
  std::optional<Planned> planned = {};
  std::vector<ProblemContents> problems;
};

/// The JSON that the page reads. Numbers that are not finite become null, bytes that are not UTF-8 are
/// replaced, and curves have six digits.
std::string to_json(const StudyContents& contents);
/// What the page reads instead where the study cannot be read.
std::string fault_json(const std::string& fault);

}  // namespace report
}  // namespace yosida
