// What a method does where nobody has tuned it: random problems of every condition, start and step size.
//
//   bench_stability --runs 10000 --methods sho,my-hpo-c,my-hpo-bt --jobs 2
//   bench_stability --seed 4711 --methods my-hpo-bt --verbose
//
// A run is a seed; the same seed draws the same problem, start and step sizes for every method. Results do
// not depend on --jobs.
#include <cblas.h>
#include <fmt/format.h>
#include <fmt/os.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "support/random_split.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"

namespace {

using namespace yosida;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A lambda is no worse than the start's where it costs no more than this share: methods stop at such gains.
constexpr double kNoWorse = 1e-5;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// ---- The problems -------------------------------------------------------------------------------------

enum class Spectrum { log_spaced, two_clusters, geometric };
constexpr const char* kSpectrumNames[] = {"log-spaced", "two clusters", "geometric"};

struct Draw {
  std::uint64_t seed = 0;
  std::shared_ptr<const LinearProblem> problem;
  Spectrum spectrum = Spectrum::log_spaced;
  double condition = 1.0;  // of all rows together, before the columns are shifted
  double noise = 0.0;      // standard deviations of the signal
  double lambda0 = 0.0;
  SettingValues steps;  // for every method that has settings of these names

  bool is_logistic() const { return problem->loss().is_classification(); }
  std::string text() const {
    const Split& split = problem->split();
    return fmt::format(
        "{} {} x {}, {} validation rows{}, condition {:.1e} ({}), noise {:.2g}, lambda0 {:.3f}",
        is_logistic() ? "logistic" : "ridge", split.train.rows(), split.train.features(),
        split.validation.rows(), problem->intercepts() > 0 ? ", intercept" : "", condition,
        kSpectrumNames[static_cast<int>(spectrum)], noise, lambda0);
  }
};

double uniform(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }
double log_uniform(Random& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}
Index log_uniform_size(Random& random, Index largest) {
  return static_cast<Index>(std::lround(log_uniform(random, 5.0, static_cast<double>(largest))));
}

/// Orthonormal columns.
Eigen::MatrixXd orthogonal(Index rows, Index cols, Random& random) {
  const Eigen::MatrixXd normal = test::random_matrix(rows, cols, random);
  return Eigen::HouseholderQR<Eigen::MatrixXd>(normal).householderQ() * Eigen::MatrixXd::Identity(rows, cols);
}

/// From 1 down to 1/condition.
Vector singular_values(Index count, Spectrum spectrum, double condition, Random& random) {
  Vector s(count);
  const double last = std::max(1.0, static_cast<double>(count - 1));
  const auto large = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(count)));
  const double decay = uniform(random, 0.3, 0.95);
  for (Index i = 0; i < count; ++i) {
    if (spectrum == Spectrum::log_spaced) s[i] = std::pow(condition, -static_cast<double>(i) / last);
    if (spectrum == Spectrum::two_clusters) s[i] = i < large ? 1.0 : 1.0 / condition;
    if (spectrum == Spectrum::geometric) s[i] = std::max(std::pow(decay, i), 1.0 / condition);
  }
  return s;
}

