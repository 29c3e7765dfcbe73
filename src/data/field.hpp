#pragma once

#include <optional>
#include <string_view>

#include "yosida/data/dataset.hpp"

// What the text of one field of a table may be.
namespace yosida::field {

/// An empty field, and what people and programs write for one. "nan" is a number that is none.
bool is_missing(std::string_view text);

/// A number with this decimal mark. The other one of . and , or spaces or apostrophes may separate thousands,
/// in groups of three digits.
std::optional<double> number(std::string_view text, char decimal);

/// true and false, in any case.
std::optional<double> boolean(std::string_view text);

/// Days since 1970-01-01 of a date in this order (2024-01-31, 31.1.2024, 1/31/2024, with a time of day behind
/// it or not, and a zone behind that), or the part of a day that a time alone is (13:45).
std::optional<double> date(std::string_view text, DateOrder order);

}  // namespace yosida::field
