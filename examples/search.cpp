// Minimises a function of two numbers by trials alone: the searchers in 25 lines.
#include <cmath>
#include <iostream>

#include "yosida/yosida.hpp"

int main() {
  using namespace yosida::search;
  const Space space({{-10.0, 5.0, Scale::linear, "lambda"}, {1e-4, 1e2, Scale::logarithmic, "width"}});
  const auto loss = [](const Proposal& proposal) {
    return std::pow(proposal.x[0] + 3.0, 2) + std::pow(std::log10(proposal.x[1]), 2);
  };

  const Result result = minimize(loss, space, "tpe-2", {.trials = 40});
  std::cout << "best " << result.value << " at lambda " << result.x[0] << ", width " << result.x[1] << "\n";

  // The same by hand, where trials run elsewhere: several proposals may be open, told in any order.
  const auto sampler = make_sampler("tpe", space, {.seed = 1}, {{"startup", "10"}});
  double best = INFINITY;
  for (int trial = 0; trial < 40; ++trial) {
    const Proposal proposal = *sampler->ask();
    const double value = loss(proposal);
    sampler->tell(proposal, value);  // what is not finite is a trial that failed
    best = std::min(best, value);
  }
  std::cout << "tpe by ask and tell: " << best << "\n";
}
