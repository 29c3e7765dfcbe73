#pragma once

#include <string>

namespace yosida {

/// A text as a field of a CSV file: in quotes where it must be.
std::string csv_field(const std::string& text);

}  // namespace yosida
