#include "yosida/data/dataset.hpp"

#include <fmt/format.h>

#include "yosida/error.hpp"

namespace yosida {
void require_whole(const Dataset& data) {
  const auto require = [&](std::size_t size, Index expected, const char* things, const char* rule) {
    if (size != 0 && static_cast<Index>(size) != expected)
      throw InputError(fmt::format("{}: {} rows of {} features but {} {}: {}", data.source, data.rows(),
                                   data.features(), size, things, rule));
  };
  const char* per_row = "each row needs one, or none has one";
  require(static_cast<std::size_t>(data.y.size()), data.rows(), "targets", per_row);
  require(static_cast<std::size_t>(data.weight.size()), data.rows(), "weights", per_row);
  require(static_cast<std::size_t>(data.fold.size()), data.rows(), "folds of rows", per_row);
  require(data.row_number.size(), data.rows(), "numbers of rows", per_row);
  require(data.id.size(), data.rows(), "ids", per_row);
  require(data.feature_names.size(), data.features(), "names of features",
          "each feature needs one, or none has one");
}

std::string feature_in_words(const Dataset& data, Index feature) {
  const auto place = static_cast<std::size_t>(feature);
  if (place < data.feature_names.size()) return fmt::format("column \"{}\"", data.feature_names[place]);
  return fmt::format("feature {} (counted from 1)", feature + 1);
}

}  // namespace yosida