Draw draw(std::uint64_t seed, Index largest_logistic) {
  Random random(seed);
  Draw drawn;
  drawn.seed = seed;
  const bool is_logistic = random.below(2) == 1;
  const bool intercept = random.below(2) == 1;
  const Index largest = is_logistic ? largest_logistic : 500;
  const Index n = log_uniform_size(random, largest);
  const Index d = log_uniform_size(random, largest);
  const Index n_valid = log_uniform_size(random, 500);
  const Index rows = n + n_valid;
  drawn.spectrum = static_cast<Spectrum>(random.below(3));
  drawn.condition = std::pow(10.0, uniform(random, 0.0, 16.0));
  drawn.noise = log_uniform(random, 1e-3, 10.0);
  drawn.lambda0 = uniform(random, -20.0, 20.0);
  for (const char* name : {"alpha", "beta", "delta"})
    drawn.steps[name] = fmt::format("{:.6e}", log_uniform(random, 1e-6, 1e3));

  // X = U S V^T, its columns of mean square 1 as those of standardised data.
  const Index rank = std::min(rows, d);
  const Vector s = singular_values(rank, drawn.spectrum, drawn.condition, random);
  const Eigen::MatrixXd u = orthogonal(rows, rank, random);
  const double scale = std::sqrt(static_cast<double>(rows * d)) / s.norm();
  Matrix x = u * (scale * s).asDiagonal() * orthogonal(d, rank, random).transpose();
  // The signal: from the large singular values only (power 1) to all of them alike (power 0).
  const double power = random.uniform();
  Vector y = u * (test::random_vector(rank, random).array() * s.array().pow(power)).matrix();
  y *= std::sqrt(static_cast<double>(rows)) / y.norm();
  for (double& each : y) each += drawn.noise * random.normal();
  if (intercept) {
    x.rowwise() += test::random_vector(d, random).transpose();
    y.array() += random.normal();
  }
  if (is_logistic) {
    for (double& each : y) each = each < 0.0 ? -1.0 : 1.0;
    if (std::abs(y.head(n).sum()) == static_cast<double>(n)) y[0] = -y[0];  // both classes to train on
  }

  Dataset data;
  data.x = DenseDesign(x);
  data.y = y;
  data.source = fmt::format("seed {}", seed);
  std::vector<Index> order(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) order[static_cast<std::size_t>(i)] = i;
  drawn.problem = std::make_shared<const LinearProblem>(
      split_rows(std::move(data), order, n, n_valid), is_logistic ? logistic() : least_squares(), intercept);
  return drawn;
}

// ---- The runs -----------------------------------------------------------------------------------------

/// What the answers are measured against; once for all methods.
class Truth {
 public:
  Truth(const Draw& drawn, double floor) : problem_(collapse_if_cheaper(drawn.problem, kInfinity)) {
    const auto begin = std::chrono::steady_clock::now();
    is_quadratic_ = drawn.problem->loss().is_quadratic();
    bounds_ = default_bounds(*problem_, drawn.lambda0);
    oracle_ = find_oracle(*problem_, bounds_.low, bounds_.high);
    Vector zero = Vector::Zero(problem_->weights());
    problem_->fit_intercept(zero);
    unit_ = std::max(oracle_.validation, floor * problem_->validation_loss(zero));
    at_start_ = gap(drawn.lambda0);
    seconds_ = seconds_since(begin);
  }
  const LambdaBounds& bounds() const { return bounds_; }
  const Oracle& oracle() const { return oracle_; }
  double gap_at_start() const { return at_start_; }
  double seconds() const { return seconds_; }

  /// (L_V(w*(lambda)) - oracle) / max(oracle, floor x L_V(w = 0)). Separable classes can bring L_V down to
  /// 1e-40, where no ratio means anything: hence the floor.
  double gap(double lambda) const {
    const double excess = validation(lambda) - oracle_.validation;
    return excess == 0.0 ? 0.0 : excess / unit_;
  }

 private:
  /// L_V(w*(lambda)) for any finite lambda. Beyond e^700 and below e^-700 w* is at its limit; below the
  /// bounds, a Newton solve of the logistic problem no longer sees the penalty.
  double validation(double lambda) const {
    constexpr double kStep =
        4.0;  // small penalties are reached from large ones: Newton from 0 may not get there
    lambda = std::clamp(lambda, is_quadratic_ ? -700.0 : bounds_.low, 700.0);
    Vector w = Vector::Zero(problem_->weights());
    problem_->fit_intercept(w);
    if (!is_quadratic_)
      for (double above = bounds_.high; above > lambda; above -= kStep)
        problem_->inner_solve(Vector::Constant(1, above), {}, w);
    problem_->inner_solve(Vector::Constant(1, lambda), {}, w);
    const double value = problem_->validation_loss(w);
    return std::isfinite(value) ? value : kInfinity;
  }

  std::shared_ptr<const BilevelProblem> problem_;
  bool is_quadratic_ = false;
  LambdaBounds bounds_{};
  Oracle oracle_;
  double unit_ = 1.0;
  double at_start_ = 0.0;
  double seconds_ = 0.0;
};

