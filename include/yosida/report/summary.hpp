#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"
#include "yosida/study/record.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// One row for each method as the records name it, in the order of their first records, with the cells of all
/// measures().
std::vector<MethodRow> summarise(const std::vector<study::Record>& records);

}  // namespace report
}  // namespace yosida
