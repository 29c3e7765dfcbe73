#pragma once

#include <string>
#include <vector>

#include "yosida/report/summary.hpp"
#include "yosida/tune/tune.hpp"

namespace yosida::cli {

/// What stands above and beside the table.
struct Comparison {
  std::string heading;
  std::string measure;
  bool is_final;  // of the last weights, as the paper does, or of those of the smallest validation loss
};

/// "ridge on spectra: 34 training, 17 validation, 19 test rows, 699 features"
std::string heading(const TuneProblem& problem);
/// Mean ± standard deviation over the seeds of each method, as a table on standard output.
void print_comparison(const Comparison& comparison, const std::vector<study::Record>& records);

/// "2 of 10 diverged, 1 of 10 failed"; empty where all ended well.
std::string faults_in_words(std::int64_t runs, std::int64_t diverged, std::int64_t failed);
/// A line for each kind of failure among the runs; empty where there is none.
std::string failures_in_words(const std::vector<study::Record>& records);

}  // namespace yosida::cli
