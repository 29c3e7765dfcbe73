#pragma once

#include <vector>

#include "yosida/report/contents.hpp"

namespace yosida::cli {

/// What the figures say of the paper's claims, and of ours, one line for each problem. Judging is left to the
/// reader.
void print_claims(const std::vector<const report::ProblemContents*>& problems);

}  // namespace yosida::cli
