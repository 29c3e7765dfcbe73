// Tunes a ridge regression on a CSV file and prints its weights in the units of the columns:
//   example_tune_csv FILE TARGET
#include <iomanip>
#include <iostream>

#include "yosida/yosida.hpp"

int main(int argc, char** argv) try {
  using namespace yosida;
  if (argc != 3) throw std::runtime_error("usage: example_tune_csv FILE TARGET");
  const Dataset rows = read_dataset(argv[1], {.target = argv[2]});
  const Tuned tuned = tune(rows);
  const Coefficients own = tuned.model->coefficients();
  std::cout << std::setprecision(17) << "lambda = " << tuned.lambda()[0] << "\n";
  for (Index j = 0; j < own.weights.rows(); ++j)
    std::cout << own.names[static_cast<std::size_t>(j)] << ": " << own.weights(j, 0) << "\n";
  std::cout << "intercept: " << own.intercept[0] << "\n";
  const Matrix predictions = tuned.model->predict(rows);
  for (Index i = 0; i < rows.rows(); ++i) std::cout << "prediction: " << predictions(i, 0) << "\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
