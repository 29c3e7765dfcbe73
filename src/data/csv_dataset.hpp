#pragma once

#include <string>
#include <vector>

#include "data/csv_rows.hpp"

// Makes a data set of the rows of a CSV file.
namespace yosida::csv {

/// The rows that were read. Levels are put into rising order, and text becomes features of its levels. Takes
/// the numbers out of `table`.
Dataset dataset_of(const Layout& layout, Table& table, const ReadOptions& options, const MemoryLimit& limit,
                   std::vector<std::string> notes);

}  // namespace yosida::csv
