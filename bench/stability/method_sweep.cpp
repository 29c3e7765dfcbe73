#include "method_sweep.hpp"

#include <fmt/format.h>
#include <fmt/os.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "random_draw.hpp"
#include "statistics.hpp"
#include "tune/start_and_bounds.hpp"
#include "yosida/error.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A lambda is no worse than the start's where it costs no more than this share: methods stop at such gains.
constexpr double kNoWorse = 1e-5;

// ---- The runs -----------------------------------------------------------------------------------------

/// What the answers are measured against; once for all methods.
class Truth {
 public:
  Truth(const Draw& drawn, double floor)
      : problem_(in_cheapest_form(drawn.problem, kInfinity, Coordinates::any)) {
    const auto begin = std::chrono::steady_clock::now();
    is_quadratic_ = drawn.problem->loss().is_quadratic();
    bounds_ = default_bounds(*problem_, drawn.lambda0);
    oracle_ = find_oracle(*problem_, bounds_.low, bounds_.high);
    Vector zero = Vector::Zero(problem_->weights());
    problem_->fit_intercept(zero);
    unit_ = std::max(oracle_.validation, floor * problem_->validation_loss(zero, Vector::Zero(1)));
    at_start_ = gap(drawn.lambda0);
    seconds_ = seconds_since(begin);
  }
  const Interval& bounds() const { return bounds_; }
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
    const double value = problem_->validation_loss(w, Vector::Constant(1, lambda));
    return std::isfinite(value) ? value : kInfinity;
  }

  std::shared_ptr<const BilevelProblem> problem_;
  bool is_quadratic_ = false;
  Interval bounds_{};
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
        in_cheapest_form(drawn.problem, iterations, coordinates_of(method, *solver));
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

}  // namespace

void sweep_methods(const MethodSweep& flags) {
  std::vector<const Method*> chosen;
  for (const std::string& name : flags.methods) chosen.push_back(&method(name));
  const int runs = flags.seed ? 1 : flags.runs;
  const std::uint64_t first = flags.seed.value_or(flags.seed0);
  std::vector<std::vector<Record>> records(chosen.size(),
                                           std::vector<Record>(static_cast<std::size_t>(runs)));
  const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(dynamic, 1) num_threads(flags.jobs)
  for (int i = 0; i < runs; ++i) {
    const Draw drawn = draw_random(first + static_cast<std::uint64_t>(i), flags.largest_logistic);
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

}  // namespace yosida::bench
