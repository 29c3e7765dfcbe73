#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "yosida/study/experiments.hpp"
#include "yosida/study/record.hpp"

namespace yosida::cli {

/// What validation losses are multiplied by to be the objective of a suite's authors, by experiment and seed.
using SuiteFactors = std::map<std::string, std::map<std::uint64_t, double>>;

/// The loss on test rows of weights that are trained at the λ of a run on all rows of its folds; nothing
/// where there are no folds.
using TestLoss =
    std::function<std::optional<double>(const study::RunSpec&, const std::vector<double>& lambda)>;

/// A table for each of the experiments that is of a suite, its authors' figures below ours.
void print_suites(const std::vector<study::Record>& records,
                  const std::vector<study::Experiment>& experiments, const SuiteFactors& factors,
                  const TestLoss& test_loss);

}  // namespace yosida::cli
