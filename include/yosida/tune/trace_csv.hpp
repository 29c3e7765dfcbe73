#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/solver/solve.hpp"

namespace YOSIDA_EXPORT yosida {

/// A trace as the text of a CSV file. One column for each λ, none where there are more than 32.
std::string trace_csv(const Trace& trace, const std::vector<std::string>& lambda_names);

}  // namespace yosida
