#include "data/missing_values.hpp"

#include <fmt/format.h>

#include <array>

#include "yosida/error.hpp"

namespace yosida {

void require_values(const Dataset& data, Index feature, const std::string& name) {
  const Index missing = to_matrix(data.x.with_columns(std::array{feature})).array().isNaN().count();
  if (missing > 0)
    throw InputError(fmt::format(
        "{}: {} has no value (NaN) in {} of {} rows: numbers must be finite; leave these rows out, or let "
        "--missing mean fill them",
        name, feature_in_words(data, feature), missing, data.rows()));
}

}  // namespace yosida
