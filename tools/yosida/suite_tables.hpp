#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "yosida/study/experiments.hpp"
#include "yosida/study/record.hpp"

namespace yosida::cli {

/// What validation losses are multiplied by to be the objective of a suite's authors, by experiment and seed.
using SuiteFactors = std::map<std::string, std::map<std::uint64_t, double>>;

/// A table for each of the experiments that is of a suite, its authors' figures below ours.
void print_suites(const std::vector<study::Record>& records,
                  const std::vector<study::Experiment>& experiments, const SuiteFactors& factors);

}  // namespace yosida::cli
