#include <cstdio>
#include <string>

#include "yosida/data/gtsrb.hpp"
#include "yosida/yosida.hpp"

int main() {
  const yosida::Matrix x = yosida::Matrix::Random(40, 5);
  const yosida::Vector y = x.col(0) - 2.0 * x.col(1) + 0.5 * yosida::Vector::Random(40);
  yosida::Split split;
  split.train = {.x = yosida::Design(x.topRows(25)), .y = y.head(25)};
  split.validation = {.x = yosida::Design(x.bottomRows(15)), .y = y.tail(15)};

  const yosida::LinearProblem problem(split, yosida::least_squares(), true);
  yosida::SolveOptions options;
  options.start.lambda = yosida::Vector::Constant(1, -1.0);
  options.budget.iterations = 300;
  const yosida::Outcome outcome = yosida::solve(yosida::MyHpoBt{}, problem, options);
  std::printf("lambda %.6f validation %.6f\n", outcome.best.lambda[0], outcome.best.loss.validation);

  // The library that runs is the one whose headers were compiled, and its errors are caught here by their
  // type.
  bool is_caught = false;
  try {
    yosida::method("no such method");
  } catch (const yosida::InputError&) {
    is_caught = true;
  }
  if (!is_caught || std::string(yosida::version()) != YOSIDA_VERSION) return 2;

  // A part that is loaded when it is needed is found from here too; a build may be without it.
  const std::string fault = yosida::gtsrb_features_fault();
  if (fault.find("cannot be loaded") == std::string::npos) return 0;
  std::printf("%s\n", fault.c_str());
  return 1;
}