struct Record {
  std::uint64_t seed = 0;
  bool is_logistic = false;
  std::string problem;
  std::string status;
  std::string message;
  bool is_error = false;  // refused to start
  bool is_non_finite = false;
  bool is_diverged = false;
  bool is_worse_final = false;   // L_V of the last iterate above that of the first
  bool is_worse_best = false;    // ... of the best
  bool is_worse_lambda = false;  // L_V(w*(best lambda)) above L_V(w*(lambda0))
  double lambda = 0.0;
  double gap = kInfinity;        // lambda_gap of the best iterate, what tune returns
  double final_gap = kInfinity;  // ... of the last, what the paper shows
  double oracle_lambda = 0.0;
  bool is_oracle_at_bound = false;
  double oracle_seconds = 0.0;
  double gradient_equivalents = 0.0;
  double seconds = 0.0;
};

/// The paper's methods run without bounds, as published.
bool is_papers(const std::string& name) {
  for (const char* each : {"sho", "sho-code", "my-hpo-c", "my-hpo-bt", "my-hpo-full"})
    if (name == each) return true;
  return false;
}

SettingValues settings_of(const Method& method, const Draw& drawn) {
  SettingValues values;
  for (const SettingInfo& setting : method.settings)
    if (const auto step = drawn.steps.find(setting.name); step != drawn.steps.end()) values.insert(*step);
  return values;
}

Record run(const Method& method, const Draw& drawn, const Truth& truth) {
  Record record;
  record.seed = drawn.seed;
  record.is_logistic = drawn.is_logistic();
  record.problem = drawn.text();
  record.oracle_lambda = truth.oracle().lambda;
  record.is_oracle_at_bound = truth.oracle().at_bound();
  record.oracle_seconds = truth.seconds();
  const auto begin = std::chrono::steady_clock::now();
  try {
    const std::unique_ptr<Solver> solver = method.make(settings_of(method, drawn));
    SolveOptions options;
    options.start.lambda = Vector::Constant(1, drawn.lambda0);
    options.start.seed = drawn.seed;
    if (!is_papers(method.name)) options.start.bound(truth.bounds().low, truth.bounds().high);
    options.budget.iterations = method.default_iterations;
    options.trace_every = std::numeric_limits<std::int64_t>::max();  // the first point and the last
    const double iterations =
        method.solves_inner_problems ? kInfinity : static_cast<double>(method.default_iterations);
    const std::shared_ptr<const BilevelProblem> problem =
        solver->stays_in_row_space() ? collapse_if_cheaper(drawn.problem, iterations) : drawn.problem;
    const Outcome outcome = solve(*solver, *problem, options);
    record.seconds = seconds_since(begin);
    record.status = to_string(outcome.status);
    record.message = outcome.message;
    record.is_diverged = outcome.status == StopReason::diverged;
    record.is_non_finite = record.is_diverged && outcome.message.find("not finite") != std::string::npos;
    const double first = outcome.trace.front().loss.validation;
    record.is_worse_final = outcome.final.loss.validation > first;
    record.is_worse_best = outcome.best.loss.validation > first;
    record.lambda = outcome.best.lambda[0];
    record.gap = truth.gap(record.lambda);
    record.final_gap = truth.gap(outcome.final.lambda[0]);
    // Rounding of an inner solve is no loss.
    record.is_worse_lambda = record.gap > truth.gap_at_start() + kNoWorse;
    record.gradient_equivalents = outcome.work.gradient_equivalents();
  } catch (const InputError& error) {
    record.seconds = seconds_since(begin);
    record.is_error = true;
    record.status = "error";
    record.message = error.what();
  }
  return record;
}

// ---- The report ---------------------------------------------------------------------------------------

/// The value that a share of them does not exceed.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(place, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void print_head() {
  fmt::print("{:<17} {:<9} {:>6} | {:>6} {:>7} {:>8} | {:>15} {:>7} | {:>15} | {:>15} | {:>18} | {:>8}\n", "",
             "", "", "", "non-", "", "worse than start", "", "best lambda gap", "last lambda gap",
             "gradient equivalents", "ms");
  fmt::print(
      "{:<17} {:<9} {:>6} | {:>6} {:>7} {:>8} | {:>7} {:>8} {:>7} | {:>7} {:>7} | {:>7} {:>7} | {:>9} {:>10} "
      "| {:>8}\n",
      "method", "problems", "runs", "error", "finite", "diverged", "final", "best", "lambda", "< 1 %",
      "< 0.1 %", "< 1 %", "< 0.1 %", "median", "90 %", "a run");
}

