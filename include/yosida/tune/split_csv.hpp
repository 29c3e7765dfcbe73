#pragma once

#include <string>

#include "yosida/export.hpp"
#include "yosida/tune/tune_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// Which row went where as the text of a CSV file: file, row (from 1) and part, which is train, validation or
/// test; with folds fold_1, fold_2, … for the fold whose validation row it is. Files come one after the
/// other, their rows in order. Throws InputError unless the problem was made with TuneOptions::keep_rows.
std::string split_csv(const TuneProblem& problem);

}  // namespace yosida
