// Tunes a ridge regression on the built-in spectra and predicts a row: the library in 25 lines.
#include <iostream>
#include <memory>

#include "yosida/yosida.hpp"

int main() {
  using namespace yosida;
  Split split = built_in("spectra", 0);  // or split_rows(read_dataset("train.csv", {.target = "price"}), {})
  const Pretreatment pretreatment = fit_pretreatment(split.train, {XStep::standardize}, YStep::center);
  split.train = pretreatment.apply(split.train);
  split.validation = pretreatment.apply(split.validation);

  const auto linear = std::make_shared<const LinearProblem>(split, least_squares(), /*intercept=*/true);
  const auto problem = in_cheapest_form(linear, /*iterations=*/250, Coordinates::any);

  SolveOptions options;
  options.start.lambda = Vector::Constant(1, -1.0);
  const Outcome outcome = solve(MyHpo{}, *problem, options);

  std::cout << to_string(outcome.status) << ": lambda " << outcome.best.lambda[0] << ", validation loss "
            << outcome.best.loss.validation << " after " << outcome.work.paper_count() << " gradients\n";
  const double margin = margins(split.validation, true, outcome.best.w)[0];
  std::cout << "first validation row: predicted " << margin + pretreatment.y_shift << ", measured "
            << split.validation.y[0] + pretreatment.y_shift << "\n";
}
