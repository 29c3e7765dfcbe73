// The paper's Cookie experiment in size: MY-HPO (C) with α 0.005, β 0.01, δ 0.5 on 34 × 699 smooth rows in
// [0, 1], 2500 iterations, ten seeds. Target: under 2 s for all ten together, collapsing included.
#include <benchmark/benchmark.h>

#include <memory>
#include <stdexcept>

#include "problem/collapsed_least_squares.hpp"
#include "support/random_split.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/solver/my_hpo_c.hpp"
#include "yosida/solver/solve.hpp"

namespace {

using namespace yosida;

constexpr int kSeeds = 10;

std::vector<Split> splits() {
  std::vector<Split> all;
  for (int seed = 0; seed < kSeeds; ++seed)
    all.push_back(test::smooth_split(34, 17, 21, 699, static_cast<std::uint64_t>(seed)));
  return all;
}

void ten_seeds(benchmark::State& state, bool collapsed) {
  const std::vector<Split> data = splits();
  const MyHpoC solver{{.alpha = 0.005, .beta = 0.01, .delta = 0.5, .epsilon = 0.0}};
  SolveOptions options;
  options.start.lambda = Vector::Constant(1, -1.0);
  options.budget.iterations = 2500;
  for (auto _ : state)
    for (const Split& split : data) {
      std::shared_ptr<const BilevelProblem> problem;
      const auto direct = std::make_shared<LinearProblem>(split, least_squares(), false);
      problem = direct;
      if (collapsed) problem = std::make_shared<CollapsedLeastSquares>(direct);
      const Outcome outcome = solve(solver, *problem, options);
      if (outcome.status != StopReason::iteration_limit) throw std::runtime_error(outcome.message);
      benchmark::DoNotOptimize(outcome.final.lambda[0]);
    }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  set_threads(1);
  for (const bool collapsed : {true, false})
    benchmark::RegisterBenchmark(collapsed ? "ten seeds, collapsed" : "ten seeds, direct", ten_seeds,
                                 collapsed)
        ->Iterations(1)
        ->Repetitions(5)
        ->Unit(benchmark::kSecond)
        ->ReportAggregatesOnly();
  benchmark::RunSpecifiedBenchmarks();
}
