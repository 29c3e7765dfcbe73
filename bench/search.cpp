// What the samplers need: trials until the minimum is found, and time per proposal. Rows of tab-separated
// cells, for bench/peers/optuna_search.py, which puts Optuna's beside them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "search/functions.hpp"
#include "yosida/random.hpp"
#include "yosida/search/minimize.hpp"

namespace {

using namespace yosida;
using namespace yosida::search;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// The number of the first trial within 1 % of the range; limit + 1 where there is none.
std::int64_t trials_needed(const test::TestFunction& function, const std::string& name, std::uint64_t seed,
                           std::int64_t limit) {
  const auto sampler = make_sampler(name, Space({{function.low, function.high}}), {seed, limit});
  for (std::int64_t trial = 1; trial <= limit; ++trial) {
    const auto proposal = sampler->ask();
    if (!proposal) break;
    const double value = function.value(proposal->x[0]);
    if (function.is_near_minimum(value)) return trial;
    sampler->tell(*proposal, value);
  }
  return limit + 1;
}

/// A mesh has no order to measure, and Hyperband's first trials are not of the function itself.
bool is_counted(const SamplerKind& kind) { return kind.name != "grid" && kind.name != "hyperband"; }

/// A Gaussian process costs the cube of its trials: nobody waits for hundreds.
bool is_dear(const SamplerKind& kind) { return kind.name == "gp-ei"; }

void print_needed(std::int64_t seeds, std::int64_t limit) {
  for (const test::TestFunction& function : test::test_functions())
    for (const SamplerKind& kind : samplers()) {
      if (!is_counted(kind)) continue;
      std::vector<double> needed;
      for (std::int64_t seed = 0; seed < seeds; ++seed)
        needed.push_back(
            static_cast<double>(trials_needed(function, kind.name, static_cast<std::uint64_t>(seed), limit)));
      const double middle = median(needed);
      const auto there = std::count_if(needed.begin(), needed.end(), [](double each) { return each <= 60; });
      fmt::print(
          "{}\t{}\t{}\t{:.0f} %\n", function.name, kind.name,
          middle > static_cast<double>(limit) ? fmt::format("> {}", limit) : fmt::format("{:g}", middle),
          100.0 * static_cast<double>(there) / static_cast<double>(seeds));
    }
}

/// The smallest value of so many trials.
double best_value(const test::BoxFunction& function, const std::string& sampler, std::uint64_t seed,
                  std::int64_t trials) {
  const Dimension side{function.low, function.high};
  const Space space(std::vector<Dimension>(static_cast<std::size_t>(function.dimensions), side));
  const auto value = [&](const Proposal& proposal) { return function.value(proposal.x); };
  return minimize(value, space, sampler, {.trials = trials}, seed).value;
}

void print_best(std::int64_t seeds, std::int64_t trials) {
  for (const test::BoxFunction& function : test::box_functions())
    for (const SamplerKind& kind : samplers()) {
      if (!is_counted(kind) || is_dear(kind)) continue;
      std::vector<double> excess;
      for (std::int64_t seed = 0; seed < seeds; ++seed)
        excess.push_back(best_value(function, kind.name, static_cast<std::uint64_t>(seed), trials) -
                         function.minimum);
      fmt::print("{}\t{}\t{}\t{:.2g}\n", function.name, kind.name, trials, median(excess));
    }
}

/// The median time of a proposal where there are `past` trials and more, in milliseconds.
double ask_milliseconds(const std::string& name, Index dimensions, std::int64_t past, std::int64_t asks) {
  using Clock = std::chrono::steady_clock;
  const Space space(std::vector<Dimension>(static_cast<std::size_t>(dimensions), {0.0, 1.0}));
  const auto sampler = make_sampler(name, space, {.seed = 0, .trials = past + asks});
  std::vector<double> times;
  for (std::int64_t trial = 0; trial < past + asks; ++trial) {
    const auto start = Clock::now();
    const Proposal proposal = *sampler->ask();
    if (trial >= past)
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    sampler->tell(proposal, (proposal.x.array() - 0.3).square().sum());
  }
  return median(times);
}

void print_overhead(std::int64_t asks) {
  for (const SamplerKind& kind : samplers()) {
    if (!is_counted(kind)) continue;
    const std::int64_t past = is_dear(kind) ? 100 : 1000;
    for (const Index dimensions : {1, 5})
      fmt::print("{}\t{}\t{}\t{:.3f}\n", kind.name, dimensions, past,
                 ask_milliseconds(kind.name, dimensions, past, is_dear(kind) ? 5 : asks));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trials and time the samplers need");
  std::int64_t seeds = 50, trials = 300, asks = 50;
  app.require_subcommand(1);
  CLI::App* needed =
      app.add_subcommand("needed", "trials until 1 % of the range: function, sampler, median, share at 60");
  needed->add_option("--seeds", seeds)->check(CLI::PositiveNumber);
  needed->add_option("--trials", trials, "give up after so many, 60 at least")
      ->check(CLI::Range(60, 1000000));
  CLI::App* best =
      app.add_subcommand("best", "several dimensions: function, sampler, trials, best less minimum");
  best->add_option("--seeds", seeds)->check(CLI::PositiveNumber);
  best->add_option("--trials", trials)->check(CLI::PositiveNumber);
  CLI::App* overhead = app.add_subcommand("overhead", "sampler, dimensions, past trials, ms per proposal");
  overhead->add_option("--asks", asks)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (needed->parsed()) print_needed(seeds, trials);
  if (best->parsed()) print_best(seeds, trials);
  if (overhead->parsed()) print_overhead(asks);
}