void print_row(const std::string& method, const char* problems, const std::vector<const Record*>& records) {
  if (records.empty()) return;
  const auto share = [&](auto&& holds) {
    const auto count =
        std::count_if(records.begin(), records.end(), [&](const Record* r) { return holds(*r); });
    return fmt::format("{:.2f} %", 100.0 * static_cast<double>(count) / static_cast<double>(records.size()));
  };
  std::vector<double> work;
  double seconds = 0.0;
  for (const Record* record : records) {
    seconds += record->seconds;
    if (!record->is_error) work.push_back(record->gradient_equivalents);
  }
  fmt::print(
      "{:<17} {:<9} {:>6} | {:>6} {:>7} {:>8} | {:>7} {:>8} {:>7} | {:>7} {:>7} | {:>7} {:>7} | {:>9.0f} "
      "{:>10.0f} | {:>8.2f}\n",
      method, problems, records.size(), share([](const Record& r) { return r.is_error; }),
      share([](const Record& r) { return r.is_non_finite; }),
      share([](const Record& r) { return r.is_diverged; }),
      share([](const Record& r) { return r.is_worse_final; }),
      share([](const Record& r) { return r.is_worse_best; }),
      share([](const Record& r) { return r.is_worse_lambda; }),
      share([](const Record& r) { return r.gap < 1e-2; }),
      share([](const Record& r) { return r.gap < 1e-3; }),
      share([](const Record& r) { return r.final_gap < 1e-2; }),
      share([](const Record& r) { return r.final_gap < 1e-3; }), quantile(work, 0.5), quantile(work, 0.9),
      1e3 * seconds / static_cast<double>(records.size()));
}

void print_rows(const std::string& method, const std::vector<Record>& records) {
  std::vector<const Record*> all, ridge, logistic_;
  for (const Record& record : records) {
    all.push_back(&record);
    (record.is_logistic ? logistic_ : ridge).push_back(&record);
  }
  print_row(method, "ridge", ridge);
  print_row("", "logistic", logistic_);
  print_row("", "all", all);
}

void print_worst(const std::string& method, std::vector<Record> records, std::size_t count) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.gap > b.gap; });
  fmt::print("\n{}: the worst gaps\n", method);
  for (std::size_t i = 0; i < std::min(count, records.size()); ++i) {
    const Record& r = records[i];
    fmt::print("  seed {:<8} gap {:<10.3g} lambda {:<10.5g} oracle {:<9.5g} {:<15} {}\n", r.seed, r.gap,
               r.lambda, r.oracle_lambda, r.status, r.problem);
  }
}

void write_csv(const std::string& file, const std::vector<std::string>& names,
               const std::vector<std::vector<Record>>& records) {
  auto out = fmt::output_file(file);
  out.print(
      "method,seed,model,status,non_finite,worse_final,worse_best,worse_lambda,lambda,lambda_gap,final_"
      "lambda_gap,"
      "oracle_lambda,oracle_at_bound,gradient_equivalents,seconds,problem\n");
  for (std::size_t m = 0; m < names.size(); ++m)
    for (const Record& r : records[m])
      out.print("{},{},{},{},{:d},{:d},{:d},{:d},{:.10g},{:.6g},{:.6g},{:.10g},{:d},{:.6g},{:.4g},\"{}\"\n",
                names[m], r.seed, r.is_logistic ? "logistic" : "ridge", r.status, r.is_non_finite,
                r.is_worse_final, r.is_worse_best, r.is_worse_lambda, r.lambda, r.gap, r.final_gap,
                r.oracle_lambda, r.is_oracle_at_bound, r.gradient_equivalents, r.seconds, r.problem);
}

void print_verbose(const std::string& method, const Draw& drawn, const Truth& truth, const Record& record) {
  fmt::print(
      "{}\n  oracle: lambda {:.6f}, L_V {:.9g}, bounds [{:.3f}, {:.3f}]{}, {} inexact solves, {:.3f} s\n"
      "  gap of lambda0 {:.4g}\n",
      record.problem, truth.oracle().lambda, truth.oracle().validation, truth.bounds().low,
      truth.bounds().high, truth.oracle().at_bound() ? " (at one of them)" : "",
      truth.oracle().inexact_solves, truth.seconds(), truth.gap_at_start());
  fmt::print("  {}", method);
  for (const auto& [name, value] : settings_of(yosida::method(method), drawn))
    fmt::print(" {} {}", name, value);
  fmt::print(
      ": {} ({})\n  lambda {:.6f}, lambda_gap {:.4g} (last iterate: {:.4g}), {:.1f} gradient equivalents, "
      "{:.3f} s\n",
      record.status, record.message, record.lambda, record.gap, record.final_gap, record.gradient_equivalents,
      record.seconds);
}

