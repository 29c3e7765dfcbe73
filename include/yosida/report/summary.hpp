#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/report/contents.hpp"
#include "yosida/study/record.hpp"

namespace yosida::report {

/// One row for each method as the records name it, in the order of their first records, with the cells of all
/// measures().
std::vector<MethodRow> summarise(const std::vector<study::Record>& records);

}  // namespace yosida::report
