#pragma once

#include <vector>

#include "yosida/study/experiments.hpp"

namespace yosida::study {

/// The problems of the field's benchmarks, one suite after the other.
std::vector<Experiment> suite_experiments();
/// The rows of such an experiment that come from files.
Dataset suite_rows(const Experiment& experiment, const std::vector<std::filesystem::path>& files);
/// What such an experiment is tuned on with a seed. Seed 0 is what the suite's authors draw, where they draw
/// by one seed.
Drawn draw_suite(const Experiment& experiment, const Dataset& rows, std::uint64_t seed);

}  // namespace yosida::study
