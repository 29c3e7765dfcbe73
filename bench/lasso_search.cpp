// How often my-hpo finds the lowest valley of a lasso's h(lambda), by the spacing of its scan.
//   bench_lasso_search [seeds]

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "solver/elastic_net_data.hpp"
#include "yosida/solver/my_hpo.hpp"
#include "yosida/solver/solve.hpp"

namespace {

using namespace yosida;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <typename T>
T median(std::vector<T> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void measure(const test::LassoCase& each, std::uint64_t seeds) {
  const std::vector<double> spacings = {1.9, 0.5, 0.25, 0.1};
  struct Row {
    int over = 0;
    double worst = -1.0;
    std::vector<std::int64_t> evaluations;
    std::vector<double> gradients;
    double seconds = 0.0;
  };
  std::vector<Row> rows(spacings.size());
  double path_seconds = 0.0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const ElasticNetProblem problem(each.split(seed), *each.loss, true, ElasticNetProblem::Kind::lasso);
    auto begin = std::chrono::steady_clock::now();
    const double lowest = test::lowest_of_path(problem, *problem.traits().bounds, 1000);
    path_seconds += seconds_since(begin);
    for (std::size_t i = 0; i < spacings.size(); ++i) {
      MyHpo method;
      method.settings.spacing = spacings[i] / problem.traits().feature_width;
      SolveOptions options;
      options.start.lambda = problem.traits().bounds->high;
      begin = std::chrono::steady_clock::now();
      const Outcome outcome = solve(method, problem, options);
      Row& row = rows[i];
      row.seconds += seconds_since(begin);
      Vector w = Vector::Zero(problem.weights());
      const double gap = test::tight_validation(problem, outcome.best.lambda, w) / lowest - 1.0;
      row.over += gap > 1e-3;
      row.worst = std::max(row.worst, gap);
      row.evaluations.push_back(outcome.work.inner_solves);
      row.gradients.push_back(static_cast<double>(outcome.work.paper_count()));
    }
  }
  const auto runs = static_cast<double>(seeds);
  for (std::size_t i = 0; i < spacings.size(); ++i) {
    const Row& row = rows[i];
    fmt::print("{:<14} {:>7} | {:>3} of {:<3} {:>9.1e} | {:>6} {:>5} | {:>7.0f} | {:>7.1f} {:>7.1f}\n",
               each.name, spacings[i], row.over, seeds, row.worst, median(row.evaluations),
               *std::max_element(row.evaluations.begin(), row.evaluations.end()), median(row.gradients),
               1e3 * row.seconds / runs, 1e3 * path_seconds / runs);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 30;
  fmt::print("{:<14} {:>7} | {:<10} {:>9} | {:>6} {:>5} | {:>7} | {:>7} {:>7}\n", "", "", "gap over", "worst",
             "evals", "", "grads", "ms", "ms of");
  fmt::print("{:<14} {:>7} | {:<10} {:>9} | {:>6} {:>5} | {:>7} | {:>7} {:>7}\n", "data", "spacing", "0.1 %",
             "gap", "median", "most", "median", "a run", "a path");
  for (const test::LassoCase& each : test::lasso_cases()) measure(each, seeds);
  return 0;
}
