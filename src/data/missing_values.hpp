// What is said of missing values where none are allowed.
#pragma once

#include <string>

#include "yosida/data/dataset.hpp"

namespace yosida {

/// Throws InputError, which counts the rows, where a feature has none in some of them (NaN). `name`: of the
/// data.
void require_values(const Dataset& data, Index feature, const std::string& name);

}  // namespace yosida
