#pragma once

#include <string>

#include "data/csv_rows.hpp"

// What the options say of the columns of a CSV file.
namespace yosida::csv {

/// Whether options call a column by a name: a number is an index, and no name is looked for in the lines.
bool ask_for_names(const ReadOptions& options);
/// Whether an option calls a column so.
bool name_column(const ReadOptions& options, const std::string& name);
/// Gives each column of the layout, whose names are known, its role, and the kind that the options say.
/// Throws InputError where a column is not there or would have two roles.
void give_roles(Layout& layout, const ReadOptions& options);

}  // namespace yosida::csv
