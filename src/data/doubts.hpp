#pragma once

#include <string>
#include <vector>

#include "data/csv_rows.hpp"

namespace yosida::csv {

/// Notes of what a table holds that may not mean what it is taken for: numbers that stand for missing values,
/// a column that counts the rows, levels that differ in how they are written alone.
std::vector<std::string> doubts_of(const Layout& layout, Table& table);

}  // namespace yosida::csv
