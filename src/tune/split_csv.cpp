#include "yosida/tune/split_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "csv_field.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// Which part each row of each file is in.
struct Parts {
  struct File {
    std::string name;
    std::vector<std::pair<Index, std::string>> rows;
  };
  std::vector<File> files = {};  // in the order in which they are first named

  void put(const Dataset& data, const std::string& part) {
    if (static_cast<Index>(data.row_number.size()) != data.rows())
      throw InputError(
          fmt::format("{}: the numbers of its rows were not kept: keep_rows must be true", data.source));
    auto file =
        std::find_if(files.begin(), files.end(), [&](const File& each) { return each.name == data.source; });
    if (file == files.end()) file = files.insert(files.end(), {.name = data.source, .rows = {}});
    for (const Index row : data.row_number) file->rows.emplace_back(row, part);
  }
};

}  // namespace

std::string split_csv(const TuneProblem& problem) {
  Parts parts;
  const Split& split = problem.split();
  if (problem.has_folds()) {
    for (Index k = 0; k < problem.data().fold_count; ++k)
      parts.put(problem.fold(k).validation, fmt::format("fold_{}", k + 1));
  } else {
    parts.put(split.train, "train");
    if (!problem.judges_by_rows()) parts.put(split.validation, "validation");
  }
  if (split.test) parts.put(*split.test, "test");
  std::string text = "file,row,part\n";
  for (auto& [name, rows] : parts.files) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [row, part] : rows) text += fmt::format("{},{},{}\n", csv_field(name), row + 1, part);
  }
  return text;
}

}  // namespace yosida
