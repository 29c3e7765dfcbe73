#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"
#include "yosida/study/record.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// The rows of a table, and what they are compared on.
struct Summary {
  std::vector<MethodRow> rows;
  CommonSeeds seeds;
};

/// One row for each method as the records name it, in the order of their first records, with the cells of all
/// measures().
Summary summarise(const std::vector<study::Record>& records);

}  // namespace report
}  // namespace yosida
