// What a question to gp-ei costs after 10, 100 and 200 trials, and how near it comes to the minima of the
// test functions beside random search.
#include "search/gp_ei.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "search/functions.hpp"

namespace {

using namespace yosida;
using namespace yosida::search;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double bowl(const Vector& x) {
  return (x.array() - 0.3).square().sum() + 0.1 * (20.0 * x.array()).sin().sum();
}

/// The first question after so many trials, which burns in, and the next.
void time_questions(Index dimensions, Index trials) {
  const Space space(std::vector<Dimension>(static_cast<std::size_t>(dimensions), {0.0, 1.0}));
  GpEi sampler(space, {.seed = 1}, {});
  std::vector<Proposal> proposals;  // along the grid, since none is told
  for (Index i = 0; i < trials; ++i) proposals.push_back(*sampler.ask());
  for (const Proposal& proposal : proposals) sampler.tell(proposal, bowl(proposal.x));
  double seconds[2];
  for (double& each : seconds) {
    const auto start = std::chrono::steady_clock::now();
    const Proposal proposal = *sampler.ask();
    each = seconds_since(start);
    sampler.tell(proposal, bowl(proposal.x));
  }
  fmt::print("{:2} dimensions, {:3} trials: first {:.3f} s, next {:.3f} s\n", dimensions, trials, seconds[0],
             seconds[1]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare_with_random(const test::TestFunction& function, int seeds, int trials) {
  std::vector<double> best[2], needed[2];
  const auto start = std::chrono::steady_clock::now();
  for (int seed = 0; seed < seeds; ++seed) {
    const Space space({{function.low, function.high}});
    GpEi sampler(space, {.seed = static_cast<std::uint64_t>(seed)}, {});
    Random random(static_cast<std::uint64_t>(seed));
    for (const int kind : {0, 1}) {
      double lowest = INFINITY;
      int first = trials + 1;
      for (int i = 1; i <= trials; ++i) {
        const Proposal proposal = kind == 0
                                      ? *sampler.ask()
                                      : Proposal{.x = space.from_unit(Vector::Constant(1, random.uniform()))};
        const double value = function.value(proposal.x[0]);
        if (kind == 0) sampler.tell(proposal, value);
        lowest = std::min(lowest, value);
        if (function.is_near_minimum(lowest)) first = std::min(first, i);
      }
      best[kind].push_back((lowest - function.minimum) / (function.maximum - function.minimum));
      needed[kind].push_back(first);
    }
  }
  fmt::print("{:18} gap {:.5f} (random {:.5f}), trials to 1 % {} (random {}); {:.2f} s\n", function.name,
             median(best[0]), median(best[1]), median(needed[0]), median(needed[1]), seconds_since(start));
}

}  // namespace

int main() {
  for (const Index dimensions : {1, 2, 10})
    for (const Index trials : {10, 100, 200}) time_questions(dimensions, trials);
  for (const test::TestFunction& function : test::test_functions()) compare_with_random(function, 50, 15);
}
