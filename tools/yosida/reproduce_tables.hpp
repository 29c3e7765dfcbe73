#pragma once

#include <vector>

#include "yosida/report/contents.hpp"
#include "yosida/study/experiments.hpp"

namespace yosida::cli {

/// The paper's tables on standard output, ours beside its own figures: those asked for, or all (none asked
/// for) that the experiments have. Then what the figures say of its claims.
void print_tables(const report::StudyContents& study, const std::vector<study::Experiment>& experiments,
                  const std::vector<int>& tables);

}  // namespace yosida::cli
