#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/csv_rows.hpp"

// The lines of a CSV file above its rows.
namespace yosida::csv {

struct FirstLines {
  std::vector<std::string> header;  // as it stands in the file; empty where it has none
  std::string header_line;          // its text
  std::optional<Record> row;        // the first record, where it is no header; its text lies in the stream
  std::vector<std::string> notes;   // which lines are passed over, and which columns have new names
};

/// Reads what stands above the rows. Sets in `layout` what stands between fields, what the columns are
/// called, and what each is for.
FirstLines read_first_lines(ByteStream& stream, std::size_t block_bytes, const ReadOptions& options,
                            Separator separator, Layout& layout);

}  // namespace yosida::csv