struct Flags {
  int runs = 1000;
  std::vector<std::string> methods = {"sho", "my-hpo-c", "my-hpo-bt"};
  std::uint64_t seed0 = 0;
  std::optional<std::uint64_t> seed;
  int jobs = 2;
  int worst = 0;
  Index largest_logistic = 300;
  double floor = 1e-9;
  bool verbose = false;
  std::string csv;
};

void sweep(const Flags& flags) {
  std::vector<const Method*> chosen;
  for (const std::string& name : flags.methods) chosen.push_back(&method(name));
  const int runs = flags.seed ? 1 : flags.runs;
  const std::uint64_t first = flags.seed.value_or(flags.seed0);
  std::vector<std::vector<Record>> records(chosen.size(),
                                           std::vector<Record>(static_cast<std::size_t>(runs)));
  const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(dynamic, 1) num_threads(flags.jobs)
  for (int i = 0; i < runs; ++i) {
    const Draw drawn = draw(first + static_cast<std::uint64_t>(i), flags.largest_logistic);
    const Truth truth(drawn, flags.floor);
    for (std::size_t m = 0; m < chosen.size(); ++m) {
      Record& record = records[m][static_cast<std::size_t>(i)];
      record = run(*chosen[m], drawn, truth);
      if (flags.verbose) {
#pragma omp critical
        print_verbose(chosen[m]->name, drawn, truth, record);
      }
    }
  }
  const double seconds = seconds_since(begin);
  if (!flags.csv.empty()) write_csv(flags.csv, flags.methods, records);
  if (flags.seed && flags.verbose) return;  // all is said

  std::vector<double> oracle_seconds;
  int at_bound = 0;
  for (const Record& record : records[0]) {
    oracle_seconds.push_back(record.oracle_seconds);
    at_bound += record.is_oracle_at_bound;
  }
  print_head();
  for (std::size_t m = 0; m < chosen.size(); ++m) print_rows(chosen[m]->name, records[m]);
  fmt::print(
      "seeds {} to {}; {:.1f} % of the oracles at a bound, {:.3f} s each at the median, {:.3f} s at most; "
      "{:.0f} s "
      "in all with {} jobs\n",
      first, first + static_cast<std::uint64_t>(runs) - 1, 100.0 * at_bound / runs,
      quantile(oracle_seconds, 0.5), quantile(oracle_seconds, 1.0), seconds, flags.jobs);
  for (std::size_t m = 0; flags.worst > 0 && m < chosen.size(); ++m)
    print_worst(chosen[m]->name, records[m], static_cast<std::size_t>(flags.worst));
}

int run(int argc, char** argv) {
  CLI::App app("what methods do on random problems with random starts and step sizes");
  Flags flags;
  app.add_option("--runs", flags.runs, "how many problems")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--methods", flags.methods, "names of yosida methods")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seed0", flags.seed0, "the first seed")->capture_default_str();
  app.add_option("--seed", flags.seed, "this one problem only");
  app.add_option("--jobs", flags.jobs, "threads, each with runs of its own")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--worst", flags.worst, "also the seeds of so many worst gaps");
  app.add_option("--largest-logistic", flags.largest_logistic,
                 "rows and columns of a logistic problem, at most")
      ->capture_default_str()
      ->check(CLI::Range(5, 500));
  app.add_option("--floor", flags.floor, "gaps are relative to at least this share of the loss of w = 0")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--verbose", flags.verbose, "every problem and run in words");
  app.add_option("--csv", flags.csv, "every run as a line of this file");
  CLI11_PARSE(app, argc, argv);
  // Parallel over runs, so not within them: sums in another order would be other problems.
  Eigen::setNbThreads(1);
  set_threads(1);
  openblas_set_num_threads(1);
  sweep(flags);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_stability: %s\n", error.what());
    return 1;
  }
}
